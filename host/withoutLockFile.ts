import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { requireSuccess, runNpm } from './command';
import { PINNED, type Installation } from './installation';
import type { Say } from './messages';
import { DEFINITION } from './modules';
import { workFolder } from './paths';

/** Where an n8n is installed that this project has no lock file for. */
export function withoutLockFile(n8n: string): Installation {
	return {
		sources: join(workFolder, 'without-lock-file', n8n),
		folder: join(workFolder, 'versions', n8n),
		nodeMajor: PINNED.nodeMajor,
	};
}

/**
 * Has npm make the lock file of such an n8n, beginning with that of the pinned one, so that nothing else moves.
 *
 * @throws HostError when npm knows no such n8n, or not all that it is made of
 */
export async function makeLockFile(say: Say, n8n: string): Promise<void> {
	const { sources } = withoutLockFile(n8n);
	mkdirSync(sources, { recursive: true });
	for (const name of DEFINITION) copyFileSync(join(PINNED.sources, name), join(sources, name));
	const definition = join(sources, 'package.json');
	writeFileSync(definition, withN8n(n8n, readFileSync(definition, 'utf8')));
	say(`Looking for what n8n ${n8n} is made of`);
	const result = await runNpm(['install', '--package-lock-only', '--loglevel=error'], {
		cwd: sources,
	});
	requireSuccess(result, `npm cannot install n8n ${n8n}`);
}

/**
 * The newest n8n 2: n8n 3 comes as an image for Docker only, and cannot be installed with npm.
 *
 * @throws HostError when npm does not say
 */
export async function newestN8n(): Promise<string> {
	const args = ['view', 'n8n@2', 'version', '--json', '--loglevel=error'];
	const result = await runNpm(args, { cwd: PINNED.sources });
	requireSuccess(result, 'npm does not say which n8n is the newest');
	return newestOf(JSON.parse(result.output) as string | string[]);
}

/** The newest of some versions, as npm lists them: one alone is no list. */
export function newestOf(versions: string | string[]): string {
	const sorted = [versions].flat().sort((a, b) => a.localeCompare(b, 'en', { numeric: true }));
	return sorted.at(-1) ?? '';
}

/** The text of a package.json with another n8n in it. */
export function withN8n(n8n: string, packageJson: string): string {
	return packageJson.replace(/("n8n": )"[^"]*"/, `$1"${n8n}"`);
}
