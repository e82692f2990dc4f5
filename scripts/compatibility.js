// @ts-check
'use strict';

const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');
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

/** @returns {HostResult[]} */
function readResults() {
	return existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : [];
}

/** @param {string} file */
const contentOf = (file) => readFileSync(file, 'utf8');

/** @returns {{ engines: { n8n: string, node: string } }} */
const readPackage = () => JSON.parse(contentOf(PACKAGE));

/**
 * What the pages say of the results, between their markers: the README the versions, docs/hosts.md what passed.
 *
 * @param {HostResult[]} results
 * @returns {Record<string, string>} by the path of the page
 */
function compatibilityTexts(results) {
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
	return {
		'README.md': [
			'| n8n | Node.js |',
			'| --- | --- |',
			...rows,
			'',
			`**At least n8n ${oldest.n8n} and Node.js ${node}.**`,
		].join('\n'),
		'docs/hosts.md': [...oldest.steps.map((step) => `- ${step}`), '', ...limits].join('\n'),
	};
}

/**
 * A page around the part that is written here, and that part.
 *
 * @param {string} page
 */
function partsOf(page) {
	const [before = '', rest = ''] = contentOf(path.join(ROOT, page)).split(BEGIN);
	const [part = '', after = ''] = rest.split(END);
	return { before, part, after };
}

/**
 * Writes what the pages say of the versions, and the oldest n8n of package.json.
 *
 * @param {HostResult[]} results
 */
function writeCompatibility(results) {
	for (const [page, text] of Object.entries(compatibilityTexts(results))) {
		const { before, after } = partsOf(page);
		writeFileSync(path.join(ROOT, page), `${before}${BEGIN}\n\n${text}\n${END}${after}`);
	}
	const { engines } = readPackage();
	const oldest = `"n8n": ">=${results[0]?.n8n}"`;
	writeFileSync(PACKAGE, contentOf(PACKAGE).replace(`"n8n": "${engines.n8n}"`, oldest));
}

module.exports = { RESULTS, readResults, partsOf, compatibilityTexts, writeCompatibility };
