// @ts-check
'use strict';

const { createEmptyTestResult } = require('@jest/test-result');
const { default: circus } = require('jest-circus/runner');

/** @typedef {import('@jest/test-result').TestResult} TestResult */

/**
 * The result of a file that is left out: jest takes one without any test for broken.
 *
 * @type {TestResult}
 */
const LEFT_OUT = {
	...createEmptyTestResult(),
	numPendingTests: 1,
	testResults: [
		{
			ancestorTitles: [],
			failureDetails: [],
			failureMessages: [],
			fullName: 'left out',
			numPassingAsserts: 0,
			status: 'pending',
			title: 'left out',
		},
	],
};

/**
 * The names of the tests of each file that has run in this process.
 *
 * @type {Map<string, string[]>}
 */
const namesOf = new Map();

/** Which mutant was tried last, and whether a test has noticed it. */
let last = { mutant: '', isNoticed: false };

/**
 * Runs a test file as jest does, but leaves it out where that can say nothing more of the mutant that is tried: a test
 * has noticed it already, or none of the file comes by it. Loading files takes most of the time of a mutant, and
 * Stryker has jest load all that import the changed file, and to the last.
 *
 * @param {import('@jest/types').Config.GlobalConfig} globalConfig with the names of the tests that come by the mutant
 * @param {import('@jest/types').Config.ProjectConfig} config
 * @param {import('@jest/environment').JestEnvironment} environment
 * @param {any} runtime
 * @param {string} path
 * @param {any} [tell]
 * @returns {Promise<TestResult>}
 */
module.exports = async function runIfNeedful(
	globalConfig,
	config,
	environment,
	runtime,
	path,
	tell,
) {
	const mutant = process.env.__STRYKER_ACTIVE_MUTANT__ ?? '';
	if (mutant !== last.mutant) last = { mutant, isNoticed: false };
	const comesBy = new RegExp(globalConfig.testNamePattern ?? '', 'i');
	const isPassedBy = namesOf.get(path)?.every((name) => !comesBy.test(name)) ?? false;
	if (mutant !== '' && (last.isNoticed || isPassedBy)) return { ...LEFT_OUT };

	const result = await circus(globalConfig, config, environment, runtime, path, tell);
	namesOf.set(
		path,
		result.testResults.map(({ fullName }) => fullName),
	);
	last.isNoticed ||= result.numFailingTests > 0;
	return result;
};
