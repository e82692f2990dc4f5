import { readFileSync } from 'node:fs';
import { join } from 'node:path';

import { PINNED } from '../../host/installation';
import { TESTED_VERSIONS, testedVersion } from '../../host/versions';
import { newestOf, withN8n } from '../../host/withoutLockFile';

const [oldest] = TESTED_VERSIONS;

describe('an n8n to try the node in', () => {
	it('is one of the list, by its number', () => {
		expect(testedVersion(oldest?.n8n ?? '')).toBe(oldest);
	});

	it('is the one of npm start, as "pinned"', () => {
		expect(testedVersion('pinned').installation).toBe(PINNED);
	});

	it('may be any other, which has folders of its own', () => {
		const { n8n, installation } = testedVersion('2.99.0');
		expect(n8n).toBe('2.99.0');
		const folders = TESTED_VERSIONS.flatMap((version) => Object.values(version.installation));
		expect(folders).not.toContain(installation.folder);
		expect(folders).not.toContain(installation.sources);
	});

	it('consists of what the pinned one does, but for n8n itself', () => {
		const pinned = readFileSync(join(PINNED.sources, 'package.json'), 'utf8');
		const { dependencies, ...rest } = JSON.parse(withN8n('2.99.0', pinned)) as Definition;
		expect(dependencies).toEqual({ n8n: '2.99.0' });
		expect(JSON.parse(pinned)).toMatchObject(rest);
		expect(rest).toHaveProperty('overrides');
	});

	it('is, as "newest", the newest of those that npm lists in any order', () => {
		expect(newestOf(['2.9.4', '2.41.3', '2.40.7'])).toBe('2.41.3');
		expect(newestOf('2.41.3')).toBe('2.41.3');
	});

	it('is pinned as the number that package.json has', () => {
		const { dependencies } = JSON.parse(
			readFileSync(join(PINNED.sources, 'package.json'), 'utf8'),
		) as Definition;
		expect(testedVersion('pinned').n8n).toBe(dependencies.n8n);
	});
});

interface Definition {
	dependencies: { n8n: string };
}
