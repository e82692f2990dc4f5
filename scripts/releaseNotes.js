// @ts-check
'use strict';

/**
 * Prints what CHANGELOG.md says of the version a tag stands for: `node scripts/releaseNotes.js v1.2.3`.
 * Ends with 1 where the tag is not that of package.json's version, or where the changelog does not say
 * when the version came out.
 */
const { readFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');

/**
 * The notes of a release.
 *
 * @param {string} tag the tag that is released, e.g. `v1.2.3`
 * @param {string} version the version in package.json
 * @param {string} changelog the text of CHANGELOG.md, whose sections are headed `## 1.2.3 (2026-01-31)`
 * @returns {string} the section of the version without its heading
 * @throws when they do not agree
 */
function releaseNotes(tag, version, changelog) {
	if (tag !== `v${version}`) {
		throw new Error(`The tag is ${tag}, and the version in package.json is ${version}.`);
	}
	const [heading = '', ...lines] = sectionOf(version, changelog);
	if (heading === '') throw new Error(`CHANGELOG.md has no section "## ${version} (date)".`);
	if (!/\(\d{4}-\d\d-\d\d\)$/.test(heading)) {
		throw new Error(`CHANGELOG.md gives no date for ${version}: the heading is "${heading}".`);
	}
	const notes = lines.join('\n').trim();
	if (notes === '') throw new Error(`CHANGELOG.md says nothing of ${version}.`);
	return `${notes}\n`;
}

/**
 * @param {string} version
 * @param {string} changelog
 */
function sectionOf(version, changelog) {
	const sections = changelog.split(/^(?=## )/m);
	return sections.find((section) => section.split(/\s/)[1] === version)?.split('\n') ?? [];
}

module.exports = { releaseNotes };

if (require.main === module) {
	try {
		const { version } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8'));
		const changelog = readFileSync(path.join(ROOT, 'CHANGELOG.md'), 'utf8');
		process.stdout.write(releaseNotes(process.argv[2] ?? '', version, changelog));
	} catch (error) {
		process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
		process.exitCode = 1;
	}
}
