// @ts-check
'use strict';

/**
 * Writes all that is made from something else: previews of the output, the surface, the tables and lists of
 * the documentation and of the examples. The tests that hold these files write them (`test/support/generated.ts`).
 */
const { spawnSync } = require('node:child_process');
const { readFileSync, readdirSync } = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');

/** The tests that hold what is generated. */
const generators = readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.test.ts'))
	.map((name) => path.join('test', name))
	.filter((name) => readFileSync(path.join(root, name), 'utf8').includes("support/generated'"));

/** @type {string[]} */
const failed = [];

/**
 * @param {string} step what it does, where it fails
 * @param {string[]} command
 */
function run(step, [command = '', ...args]) {
	const env = { ...process.env, GENERATE: '1' };
	const { status } = spawnSync(command, args, { cwd: root, env, stdio: 'inherit' });
	if (status !== 0) failed.push(step);
	return status === 0;
}

if (run('the build', ['npm', 'run', 'build'])) {
	const jest = ['npx', 'jest', '--selectProjects', 'unit', 'engine', '--runInBand'];
	run('writing', [...jest, '--noStackTrace', '--', ...generators]);
	run('laying out the examples', [
		'npx',
		'prettier',
		'--write',
		'--log-level',
		'warn',
		'examples/*.json',
	]);
}
if (failed.length > 0) {
	console.error(`npm run generate: ${failed.join(' and ')} failed, for what is said above.`);
	process.exitCode = 1;
}
