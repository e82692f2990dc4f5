import { readFileSync } from 'node:fs';
import path from 'node:path';

const ROOT = path.resolve(__dirname, '../..');

interface LockedPackage {
	integrity?: string;
	resolved?: string;
	hasInstallScript?: boolean;
	deprecated?: string;
	inBundle?: boolean;
}

/** Every package of a lock file, without the project itself. */
function locked(folder: string): Array<[string, LockedPackage]> {
	const file = path.join(ROOT, folder, 'package-lock.json');
	const { packages } = JSON.parse(readFileSync(file, 'utf8')) as {
		packages: Record<string, LockedPackage>;
	};
	return Object.entries(packages).filter(([name]) => name !== '');
}

/** The development's own packages, the n8n that `npm start` installs, and the registry and linters of a test. */
describe.each(['.', 'host', 'test/tools'])('what is installed in %s', (folder) => {
	it('is fixed to contents that npm compares before it unpacks', () => {
		const unsure = locked(folder).filter(([, { integrity }]) => !integrity?.startsWith('sha512-'));
		expect(unsure).toEqual([]);
	});

	it('comes from the registry the user has set, and from nowhere else', () => {
		expect(locked(folder).filter(([, { resolved }]) => resolved !== undefined)).toEqual([]);
	});

	it('runs nothing of its own while it is installed', () => {
		const wantsTo = locked(folder).some(([, { hasInstallScript }]) => hasInstallScript);
		expect(wantsTo).toBe(folder !== 'test/tools');
		const settings = readFileSync(path.join(ROOT, folder, '.npmrc'), 'utf8').split('\n');
		expect(settings).toContain('ignore-scripts=true');
	});
});
