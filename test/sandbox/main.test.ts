import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import axios from 'axios';

const ROOT = join(__dirname, '..', '..');

/** The first output that has what is looked for. */
const output = (child: ChildProcess, wanted: RegExp): Promise<string> =>
	new Promise((resolve, reject) => {
		let text = '';
		child.once('exit', (code) => reject(new Error(`ended with ${String(code)}: ${text}`)));
		child.stdout?.on('data', (chunk: Buffer) => {
			text += chunk.toString();
			const found = wanted.exec(text)?.[1];
			if (found) resolve(found);
		});
	});

beforeAll(() => {
	const compiler = require.resolve('typescript/bin/tsc');
	// The types are checked elsewhere; here it is about what comes out.
	const project = join(ROOT, 'sandbox', 'tsconfig.json');
	execFileSync(process.execPath, [compiler, '-p', project, '--noCheck']);
});

describe('the command line', () => {
	it.each(['SIGINT', 'SIGTERM'] as const)(
		'prints the address, answers there, and ends on %s',
		async (signal) => {
			const child = spawn(
				process.execPath,
				[join(ROOT, 'sandbox', 'dist', 'main.js'), '--port', '0'],
				{ env: { ...process.env, XPERT_SANDBOX_TOKEN: 'from-env' } },
			);
			const url = await output(child, /listening on (\S+)\n/);
			const headers = { authorization: 'Bearer from-env' };
			const { data } = await axios.post<number>(`${url}/api/ai/assistants/count`, {}, { headers });
			expect(data).toBe(4);
			child.kill(signal);
			expect(await once(child, 'exit')).toEqual([0, null]);
		},
	);
});
