import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireSuccess, runCommand, runNpm } from './command';
import { borrowDriver } from './borrowedDriver';
import { missingBuildTools, nativeBuildAdvice } from './buildTools';
import { HostError, withHeartbeat, type Say } from './messages';
import { PINNED, type Installation } from './installation';
import { nodeForN8n, ownNodeRunsN8n, packagedNodeFolder } from './nodeBinary';
import { doOnce, hashFiles } from './stamp';
import { TESTED_VERSIONS } from './versions';

const DEFINITION = ['package.json', 'package-lock.json', '.npmrc'];

/**
 * Installs an n8n, the pinned one unless told otherwise, if it is not there already. The two slow steps carry a stamp each, so an
 * interrupted step is repeated and a finished one is not.
 *
 * @param say gets the progress
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
	const driver = async () => {
		const others = TESTED_VERSIONS.map((version) => version.installation);
		if (!borrowDriver(installation, others)) await buildSqlite(say, installation);
		requireSuccess(
			await runCommand(nodeForN8n(installation), ['-e', "require('sqlite3')"], { cwd: folder }),
			'The database driver of n8n (sqlite3) does not load',
		);
	};
	await doOnce(join(folder, '.sqlite-built'), stamp, driver);
}

async function installModules(say: Say, { sources, folder }: Installation): Promise<void> {
	for (const name of DEFINITION) copyFileSync(join(sources, name), join(folder, name));
	say('Installing n8n (first use only: about 2.5 GB, 2 to 5 minutes)');
	const packages = lockedPackages(folder);
	const result = await withHeartbeat(
		say,
		() =>
			`  ${packages.filter((path) => isInstalled(folder, path)).length} of ${packages.length} packages`,
		async () => await runNpm(['ci', '--loglevel=error'], { cwd: folder }),
	);
	requireSuccess(result, 'Installing n8n with npm did not work');
}

async function buildSqlite(say: Say, installation: Installation): Promise<void> {
	const { folder } = installation;
	say('Preparing the database driver of n8n (first use only: about a minute)');
	const result = await withHeartbeat(
		say,
		(seconds) => `  compiling, ${seconds} s`,
		async () =>
			await runNpm(
				[
					'rebuild',
					'sqlite3',
					'--ignore-scripts=false',
					'--foreground-scripts',
					'--loglevel=error',
				],
				{ cwd: folder, env: { ...process.env, ...headersOfPackagedNode(installation) } },
			),
	);
	if (result.code !== 0) {
		const missing = missingBuildTools();
		if (missing.length > 0) throw new HostError(nativeBuildAdvice(missing));
	}
	requireSuccess(result, 'Compiling the database driver of n8n (sqlite3) did not work');
}

/** Compiling against the packaged Node's headers spares a download and an extra package. */
function headersOfPackagedNode(installation: Installation): NodeJS.ProcessEnv {
	const folder = packagedNodeFolder(installation);
	const headers = join(folder, 'include', 'node', 'node_api.h');
	const usable = !ownNodeRunsN8n(installation) && existsSync(headers);
	return usable ? { npm_config_nodedir: folder } : {};
}

function lockedPackages(folder: string): string[] {
	const lock: unknown = JSON.parse(readFileSync(join(folder, 'package-lock.json'), 'utf8'));
	if (typeof lock !== 'object' || lock === null || !('packages' in lock)) return [];
	return Object.keys(lock.packages ?? {}).filter((path) => path !== '');
}

function isInstalled(folder: string, path: string): boolean {
	return existsSync(join(folder, path, 'package.json'));
}
