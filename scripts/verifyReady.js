// @ts-check
'use strict';

/**
 * Runs what n8n asks of verified packages and can be run before a release (docs/maintaining.md): `npm run verify:ready`. Says of each
 * point whether it holds, and ends with 1 where one does not.
 */
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const { author, homepage, repository, bugs } = require('../package.json');

/** What stands in package.json until the owner of the repository is known. */
const PLACEHOLDER =
	/\.example\b|The n8n-nodes-xpertai authors|\bn8n-nodes-xpertai\/n8n-nodes-xpertai\b/;

/** Each point with the npm script that proves it. */
const COMMANDS = {
	'it builds, and loads as n8n loads it': 'build',
	"n8n's rules hold, and types": 'lint',
	"n8n's scanner passes on the source and on the tarball": 'test:proofs -- test/package/scanner',
	"n8n's tool calls it eligible for n8n Cloud": 'test:unit -- test/package/cloudSupport',
	'all of it is in English': 'test:unit -- test/package/pages',
};

const failed = Object.entries(COMMANDS).flatMap(([point, script]) => {
	const args = ['run', ...script.split(' ')];
	const { status } = spawnSync('npm', args, { cwd: path.dirname(__dirname), stdio: 'inherit' });
	return status === 0 ? [] : [`${point}: npm run ${script}`];
});
const open = Object.entries({ author, homepage, repository, bugs })
	.map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
	.filter((line) => line.endsWith('undefined') || PLACEHOLDER.test(line))
	.map((line) => `package.json has a placeholder that only the owner can replace: ${line}`);
const points = [...failed, ...open];
const verdict = points.length === 0 ? 'Ready to be released.' : 'Not ready to be released:';
process.stdout.write(`\n${[verdict, ...points].join('\n- ')}\n`);
process.exitCode = points.length === 0 ? 0 : 1;
