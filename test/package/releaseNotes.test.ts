import { readFileSync } from 'node:fs';
import path from 'node:path';

import { releaseNotes } from '../../scripts/releaseNotes';

const CHANGELOG = `# Changelog

## 1.3.0 (unreleased)

- Coming.

## 1.2.3 (2026-01-31)

- One thing.

### More

- Another thing.

## 1.2.30 (2026-01-30)

- Not this.

## 1.2.2 (2026-01-29)
`;

describe('the notes of a release', () => {
	it('are what the changelog says of its version', () => {
		expect(releaseNotes('v1.2.3', '1.2.3', CHANGELOG)).toBe(
			'- One thing.\n\n### More\n\n- Another thing.\n',
		);
	});

	it.each([
		['1.2.3', '1.2.3', 'The tag is 1.2.3, and the version in package.json is 1.2.3.'],
		['v1.2.4', '1.2.3', 'The tag is v1.2.4, and the version in package.json is 1.2.3.'],
		['v1.2.4', '1.2.4', 'CHANGELOG.md has no section "## 1.2.4 (date)".'],
		['v1.2', '1.2', 'CHANGELOG.md has no section "## 1.2 (date)".'],
		['v1.3.0', '1.3.0', 'gives no date for 1.3.0: the heading is "## 1.3.0 (unreleased)".'],
		['v1.2.2', '1.2.2', 'CHANGELOG.md says nothing of 1.2.2.'],
	])('are refused for tag %s and version %s', (tag, version, reason) => {
		expect(() => releaseNotes(tag, version, CHANGELOG)).toThrow(reason);
	});

	it('will be there for the version of this package, once it has a date', () => {
		const read = (file: string) => readFileSync(path.resolve(__dirname, '../..', file), 'utf8');
		const { version } = JSON.parse(read('package.json')) as { version: string };
		const dated = read('CHANGELOG.md').replace(
			`${version} (unreleased)`,
			`${version} (2026-01-31)`,
		);
		expect(releaseNotes(`v${version}`, version, dated)).toContain('- ');
	});
});
