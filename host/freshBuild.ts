import { readFileSync, readdirSync, statSync } from 'node:fs';
import { join, relative } from 'node:path';

const SOURCES = ['nodes', 'credentials'];

const SETTINGS = ['tsconfig.json', 'gulpfile.js'];

export const BUILT_FROM = [...SOURCES, ...SETTINGS];

/**
 * Looks whether `dist` is what the sources say.
 *
 * @param root the folder of the package
 * @returns the first file that says otherwise; undefined when there is none
 */
export function staleFile(root: string): string | undefined {
	const sources = SOURCES.flatMap((folder) => filesBelow(root, folder));
	const built = SOURCES.flatMap((folder) => filesBelow(join(root, 'dist'), folder));
	const compiled = built.filter((file) => file.endsWith('.js'));
	const madeAt = Math.min(...compiled.map((file) => changedAt(join(root, 'dist', file))));
	const expected = new Set(sources.map(builtName));
	return (
		sources.find((file) => isStale(root, file)) ??
		compiled.find((file) => !expected.has(file)) ??
		SETTINGS.find((file) => changedAt(join(root, file)) > madeAt)
	);
}

/**
 * Engine tests run what was built: from old code they would prove nothing.
 *
 * @param root the folder of the package
 * @throws Error naming what differs when `dist` is not what the sources say
 */
export function expectFreshBuild(root: string): void {
	const stale = staleFile(root);
	if (stale === undefined) return;
	throw new Error(`dist/ is not what the sources say (${stale}): run npm run build`);
}

function filesBelow(root: string, folder: string): string[] {
	const top = join(root, folder);
	if (changedAt(top) === 0) return [];
	return readdirSync(top, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => relative(root, join(entry.parentPath, entry.name)));
}

const builtName = (file: string) => file.replace(/\.ts$/, '.js');

/** Code is older than its source; what is copied has other bytes. */
function isStale(root: string, file: string): boolean {
	const source = join(root, file);
	const built = join(root, 'dist', builtName(file));
	if (changedAt(built) === 0) return true;
	if (file.endsWith('.ts')) return changedAt(built) < changedAt(source);
	return !readFileSync(built).equals(readFileSync(source));
}

/** In milliseconds; 0 for what is not there. */
function changedAt(path: string): number {
	return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
