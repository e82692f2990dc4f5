// @ts-check
'use strict';

/**
 * Writes all that is made from something else: previews of the output, the surface, the tables and lists of
 * the documentation and of the examples. The tests that hold these files write them (`test/support/generated.ts`).
 */
const { execFileSync } = require('node:child_process');
const { readFileSync, readdirSync } = require('node:fs');
const path = require('node:path');

const root = path.resolve(__dirname, '..');

/** The tests that hold what is generated. */
const generators = readdirSync(path.join(root, 'test'), { recursive: true, encoding: 'utf8' })
	.filter((name) => name.endsWith('.test.ts'))
	.map((name) => path.join('test', name))
	.filter((name) => readFileSync(path.join(root, name), 'utf8').includes("support/generated'"));

/**
 * @param {string} command
 * @param {string[]} args
 */
function run(command, ...args) {
	const env = { ...process.env, GENERATE: '1' };
	execFileSync(command, args, { cwd: root, env, stdio: 'inherit' });
}

run('npm', 'run', 'build');
try {
	const projects = ['--selectProjects', 'unit', 'engine'];
	run('npx', 'jest', ...projects, '--runInBand', '--watchman=false', '--', ...generators);
} finally {
	run('npx', 'prettier', '--write', 'examples/*.json');
}
