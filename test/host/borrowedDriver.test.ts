import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { borrowDriver } from '../../host/borrowedDriver';

const root = mkdtempSync(join(tmpdir(), 'xpertai-driver-'));
afterAll(() => rmSync(root, { recursive: true }));

const binaryOf = (folder: string) =>
	join(folder, 'node_modules', 'sqlite3', 'build', 'Release', 'node_sqlite3.node');

/** An n8n with a database driver of a version, compiled or not. */
function installation(name: string, version: string, compiled?: string) {
	const folder = join(root, name);
	const driver = join(folder, 'node_modules', 'sqlite3');
	mkdirSync(join(driver, 'build', 'Release'), { recursive: true });
	writeFileSync(join(driver, 'package.json'), JSON.stringify({ version }, null, 2));
	if (compiled !== undefined) writeFileSync(binaryOf(folder), compiled);
	return { sources: folder, folder, nodeMajor: 20 };
}

describe('the database driver of an n8n', () => {
	const missing = { sources: '', folder: join(root, 'missing'), nodeMajor: 24 };

	it('is that of another n8n which has the same version of it', () => {
		const borrower = installation('borrower', '5.1.7');
		const others = [
			missing,
			installation('older', '5.0.0', 'old'),
			installation('same', '5.1.7', 'same'),
		];
		expect(borrowDriver(borrower, [borrower, ...others])).toBe(true);
		expect(readFileSync(binaryOf(borrower.folder), 'utf8')).toBe('same');
	});

	it('is nobody else’s where none has that version compiled', () => {
		const borrower = installation('alone', '6.0.0');
		const others = [missing, installation('other', '5.1.7', 'x'), installation('raw', '6.0.0')];
		expect(borrowDriver(borrower, [borrower, ...others])).toBe(false);
		expect(existsSync(binaryOf(borrower.folder))).toBe(false);
	});
});
