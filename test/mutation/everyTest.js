// @ts-check
'use strict';

/** All tests of a room as one file: see loadedOnce.js, and jest.config.js for the names. */
const { TEST_FILES } = /** @type {any} */ (globalThis);

for (const file of TEST_FILES)
	describe(file, () => {
		require(`../../${file}`);
	});
