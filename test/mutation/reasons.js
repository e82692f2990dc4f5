// @ts-check
'use strict';

/** Why no test notices some mutants: survivors.json has a reason for each of them, by file and by change. */
const { existsSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

/** @type {Record<string, Record<string, string>>} */
const reasons = require('./survivors.json');

const ROOT = join(__dirname, '../..');
const ARROW = ' → ';

const onOneLine = (/** @type {string} */ text) => text.replace(/\s+/g, ' ').trim();
const shortened = (/** @type {string} */ text) => onOneLine(text).slice(0, 100);

/**
 * What a mutant replaces, and by what, in one line: as survivors.json names it.
 *
 * @param {string} source
 * @param {{ location: { start: any, end: any }, replacement?: string }} mutant
 */
function changeOf(source, { location: { start, end }, replacement = '' }) {
	const lines = source.split('\n').slice(start.line - 1, end.line);
	lines[lines.length - 1] = (lines.at(-1) ?? '').slice(0, end.column - 1);
	lines[0] = (lines[0] ?? '').slice(start.column - 1);
	return shortened(lines.join('\n')) + ARROW + shortened(replacement);
}

/**
 * The reason why no test notices a mutant, if it has one.
 *
 * @param {{ file: string, change: string }} mutant
 */
const reasonFor = ({ file, change }) => reasons[file]?.[change];

/** The reasons whose code is gone, each as its file and the change. */
function reasonsOfGoneCode() {
	return Object.entries(reasons).flatMap(([file, changes]) => {
		const path = join(ROOT, file);
		const source = existsSync(path) ? onOneLine(readFileSync(path, 'utf8')) : '';
		const isGone = (/** @type {string} */ change) => !source.includes(change.split(ARROW)[0] ?? '');
		return Object.keys(changes)
			.filter(isGone)
			.map((change) => `${file}: ${change}`);
	});
}

/**
 * The reasons that nothing needs, because a test notices the mutant now, each as its file and the change.
 *
 * @param {string[]} files all of whose mutants were tried
 * @param {Array<{ file: string, change: string }>} survivors
 */
function needlessReasons(files, survivors) {
	return files.flatMap((file) =>
		Object.keys(reasons[file] ?? {})
			.filter((change) => !survivors.some((one) => one.file === file && one.change === change))
			.map((change) => `${file}: ${change}`),
	);
}

module.exports = { changeOf, needlessReasons, reasonFor, reasonsOfGoneCode };
