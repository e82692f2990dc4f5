import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/**
 * Hashes files and, for folders, every file below them except `dist` and `node_modules`.
 *
 * @param base the folder that names in the hash are relative to
 * @param paths existing or missing files and folders; a missing one counts as empty
 */
export function hashFiles(base: string, paths: string[]): string {
	const hash = createHash('sha256');
	for (const file of paths.flatMap(filesBelow)) {
		hash.update(relative(base, file)).update('\0').update(readFileSync(file)).update('\0');
	}
	return hash.digest('hex');
}

/** The text of a stamp file, or undefined when there is none. */
function readStamp(file: string): string | undefined {
	try {
		return readFileSync(file, 'utf8');
	} catch {
		return undefined;
	}
}

/**
 * Does a piece of work unless its stamp says that it was done on the same input. The stamp is taken
 * away first and written last, so work that was interrupted is done again.
 *
 * @returns whether the work was done now
 */
export async function doOnce(
	stampFile: string,
	stamp: string,
	work: () => Promise<void>,
): Promise<boolean> {
	if (readStamp(stampFile) === stamp) return false;
	rmSync(stampFile, { force: true });
	await work();
	writeFileSync(stampFile, stamp);
	return true;
}

function filesBelow(path: string): string[] {
	const stats = statSync(path, { throwIfNoEntry: false });
	if (stats === undefined) return [];
	if (stats.isFile()) return [path];
	return readdirSync(path)
		.filter((name) => name !== 'dist' && name !== 'node_modules')
		.sort()
		.flatMap((name) => filesBelow(join(path, name)));
}
