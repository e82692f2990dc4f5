// @ts-check
'use strict';

const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');
const README = path.join(ROOT, 'README.md');
const PACKAGE = path.join(ROOT, 'package.json');

/** What the last runs of `npm run test:hosts` have found, the oldest n8n first. */
const RESULTS = path.join(ROOT, 'test', 'hosts', 'results.json');

const BEGIN = '<!-- npm run test:hosts writes this -->';
const END = '<!-- up to here -->';

/**
 * A version of n8n in which everything passed.
 *
 * @typedef {object} HostResult
 * @property {string} n8n
 * @property {string} reason why this version
 * @property {string} nodejs the version of Node it ran on
 * @property {string[]} steps what passed in it, in words
 * @property {string[]} [lacks] names of nodes that it has in an older version than the examples
 * @property {number} [engineTests] how many engine tests passed on its n8n-core
 */

/**
 * What became of each version that was tried; undefined where not everything passed.
 *
 * @typedef {Map<string, HostResult | undefined>} Tried
 */

/** @returns {HostResult[]} */
function readResults() {
	return existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
}

/**
 * The results after further tries: what was tried anew takes the place of what was known, also where it did not pass.
 *
 * @param {readonly string[]} versions those of host/versions.ts, the oldest first
 * @param {HostResult[]} known
 * @param {Tried} tried
 * @returns {HostResult[]}
 */
function withTried(versions, known, tried) {
	const before = new Map(known.map((result) => [result.n8n, result]));
	return versions.flatMap((n8n) => (tried.has(n8n) ? tried.get(n8n) : before.get(n8n)) ?? []);
}

/**
 * @param {Tried} tried
 * @throws Error that names the versions in which not everything passed
 */
function requirePassed(tried) {
	const failed = [...tried].filter(([, result]) => !result).map(([n8n]) => n8n);
	if (failed.length > 0) throw new Error(`The node did not pass in n8n ${failed.join(', ')}.`);
}

/** @param {string} file */
const contentOf = (file) => readFileSync(file, 'utf8');

/** @returns {{ engines: { n8n: string, node: string } }} */
const readPackage = () => JSON.parse(contentOf(PACKAGE));

/**
 * What the README says of the results, between the markers.
 *
 * @param {HostResult[]} results
 */
function compatibilityText(results) {
	const rows = results.map(({ n8n, reason, nodejs }) => `| ${n8n}, ${reason} | ${nodejs} |`);
	const limits = results.flatMap(({ n8n, lacks = [] }) =>
		lacks.map(
			(name) =>
				`n8n ${n8n} has an older _${name}_ than the examples with that node: add it anew there.`,
		),
	);
	const [oldest] = results;
	if (!oldest) throw new Error('There are no results');
	const node = readPackage().engines.node.replace('>=', '');
	return [
		'| n8n | Node.js |',
		'| --- | --- |',
		...rows,
		'',
		`**At least n8n ${oldest.n8n} and Node.js ${node}.** In each of these, the package as npm packs it:`,
		'',
		...oldest.steps.map((step) => `- ${step}`),
		'',
		...limits,
	].join('\n');
}

/** The README around the part that is written here, and that part. */
function readmeParts() {
	const [before = '', rest = ''] = contentOf(README).split(BEGIN);
	const [part = '', after = ''] = rest.split(END);
	return { before, part, after };
}

/**
 * Writes the README's table of versions and the oldest n8n of package.json.
 *
 * @param {HostResult[]} results
 */
function writeCompatibility(results) {
	const { before, after } = readmeParts();
	writeFileSync(README, `${before}${BEGIN}\n\n${compatibilityText(results)}\n${END}${after}`);
	const { engines } = readPackage();
	const oldest = `"n8n": ">=${results[0]?.n8n}"`;
	writeFileSync(PACKAGE, contentOf(PACKAGE).replace(`"n8n": "${engines.n8n}"`, oldest));
}

module.exports = {
	RESULTS,
	readResults,
	withTried,
	requirePassed,
	readPackage,
	readmeParts,
	compatibilityText,
	writeCompatibility,
};
