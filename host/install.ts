import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireSuccess, runCommand, runNpm, type CommandResult } from './command';
import { missingBuildTools, nativeBuildAdvice } from './buildTools';
import { packageFolders, parseLockFile, withTarballAddresses } from './lockFile';
import { HostError, withHeartbeat, type Say } from './messages';
import { nodeForN8n, ownNodeRunsN8n, packagedNodeFolder } from './nodeBinary';
import { NpmProgress, rebuildLine } from './npmProgress';
import { n8nFolder, projectRoot } from './paths';
import { doOnce, hashFiles } from './stamp';

const DEFINITION = ['package.json', 'package-lock.json', '.npmrc'];
const hostSources = join(projectRoot, 'host');

/** What npm says when a tarball is not where most registries have it. */
const NOT_THERE = /npm (error|ERR!) (code )?(E40[0-9]|ETARGET)/;

const REBUILD_SQLITE = [
	'rebuild',
	'sqlite3',
	'--ignore-scripts=false',
	'--foreground-scripts',
	'--loglevel=error',
];

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
	say('Installing n8n (first use only: about 2.5 GB, some minutes)');
	const lockPath = join(n8nFolder, 'package-lock.json');
	const lockText = readFileSync(lockPath, 'utf8');
	const lock = parseLockFile(lockText);
	writeFileSync(lockPath, JSON.stringify(withTarballAddresses(lock, await registryOfNpm())));
	let result = await npmCi(packageFolders(lock), say);
	if (NOT_THERE.test(result.output) && result.code !== 0) {
		say('This registry has tarballs elsewhere: npm asks it for each (some minutes longer)');
		writeFileSync(lockPath, lockText);
		result = await npmCi(packageFolders(lock), say);
	}
	requireSuccess(result, 'Installing n8n with npm did not work');
}

async function npmCi(packages: string[], say: Say): Promise<CommandResult> {
	const progress = new NpmProgress(n8nFolder, packages);
	const options = { cwd: n8nFolder, onOutput: progress.read };
	return await withHeartbeat(
		say,
		(seconds) => progress.line(seconds),
		async () => await runNpm(['ci', '--loglevel=http'], options),
	);
}

/** The registry that npm uses here. */
async function registryOfNpm(): Promise<string> {
	const args = ['config', 'get', 'registry', '--loglevel=error'];
	const result = await runNpm(args, { cwd: n8nFolder });
	requireSuccess(result, 'npm does not say which registry it uses');
	return result.output.trim();
}

async function buildSqlite(say: Say): Promise<void> {
	say('Preparing the database driver of n8n (first use only: seconds to two minutes)');
	let log = '';
	const onOutput = (text: string) => {
		log += text;
	};
	const env = { ...process.env, ...headersOfPackagedNode(), JOBS: 'max' };
	const result = await withHeartbeat(
		say,
		(seconds) => rebuildLine(log, seconds),
		async () => await runNpm(REBUILD_SQLITE, { cwd: n8nFolder, env, onOutput }),
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
