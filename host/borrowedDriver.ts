import { copyFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Installation } from './installation';

const DRIVER = join('node_modules', 'sqlite3');
const BINARY = join(DRIVER, 'build', 'Release', 'node_sqlite3.node');

/**
 * Copies the database driver that was compiled for another n8n, where that has the same version of it. It
 * speaks Node-API, so that one compiled for an older Node loads in a newer one; the other way round it may
 * not, so it has to be tried.
 *
 * @returns whether there was one
 */
export function borrowDriver({ folder }: Installation, others: readonly Installation[]): boolean {
	const lender = others.find(
		(other) =>
			other.folder !== folder &&
			existsSync(join(other.folder, BINARY)) &&
			driverVersion(other.folder) === driverVersion(folder),
	);
	if (lender === undefined) return false;
	mkdirSync(dirname(join(folder, BINARY)), { recursive: true });
	copyFileSync(join(lender.folder, BINARY), join(folder, BINARY));
	return true;
}

function driverVersion(folder: string): string {
	return (
		readFileSync(join(folder, DRIVER, 'package.json'), 'utf8').match(/"version": "(.+)"/)?.[1] ?? ''
	);
}
