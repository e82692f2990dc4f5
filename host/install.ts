import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireSuccess, runCommand, runNpm } from './command';
import { missingBuildTools, nativeBuildAdvice } from './buildTools';
import { HostError, withHeartbeat, type Say } from './messages';
import { nodeForN8n, ownNodeRunsN8n, packagedNodeFolder } from './nodeBinary';
import { n8nFolder, projectRoot } from './paths';
import { doOnce, hashFiles } from './stamp';

const DEFINITION = ['package.json', 'package-lock.json', '.npmrc'];
const hostSources = join(projectRoot, 'host');

/**
 * Installs the pinned n8n unless it is there already. The two slow steps carry a stamp each, so an
 * interrupted step is repeated and a finished one is not.
 *
 * @param say gets the progress
 * @throws HostError when npm fails, when a compiler is missing, or when no Node 24 is to be had
 */
export async function ensureN8n(say: Say): Promise<void> {
	mkdirSync(n8nFolder, { recursive: true });
	const definition = hashFiles(
		hostSources,
		DEFINITION.map((name) => join(hostSources, name)),
	);
	const stamp = `${definition} ${process.platform} ${process.arch}`;
	await doOnce(join(n8nFolder, '.modules-installed'), stamp, async () => await installModules(say));
	nodeForN8n();
	await doOnce(join(n8nFolder, '.sqlite-built'), stamp, async () => await buildSqlite(say));
}

async function installModules(say: Say): Promise<void> {
	for (const name of DEFINITION) copyFileSync(join(hostSources, name), join(n8nFolder, name));
	say('Installing n8n (first use only: about 2.5 GB, 2 to 5 minutes)');
	const packages = lockedPackages();
	const result = await withHeartbeat(
		say,
		() => `  ${packages.filter(isInstalled).length} of ${packages.length} packages`,
		async () => await runNpm(['ci', '--loglevel=error'], { cwd: n8nFolder }),
	);
	requireSuccess(result, 'Installing n8n with npm did not work');
}

async function buildSqlite(say: Say): Promise<void> {
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
				{ cwd: n8nFolder, env: { ...process.env, ...headersOfPackagedNode() } },
			),
	);
	if (result.code !== 0) {
		const missing = missingBuildTools();
		if (missing.length > 0) throw new HostError(nativeBuildAdvice(missing));
	}
	requireSuccess(result, 'Compiling the database driver of n8n (sqlite3) did not work');
	requireSuccess(
		await runCommand(nodeForN8n(), ['-e', "require('sqlite3')"], { cwd: n8nFolder }),
		'The database driver of n8n (sqlite3) does not load',
	);
}

/** Compiling against the packaged Node's headers spares a download and an extra package. */
function headersOfPackagedNode(): NodeJS.ProcessEnv {
	const folder = packagedNodeFolder();
	const usable = !ownNodeRunsN8n() && existsSync(join(folder, 'include', 'node', 'node_api.h'));
	return usable ? { npm_config_nodedir: folder } : {};
}

function lockedPackages(): string[] {
	const lock: unknown = JSON.parse(readFileSync(join(n8nFolder, 'package-lock.json'), 'utf8'));
	if (typeof lock !== 'object' || lock === null || !('packages' in lock)) return [];
	return Object.keys(lock.packages ?? {}).filter((path) => path !== '');
}

function isInstalled(path: string): boolean {
	return existsSync(join(n8nFolder, path, 'package.json'));
}
