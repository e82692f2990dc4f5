// @ts-check
'use strict';

/**
 * Changes the lines that keep the promises, one at a time (StrykerJS), and sees whether a test notices: room by
 * room, or the rooms and files that are named (`npm run test:mutation -- transport runs/start`). Writes what came of it to
 * .stryker/mutants.json, which the nightly run keeps (nightly.yml), and fails where a room is below its least share.
 * Survivors are printed but for those with a reason in test/mutation/survivors.json.
 */
const { spawnSync } = require('node:child_process');
const { existsSync, readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');

const { sortBy } = require('lodash');

const rooms = require('../test/mutation/rooms.js');
const reasons = require('../test/mutation/survivors.json');

const ROOT = join(__dirname, '..');
const RESULTS = join(ROOT, '.stryker/mutants.json');
const STRYKER = join(
	dirname(createRequire(__filename).resolve('@stryker-mutator/core/package.json')),
	'bin/stryker.js',
);

/** What counts as noticed: a mutant that never ends is ended by whoever waits for it. */
const NOTICED = ['Killed', 'Timeout'];
const UNNOTICED = ['Survived', 'NoCoverage'];

/** @typedef {{ killed: number, all: number }} Count */

/**
 * Runs Stryker over a room, or over a file of it.
 *
 * @param {string} room
 * @param {string} [file]
 * @returns {{ files: Record<string, { source: string, mutants: any[] }> }} its report (mutation-testing-report-schema)
 */
function mutate(room, file) {
	const only = file === undefined ? [] : ['--mutate', file];
	const { status } = spawnSync(
		process.execPath,
		[STRYKER, 'run', 'test/mutation/stryker.config.mjs', ...only],
		{
			cwd: ROOT,
			env: { ...process.env, MUTATED_ROOM: room },
			stdio: 'inherit',
		},
	);
	if (status !== 0) throw new Error(`the mutants of ${room} could not be tried`);
	return JSON.parse(readFileSync(join(ROOT, `.stryker/reports/${room}.json`), 'utf8'));
}

/**
 * What a mutant replaces, in one line.
 *
 * @param {string} source
 * @param {{ location: { start: any, end: any }, mutatorName: string, replacement?: string }} mutant
 */
function described(source, { location: { start, end }, mutatorName, replacement = '' }) {
	const lines = source.split('\n').slice(start.line - 1, end.line);
	lines[lines.length - 1] = (lines.at(-1) ?? '').slice(0, end.column - 1);
	lines[0] = (lines[0] ?? '').slice(start.column - 1);
	const plain = (/** @type {string} */ text) => text.replace(/\s+/g, ' ').trim().slice(0, 100);
	return { mutator: mutatorName, from: plain(lines.join('\n')), to: plain(replacement) };
}

/**
 * @param {string} room
 * @param {string} [only]
 */
function resultsOf(room, only) {
	const { files } = mutate(room, only);
	const survivors = [];
	/** @type {Record<string, Count>} */
	const counts = {};
	for (const [file, { source, mutants }] of Object.entries(files)) {
		const killed = mutants.filter(({ status }) => NOTICED.includes(status)).length;
		const unnoticed = mutants.filter(({ status }) => UNNOTICED.includes(status));
		counts[file] = { killed, all: killed + unnoticed.length };
		for (const mutant of unnoticed)
			survivors.push({ file, line: mutant.location.start.line, ...described(source, mutant) });
	}
	return { counts, survivors };
}

/** @param {Record<string, Count>} counts */
function shareOf(counts) {
	const all = Object.values(counts);
	const sum = (/** @type {'killed' | 'all'} */ key) =>
		all.reduce((total, one) => total + one[key], 0);
	return (100 * sum('killed')) / Math.max(1, sum('all'));
}

const results = existsSync(RESULTS) ? JSON.parse(readFileSync(RESULTS, 'utf8')) : {};
const wanted = process.argv.length > 2 ? process.argv.slice(2) : Object.keys(rooms);
let failed = 0;
for (const one of wanted) {
	const [room = '', ...names] = one.split('/');
	const { folder, least } = rooms[room] ?? {};
	if (folder === undefined) throw new Error(`${one} is no room, nor a file of one`);
	const only = names.length === 0 ? undefined : `${folder}/${names.join('/')}.ts`;
	const { counts, survivors } = resultsOf(room, only);
	// The other files of the room stand as they were tried last.
	const before = only === undefined ? undefined : results[room];
	const others = before?.survivors.filter((/** @type {any} */ { file }) => !(file in counts)) ?? [];
	results[room] = {
		counts: { ...before?.counts, ...counts },
		survivors: sortBy([...others, ...survivors], 'file', 'line'),
	};
	writeFileSync(RESULTS, `${JSON.stringify(results, null, '\t')}\n`);
	const share = shareOf(counts);
	const unexplained = survivors.filter(
		({ file, from, to }) => /** @type {any} */ (reasons)[file]?.[`${from} → ${to}`] === undefined,
	);
	console.log(
		`${one}: ${share.toFixed(1)} % of the mutants are noticed, ${survivors.length} are not, ${unexplained.length} of them without a reason`,
	);
	for (const { file, line, from, to } of unexplained)
		console.log(`  ${file}:${line}  ${from}  ->  ${to}`);
	if (share < (least ?? 0)) failed += 1;
}
process.exitCode = failed > 0 ? 1 : 0;
