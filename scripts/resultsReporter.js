// @ts-check
'use strict';

const { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } = require('node:fs');
const { join } = require('node:path');

/**
 * Leaves the counts of a run of jest in the folder `TEST_RESULTS`, where one is named; run with a folder, adds
 * them up: `node scripts/resultsReporter.js <folder>`.
 */
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
		const counts = [numPassedTests, numFailedTests + numRuntimeErrorTestSuites];
		writeFileSync(join(folder, `${process.pid}.json`), JSON.stringify(counts));
	}
};

if (require.main === module) {
	const folder = process.argv[2] ?? '';
	let [passed, failed] = [0, 0];
	for (const name of existsSync(folder) ? readdirSync(folder) : []) {
		const [good, bad] = JSON.parse(readFileSync(join(folder, name), 'utf8'));
		passed += good;
		failed += bad;
	}
	console.log(`${passed} passed, ${failed} failed`);
}
