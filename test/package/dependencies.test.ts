import { readFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from 'host/paths';

interface LockedPackage {
	integrity?: string;
	resolved?: string;
}

/** The development's own packages, each n8n that is installed, and the registry and linters of a test. */
const FOLDERS = ['.', 'host', 'test/tools'];

describe.each(FOLDERS)('what is installed in %s', (folder) => {
	const read = (file: string) => readFileSync(path.join(projectRoot, folder, file), 'utf8');

	it('has fixed contents, from whichever registry the user has set, and runs no scripts', () => {
		const lock = JSON.parse(read('package-lock.json')) as {
			packages: Record<string, LockedPackage>;
		};
		const wrong = Object.entries(lock.packages).filter(
			([name, { integrity, resolved }]) =>
				name !== '' && (resolved !== undefined || !integrity?.startsWith('sha512-')),
		);
		expect(wrong).toEqual([]);
		expect(read('.npmrc').split('\n')).toContain('ignore-scripts=true');
	});
});
