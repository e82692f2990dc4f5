// @ts-check
'use strict';

/**
 * Prints what CHANGELOG.md says of the version a tag stands for: `node scripts/releaseNotes.js v1.2.3`. Fails
 * where the tag is not that of package.json's version, or where the changelog has no dated notes of it.
 */
const { readFileSync } = require('node:fs');
const path = require('node:path');

/**
 * The section of a version without its heading.
 *
 * @param {string} tag the tag that is released, e.g. `v1.2.3`
 * @param {string} version the version in package.json
 * @param {string} changelog the text of CHANGELOG.md, whose sections are headed `## 1.2.3 (2026-01-31)`
 * @returns {string}
 */
function releaseNotes(tag, version, changelog) {
	if (tag !== `v${version}`) {
		throw new Error(`The tag is ${tag}, and the version in package.json is ${version}.`);
	}
	const section = changelog.split(/^## /m).find((text) => text.startsWith(`${version} (`)) ?? '';
	const notes = /^\S+ \(\d{4}-\d\d-\d\d\)\n([^]*\S)/.exec(section)?.[1]?.trim();
	if (!notes) throw new Error(`CHANGELOG.md has no notes under a heading "## ${version} (date)".`);
	return `${notes}\n`;
}

module.exports = { releaseNotes };

if (require.main === module) {
	const changelog = readFileSync(path.join(__dirname, '..', 'CHANGELOG.md'), 'utf8');
	const { version } = require('../package.json');
	process.stdout.write(releaseNotes(process.argv[2] ?? '', version, changelog));
}
