/** Takes one line of progress in plain words. */
export type Say = (line: string) => void;

/** A condition the user can mend. Its message is shown as it is, without a stack. */
export class HostError extends Error {
	override readonly name = 'HostError';
}

/** Prints a line of progress with the seconds since the start, e.g. `[ 12 s] n8n is up`. */
export function progressPrinter(): Say {
	const startedAt = Date.now();
	return (line) => {
		const seconds = Math.round((Date.now() - startedAt) / 1000);
		process.stdout.write(`[${String(seconds).padStart(3)} s] ${line}\n`);
	};
}

const HEARTBEAT_MS = 15_000;

/**
 * Repeats a line while something slow runs.
 *
 * @param say where the lines go
 * @param line makes the next line out of the seconds elapsed
 * @param work the slow thing
 * @returns what `work` returns; throws what it throws
 */
export async function withHeartbeat<T>(
	say: Say,
	line: (seconds: number) => string,
	work: () => Promise<T>,
): Promise<T> {
	const startedAt = Date.now();
	const timer = setInterval(
		() => say(line(Math.round((Date.now() - startedAt) / 1000))),
		HEARTBEAT_MS,
	);
	try {
		return await work();
	} finally {
		clearInterval(timer);
	}
}

/** The last `count` lines of a text, for showing why a command ended badly. */
export function lastLines(text: string, count: number): string {
	return text.trimEnd().split('\n').slice(-count).join('\n');
}

/** The text of anything thrown. */
export function reasonOf(thrown: unknown): string {
	return thrown instanceof Error ? thrown.message : String(thrown);
}

/** The code of a system error, e.g. `EADDRINUSE`; undefined for anything else thrown. */
export function codeOf(thrown: unknown): unknown {
	return typeof thrown === 'object' && thrown !== null && 'code' in thrown
		? thrown.code
		: undefined;
}
