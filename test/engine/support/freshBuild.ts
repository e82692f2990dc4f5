import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import path from 'node:path';

/** What users install is made of. */
const SOURCES = ['nodes', 'credentials'];

/**
 * Engine tests run what was built: from old code they would prove nothing.
 *
 * @param root the folder of the package
 * @throws Error naming what differs when `dist` is not what the sources say
 */
export function expectFreshBuild(root: string): void {
	const stale = SOURCES.flatMap((folder) => filesBelow(root, folder)).filter((file) =>
		isStale(root, file),
	);
	const left = SOURCES.flatMap((folder) => filesBelow(path.join(root, 'dist'), folder)).filter(
		(file) => file.endsWith('.js') && !existsSync(path.join(root, file.replace(/\.js$/, '.ts'))),
	);
	const [first] = [...stale, ...left];
	if (first === undefined) return;
	throw new Error(`dist/ is not what the sources say (${first}): run npm run build`);
}

function filesBelow(root: string, folder: string): string[] {
	const top = path.join(root, folder);
	if (!existsSync(top)) return [];
	return readdirSync(top, { recursive: true, withFileTypes: true })
		.filter((entry) => entry.isFile())
		.map((entry) => path.relative(root, path.join(entry.parentPath, entry.name)));
}

/** Code is older than its source; what is copied has other bytes. */
function isStale(root: string, file: string): boolean {
	const source = path.join(root, file);
	const built = path.join(root, 'dist', file.replace(/\.ts$/, '.js'));
	if (!existsSync(built)) return true;
	if (file.endsWith('.ts')) return statSync(built).mtimeMs < statSync(source).mtimeMs;
	return !readFileSync(built).equals(readFileSync(source));
}
