// @ts-check
'use strict';

/**
 * Changes the lines that keep the promises, one at a time (StrykerJS), and sees whether a test notices: room by
 * room, or the rooms and files that are named (`npm run test:mutation -- transport runs/start`). `MUTANTS_SHARE=0.2`
 * tries a sample, another one with each `MUTANTS_SEED`; `tonight` is the room that belongs to the seed. Fails where too few
 * are noticed, or too many have a reason in test/mutation/survivors.json why they are not.
 */
const { spawnSync } = require('node:child_process');
const { readFileSync, writeFileSync } = require('node:fs');
const { createRequire } = require('node:module');
const { dirname, join } = require('node:path');

const { partition, sortBy } = require('lodash');

const {
	changeOf,
	needlessReasons,
	reasonFor,
	reasonsOfGoneCode,
} = require('../test/mutation/reasons.js');
const rooms = require('../test/mutation/rooms.js');

const ROOT = join(__dirname, '..');
const STRYKER = join(
	dirname(createRequire(__filename).resolve('@stryker-mutator/core/package.json')),
	'bin/stryker.js',
);

/** In percent of all that are tried. */
const LEAST_NOTICED = 90;
const MOST_WITH_REASON = 3;

/** What counts as noticed: a mutant that never ends is ended by whoever waits for it. */
const NOTICED = ['Killed', 'Timeout'];
const UNNOTICED = ['Survived', 'NoCoverage'];

/** @typedef {{ file: string, line: number, change: string }} Mutant */

/**
 * Runs Stryker over a room, or over a file of it.
 *
 * @param {string} room
 * @param {string[]} only
 * @returns {{ files: string[], noticed: number, survivors: Mutant[] }}
 */
function mutate(room, only) {
	const { status } = spawnSync(
		process.execPath,
		[STRYKER, 'run', 'test/mutation/stryker.config.mjs', ...only],
		{ cwd: ROOT, env: { ...process.env, MUTATED_ROOM: room }, stdio: 'inherit' },
	);
	if (status !== 0) throw new Error(`the mutants of ${room} could not be tried`);
	/** @type {{ files: Record<string, { source: string, mutants: any[] }> }} mutation-testing-report-schema */
	const { files } = JSON.parse(readFileSync(join(ROOT, `.stryker/reports/${room}.json`), 'utf8'));
	const all = Object.entries(files).flatMap(([file, { source, mutants }]) =>
		mutants.map((mutant) => ({
			file,
			line: mutant.location.start.line,
			status: mutant.status,
			change: changeOf(source, mutant),
		})),
	);
	return {
		files: Object.keys(files),
		noticed: all.filter((one) => NOTICED.includes(one.status)).length,
		survivors: sortBy(
			all.filter((one) => UNNOTICED.includes(one.status)),
			['file', 'line'],
		),
	};
}

/**
 * Tries a room, or a file of it, and prints what no test notices for no reason.
 *
 * @param {string} one
 */
function tryOne(one) {
	const [room = '', ...names] = one.split('/');
	const folder = rooms[room]?.folder;
	if (folder === undefined) throw new Error(`${one} is no room, nor a file of one`);
	const only = names.length === 0 ? [] : ['--mutate', `${folder}/${names.join('/')}.ts`];
	const { files, noticed, survivors } = mutate(room, only);
	const all = noticed + survivors.length;
	const [explained, unexplained] = partition(survivors, reasonFor);
	const needless = process.env.MUTANTS_SHARE ? [] : needlessReasons(files, survivors);
	const percent = (/** @type {number} */ count) => (100 * count) / Math.max(1, all);
	const said = (/** @type {number} */ count) => `${count} (${percent(count).toFixed(1)} %)`;
	console.log(
		`${one}: of ${all} mutants ${said(noticed)} are noticed, ${said(explained.length)} are not for a reason, ${said(unexplained.length)} without one`,
	);
	for (const { file, line, change } of unexplained) console.log(`  ${file}:${line}  ${change}`);
	sayNotNeeded('a test notices it now', needless);
	// A sample may be off by two standard deviations.
	const off = process.env.MUTANTS_SHARE ? 60 / Math.sqrt(Math.max(1, all)) : 0;
	const isHeld =
		percent(noticed) >= LEAST_NOTICED - off &&
		percent(explained.length) <= MOST_WITH_REASON + off &&
		needless.length === 0;
	return { one, all, noticed, explained, unexplained, needless, isHeld };
}

/**
 * @param {string} why
 * @param {string[]} changes
 */
function sayNotNeeded(why, changes) {
	for (const change of changes)
		console.log(`  take it out of test/mutation/survivors.json, as ${why}: ${change}`);
}

const names = Object.keys(rooms);
const tonight = names[Number(process.env.MUTANTS_SEED ?? 0) % names.length] ?? '';
const wanted = process.argv.slice(2).map((name) => (name === 'tonight' ? tonight : name));
const results = (wanted.length > 0 ? wanted : names).map(tryOne);
writeFileSync(join(ROOT, '.stryker/mutants.json'), `${JSON.stringify(results, null, '\t')}\n`);
const gone = reasonsOfGoneCode();
sayNotNeeded('its code is gone', gone);
process.exitCode = gone.length === 0 && results.every(({ isHeld }) => isHeld) ? 0 : 1;
