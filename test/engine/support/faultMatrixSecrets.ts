import hostConsole from 'node:console';
import { types } from 'node:util';

const { isMap, isSet } = types;

/**
 * The places in a value that hold a text: own properties of every object, also hidden ones such as
 * the `stack` and `cause` of errors, keys included.
 */
export function placesOf(text: string, value: unknown): string[] {
	const found: string[] = [];
	const seen = new Set<unknown>();
	const visit = (current: unknown, path: string): void => {
		if (typeof current === 'string') {
			if (current.includes(text)) found.push(path);
			return;
		}
		if (Buffer.isBuffer(current)) return visit(current.toString('latin1'), path);
		if (current === null || (typeof current !== 'object' && typeof current !== 'function')) return;
		if (seen.has(current)) return;
		seen.add(current);
		if (isMap(current) || isSet(current)) visit([...current], path);
		for (const key of Reflect.ownKeys(current)) {
			if (String(key).includes(text)) found.push(`${path}.${String(key)} (key)`);
			const descriptor = Object.getOwnPropertyDescriptor(current, key);
			visit(descriptor?.value, `${path}.${String(key)}`);
		}
	};
	visit(value, '$');
	return found;
}

export function watchConsole(): { stop: () => string } {
	const lines: string[] = [];
	const methods = ['log', 'info', 'warn', 'error', 'debug'] as const;
	// A test has a console of its own beside that of n8n's modules.
	const spies = [console, hostConsole].flatMap((one) =>
		methods.map((method) =>
			jest.spyOn(one, method).mockImplementation((...words: unknown[]) => {
				lines.push(words.map(String).join(' '));
			}),
		),
	);
	const streams = [process.stdout, process.stderr].map((stream) =>
		jest.spyOn(stream, 'write').mockImplementation((text) => {
			lines.push(String(text));
			return true;
		}),
	);
	return {
		stop: () => {
			[...spies, ...streams].forEach((spy) => spy.mockRestore());
			return lines.join('\n');
		},
	};
}
