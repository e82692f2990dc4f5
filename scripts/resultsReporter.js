// @ts-check
'use strict';

const { mkdirSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

/** Leaves the counts of a run of jest in the folder `TEST_RESULTS`, where one is named; CI adds them up. */
module.exports = class ResultsReporter {
	/**
	 * @param {unknown} _contexts
	 * @param {Record<'numPassedTests' | 'numFailedTests' | 'numRuntimeErrorTestSuites', number>} results
	 */
	onRunComplete(_contexts, { numPassedTests, numFailedTests, numRuntimeErrorTestSuites }) {
		const folder = process.env.TEST_RESULTS;
		if (!folder) return;
		mkdirSync(folder, { recursive: true });
		// A suite that cannot even be loaded has no tests that could fail.
		const counts = { passed: numPassedTests, failed: numFailedTests + numRuntimeErrorTestSuites };
		writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(counts));
	}
};
