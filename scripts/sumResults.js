// @ts-check
'use strict';

/** Prints how many tests passed and failed in all the runs of jest that left their counts in a folder. */
const { existsSync, readdirSync, readFileSync } = require('node:fs');
const { join } = require('node:path');

const folder = process.argv[2] ?? '';
let passed = 0;
let failed = 0;
for (const name of existsSync(folder) ? readdirSync(folder) : []) {
	const counts = JSON.parse(readFileSync(join(folder, name), 'utf8'));
	passed += counts.passed;
	failed += counts.failed;
}
console.log(`${passed} passed, ${failed} failed`);
