import { spawnSync } from 'node:child_process';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

/** Runs the command as CONTRIBUTING.md names it. */
function check(file: string) {
	return spawnSync('npm', ['run', '--silent', 'check:server', '--', file], {
		cwd: ROOT,
		encoding: 'utf8',
	});
}

it('`npm run check:server` says how a server stands, and ends with what a script needs to know', () => {
	const { stdout, status } = check('contract/recorded.openapi.json');
	expect(stdout).toContain('is what the node takes it for.');
	expect(status).toBe(0);
	expect(check('test/contract/contract.openapi.json').status).toBe(1);
	expect(check('package.json').status).toBe(2);
});
