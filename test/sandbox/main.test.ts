import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import axios from 'axios';
import { SEEDS } from 'sandbox/seed';

const SANDBOX = join(__dirname, '..', '..', 'sandbox');

beforeAll(() => {
	const compiler = require.resolve('typescript/bin/tsc');
	// The types are checked elsewhere; here it is about what comes out.
	const project = join(SANDBOX, 'tsconfig.json');
	execFileSync(process.execPath, [compiler, '-p', project, '--noCheck']);
});

describe('the command line', () => {
	it('prints the address, answers there, and ends on SIGINT', async () => {
		const env = { ...process.env, XPERT_SANDBOX_TOKEN: 'from-env' };
		const main = join(SANDBOX, 'dist', 'main.js');
		const child = spawn(process.execPath, [main, '--port', '0'], { env });
		let text = '';
		for await (const piece of child.stdout) {
			text += String(piece);
			if (text.includes('Ctrl-C')) break;
		}
		const [, url = ''] = /listening on (\S+)\n/.exec(text) ?? [];
		const headers = { authorization: 'Bearer from-env' };
		const { data } = await axios.post<number>(`${url}/api/ai/assistants/count`, {}, { headers });
		expect(data).toBe(SEEDS.assistants.length);
		child.kill('SIGINT');
		expect(await once(child, 'exit')).toEqual([0, null]);
	});
});
