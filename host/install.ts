import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { prepareDatabaseDriver } from './databaseDriver';
import { DEFINITION, nodeForN8n, PINNED, type Installation } from './installation';
import type { Say } from './messages';
import { installModules } from './modules';
import { doOnce, hashFiles } from './stamp';

/**
 * Installs an n8n, the pinned one unless told otherwise, if it is not there already. The two slow steps
 * carry a stamp each, so an interrupted step is repeated and a finished one is not.
 *
 * @throws HostError when npm fails, when a compiler is missing, or when no Node for it is to be had
 */
export async function ensureN8n(say: Say, installation: Installation = PINNED): Promise<void> {
	const { sources, folder } = installation;
	mkdirSync(folder, { recursive: true });
	const definition = hashFiles(
		sources,
		DEFINITION.map((name) => join(sources, name)),
	);
	const stamp = `${definition} ${process.platform} ${process.arch}`;
	const modules = async () => await installModules(say, installation);
	await doOnce(join(folder, '.modules-installed'), stamp, modules);
	nodeForN8n(installation);
	const driver = async () => await prepareDatabaseDriver(say, installation);
	await doOnce(join(folder, '.sqlite-built'), stamp, driver);
}
