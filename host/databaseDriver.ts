import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { borrowDriver } from './borrowedDriver';
import { missingBuildTools, nativeBuildAdvice } from './buildTools';
import { requireSuccess, runCommand, runNpm, type CommandResult } from './command';
import type { Installation } from './installation';
import { HostError, withHeartbeat, type Say } from './messages';
import { nodeForN8n, ownNodeRunsN8n, packagedNodeFolder } from './nodeBinary';
import { rebuildLine } from './npmProgress';
import { TESTED_VERSIONS } from './versions';

const REBUILD_SQLITE = [
	'rebuild',
	'sqlite3',
	'--ignore-scripts=false',
	'--foreground-scripts',
	'--loglevel=error',
];

/**
 * Gives an n8n its database driver: that of another installation here, a prebuilt one, or one compiled.
 *
 * @param say gets the progress
 * @throws HostError when a compiler is missing, or what it made does not load
 */
export async function prepareDatabaseDriver(say: Say, installation: Installation): Promise<void> {
	const others = TESTED_VERSIONS.map((version) => version.installation);
	const borrowed = borrowDriver(installation, others);
	if (borrowed && (await loadDriver(installation)).code === 0) return;
	await buildSqlite(say, installation);
	requireSuccess(
		await loadDriver(installation),
		'The database driver of n8n (sqlite3) does not load',
	);
}

async function loadDriver(installation: Installation): Promise<CommandResult> {
	const options = { cwd: installation.folder };
	return await runCommand(nodeForN8n(installation), ['-e', "require('sqlite3')"], options);
}

async function buildSqlite(say: Say, installation: Installation): Promise<void> {
	say('Preparing the database driver of n8n (first use only: seconds to two minutes)');
	let log = '';
	const onOutput = (text: string) => {
		log += text;
	};
	const env = { ...process.env, ...headersOfPackagedNode(installation), JOBS: 'max' };
	const result = await withHeartbeat(
		say,
		(seconds) => rebuildLine(log, seconds),
		async () => await runNpm(REBUILD_SQLITE, { cwd: installation.folder, env, onOutput }),
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
