import { copyFileSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';

import { requireSuccess, runNpm } from '../../../host/command';
import { projectRoot, workFolder } from '../../../host/paths';
import { doOnce, hashFiles } from '../../../host/stamp';

const DEFINITION = ['package.json', 'package-lock.json', '.npmrc'];
const SOURCES = join(projectRoot, 'test', 'tools');

export const toolsFolder = join(workFolder, 'tools');

/** Installs them, unless they are there already. */
export async function ensureTools(): Promise<void> {
	mkdirSync(toolsFolder, { recursive: true });
	const files = DEFINITION.map((name) => join(SOURCES, name));
	await doOnce(join(toolsFolder, '.installed'), hashFiles(SOURCES, files), async () => {
		for (const name of DEFINITION) copyFileSync(join(SOURCES, name), join(toolsFolder, name));
		const result = await runNpm(['ci', '--loglevel=error'], { cwd: toolsFolder });
		requireSuccess(result, 'Installing the registry and the linters did not work');
	});
}
