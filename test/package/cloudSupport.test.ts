import { execFileSync } from 'node:child_process';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

it("n8n's own tool calls the package eligible for n8n Cloud", () => {
	const tool = path.join(ROOT, 'node_modules/@n8n/node-cli/bin/n8n-node.mjs');
	const said = execFileSync(process.execPath, [tool, 'cloud-support'], {
		cwd: ROOT,
		encoding: 'utf8',
		env: { ...process.env, NO_COLOR: '1' },
	});
	expect(said).toContain('Cloud support is ENABLED');
	expect(said).not.toContain('NOT eligible');
});
