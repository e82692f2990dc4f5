import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { packageFolders, parseLockFile, withTarballAddresses } from '../../host/lockFile';
import { projectRoot } from '../../host/paths';

const REGISTRY = 'https://registry.example.com/npm/';
const text = readFileSync(join(projectRoot, 'host', 'package-lock.json'), 'utf8');

/** The lock file of these packages, whose own is the first. */
const lockOf = (packages: Record<string, unknown>) =>
	parseLockFile(JSON.stringify({ lockfileVersion: 3, packages: { '': {}, ...packages } }));

describe('a lock file that holds for any registry', () => {
	it.each([
		['node_modules/a', {}, 'a/-/a-1.0.0.tgz'],
		['node_modules/@b/c', {}, '@b/c/-/c-1.0.0.tgz'],
		['node_modules/a/node_modules/@b/c', {}, '@b/c/-/c-1.0.0.tgz'],
		['node_modules/other-name', { name: '@b/c' }, '@b/c/-/c-1.0.0.tgz'],
	])('is told where the tarball of %s is', (path, more, address) => {
		const lock = lockOf({ [path]: { version: '1.0.0', integrity: 'sha512-x', ...more } });
		expect(withTarballAddresses(lock, REGISTRY).packages[path]).toEqual({
			...lock.packages[path],
			resolved: REGISTRY + address,
		});
	});

	it('of our n8n is told so for every package, and nothing else is changed', () => {
		const lock = parseLockFile(text);
		const told = withTarballAddresses(lock, REGISTRY);
		const folders = packageFolders(lock);
		expect(folders.length).toBeGreaterThan(2_000);
		const missing = folders.filter((path) => !told.packages[path]?.resolved?.startsWith(REGISTRY));
		expect(missing).toEqual([]);
		const untold = JSON.stringify(told, (key, value: unknown) =>
			key === 'resolved' ? undefined : value,
		);
		expect(JSON.parse(untold)).toEqual(JSON.parse(text));
	});
});

describe('the packages of a lock file', () => {
	it('are those that npm installs on this machine', () => {
		const lock = lockOf({
			'node_modules/any': {},
			'node_modules/mac': { os: ['darwin'], cpu: ['arm64'] },
			'node_modules/not-windows': { os: ['!win32'] },
			'node_modules/arm': { os: ['linux', 'darwin'], cpu: 'arm64' },
		});
		const on = (platform: NodeJS.Platform, arch: NodeJS.Architecture) =>
			packageFolders(lock, { platform, arch }).map((path) => path.replace('node_modules/', ''));
		expect(on('darwin', 'arm64')).toEqual(['any', 'mac', 'not-windows', 'arm']);
		expect(on('linux', 'x64')).toEqual(['any', 'not-windows']);
		expect(on('win32', 'x64')).toEqual(['any']);
	});
});
