// @ts-check
'use strict';

/** All tests of a room as one file: see loadedOnce.js, and jest.config.js for the names. */
const { BUILT_FILES, TEST_FILES, requireOfHost } = /** @type {any} */ (globalThis);

// What n8n would load by the way of one test is of no test: its mutants have to be tried in a process of their own.
for (const file of BUILT_FILES) requireOfHost(`${process.cwd()}/${file}`);

for (const file of TEST_FILES)
	describe(file, () => {
		require(`../../${file}`);
	});
