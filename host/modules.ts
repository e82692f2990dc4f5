import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireSuccess, runNpm, type CommandResult } from './command';
import type { Installation } from './installation';
import { packageFolders, parseLockFile, withTarballAddresses } from './lockFile';
import { withHeartbeat, type Say } from './messages';
import { NpmProgress } from './npmProgress';
import { npmRegistry } from './npmRegistry';

/** The files that say what an installation consists of. */
export const DEFINITION = ['package.json', 'package-lock.json', '.npmrc'];

/** What npm says when a tarball is not where most registries have it. */
const NOT_THERE = /npm (error|ERR!) (code )?(E40[0-9]|ETARGET)/;

/**
 * Has npm install an n8n as its lock file says.
 *
 * @param say gets the progress
 * @throws HostError when npm fails
 */
export async function installModules(say: Say, { sources, folder }: Installation): Promise<void> {
	for (const name of DEFINITION) copyFileSync(join(sources, name), join(folder, name));
	say('Installing n8n 2 with npm, which has no n8n 3 (first use only: up to 2.9 GB, some minutes)');
	const lockPath = join(folder, 'package-lock.json');
	const lockText = readFileSync(lockPath, 'utf8');
	const lock = parseLockFile(lockText);
	writeFileSync(lockPath, JSON.stringify(withTarballAddresses(lock, await npmRegistry(folder))));
	let result = await npmCi(folder, packageFolders(lock), say);
	if (NOT_THERE.test(result.output) && result.code !== 0) {
		say('This registry has tarballs elsewhere: npm asks it for each (some minutes longer)');
		writeFileSync(lockPath, lockText);
		result = await npmCi(folder, packageFolders(lock), say);
	}
	requireSuccess(result, 'Installing n8n with npm did not work');
}

async function npmCi(folder: string, packages: string[], say: Say): Promise<CommandResult> {
	const progress = new NpmProgress(folder, packages);
	const options = { cwd: folder, onOutput: progress.read };
	return await withHeartbeat(
		say,
		(seconds) => progress.line(seconds),
		async () => await runNpm(['ci', '--loglevel=http'], options),
	);
}
