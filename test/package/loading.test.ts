import path from 'node:path';
import { projectRoot } from 'host/paths';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';

import { n8n } from '../../package.json';

const DIST = path.join(projectRoot, 'dist', 'nodes');

/** The files of the package that a fresh process has after loading its faces as n8n does. */
function filesLoaded(): string[] {
	const entries = [...n8n.nodes, ...n8n.credentials].map((file) => path.join(projectRoot, file));
	const code = `
		for (const entry of ${JSON.stringify(entries)}) new (Object.values(require(entry))[0])();
		console.log(JSON.stringify(Object.keys(require.cache)));
	`;
	const files = JSON.parse(
		execFileSync(process.execPath, ['-e', code], { encoding: 'utf8' }),
	) as string[];
	return files.filter((file) => file.startsWith(DIST)).map((file) => path.relative(DIST, file));
}

describe('a process of n8n that only shows the nodes', () => {
	const loaded = filesLoaded();

	it('loads the fields of every operation', () => {
		expect(loaded).toContain('XpertAi/operations/document/submit/fields.js');
		expect(loaded).toContain('XpertAi/operations/thread/run/fields.js');
	});

	it.each([
		'XpertAi/execution/parameterReader.js',
		'XpertAi/execution/runOperation.js',
		'XpertAi/ingest/storing.js',
		'XpertAi/operations/document/submit/sourceRun.js',
		'XpertAi/pickers/listPage.js',
		'XpertAi/runs/start.js',
		'XpertAi/transport/request.js',
		'XpertAiTrigger/poll.js',
	])('does not load %s', (file) => {
		expect(existsSync(path.join(DIST, file))).toBe(true);
		expect(loaded).not.toContain(file);
	});
});
