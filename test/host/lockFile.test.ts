import { packageFolders, parseLockFile, withTarballAddresses } from '../../host/modules';

/** The lock file of these packages, whose own is the first. */
const lockOf = (packages: Record<string, unknown>) =>
	parseLockFile(JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } }));

describe('a lock file that holds for any registry', () => {
	it.each([
		['node_modules/a', {}, 'a/-/a-1.0.0.tgz'],
		['node_modules/a/node_modules/@b/c', {}, '@b/c/-/c-1.0.0.tgz'],
		['node_modules/other-name', { name: '@b/c' }, '@b/c/-/c-1.0.0.tgz'],
	])('is told where the tarball of %s is', (path, more, address) => {
		const lock = lockOf({ [path]: { version: '1.0.0', integrity: 'sha512-x', ...more } });
		const registry = 'https://registry.example.com/npm';
		expect(withTarballAddresses(lock, registry).packages[path]).toEqual({
			...lock.packages[path],
			resolved: `${registry}/${address}`,
		});
	});

	it('has the packages that npm installs on this machine', () => {
		const lock = lockOf({
			any: {},
			mac: { os: ['darwin'], cpu: ['arm64'] },
			'not-windows': { os: ['!win32'] },
			arm: { os: ['linux', 'darwin'], cpu: 'arm64' },
		});
		const on = (platform: NodeJS.Platform, arch: NodeJS.Architecture) =>
			packageFolders(lock, { platform, arch });
		expect(on('darwin', 'arm64')).toEqual(['any', 'mac', 'not-windows', 'arm']);
		expect(on('linux', 'x64')).toEqual(['any', 'not-windows']);
		expect(on('win32', 'x64')).toEqual(['any']);
	});
});
