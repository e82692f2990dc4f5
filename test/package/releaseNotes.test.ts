import { readFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from 'host/paths';
import { version } from '../../package.json';
import { releaseNotes } from '../../scripts/releaseNotes';

const CHANGELOG =
	'# Changelog\n\n## 1.3.0 (unreleased)\n\n- Coming.\n\n## 1.2.3 (2026-01-31)\n\n- One thing.\n\n## 1.2.30 (2026-01-30)\n\n- Not this.\n';

describe('the notes of a release', () => {
	it('are what the changelog says of its version', () => {
		expect(releaseNotes('v1.2.3', '1.2.3', CHANGELOG)).toBe('- One thing.\n');
	});

	it.each([
		['v1.2.4', '1.2.3', 'The tag is v1.2.4, and the version in package.json is 1.2.3.'],
		['v1.2', '1.2', 'CHANGELOG.md has no notes under a heading "## 1.2 (date)".'],
		['v1.3.0', '1.3.0', 'CHANGELOG.md has no notes under a heading "## 1.3.0 (date)".'],
	])('are refused for tag %s and version %s', (tag, ofPackage, reason) => {
		expect(() => releaseNotes(tag, ofPackage, CHANGELOG)).toThrow(reason);
	});

	it('will be there for the version of this package, once it has a date', () => {
		const changelog = readFileSync(path.join(projectRoot, 'CHANGELOG.md'), 'utf8');
		const dated = changelog.replace(`${version} (unreleased)`, `${version} (2026-01-31)`);
		expect(releaseNotes(`v${version}`, version, dated)).toContain('- ');
	});
});
