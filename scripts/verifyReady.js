// @ts-check
'use strict';

/**
 * Runs all of docs/publishing.md's checklist that can be run before a release: `npm run verify:ready`. Says of each point
 * whether it holds, and ends with 1 where one does not.
 */
const { spawnSync } = require('node:child_process');
const path = require('node:path');

const ROOT = path.resolve(__dirname, '..');

/** What stands in package.json until the owner of the repository is known. */
const PLACEHOLDER =
	/\.example\b|The n8n-nodes-xpertai authors|\bn8n-nodes-xpertai\/n8n-nodes-xpertai\b/;

/**
 * The fields of a package.json that only the owner of the repository can fill in, and has not.
 *
 * @param {Record<string, unknown>} manifest
 * @returns {string[]} each as `field: value`
 */
function placeholders({ author, homepage, repository, bugs }) {
	return Object.entries({ author, homepage, repository, bugs })
		.map(([field, value]) => `${field}: ${JSON.stringify(value)}`)
		.filter((line) => line.endsWith('undefined') || PLACEHOLDER.test(line));
}

/** Each point with the npm script that proves it. */
const COMMANDS = {
	'it builds, and loads as n8n loads it': ['build'],
	"n8n's rules hold, and types": ['lint'],
	"n8n's scanner passes on the source and on the tarball": ['test:proofs', 'test/package/scanner'],
	"n8n's tool calls it eligible for n8n Cloud": ['test:unit', 'test/package/cloudSupport'],
	'all of it is in English': ['test:unit', 'test/package/pages'],
};

function main() {
	const failed = Object.entries(COMMANDS).flatMap(([point, [script = '', ...files]]) => {
		const args = ['run', script, ...(files.length > 0 ? ['--', ...files] : [])];
		const { status } = spawnSync('npm', args, { cwd: ROOT, stdio: 'inherit' });
		return status === 0 ? [] : [`${point}: npm ${args.join(' ')}`];
	});
	const open = placeholders(require('../package.json')).map(
		(line) => `package.json has a placeholder that only the owner can replace: ${line}`,
	);
	const points = [...failed, ...open];
	const verdict = points.length === 0 ? 'Ready to be released.' : 'Not ready to be released:';
	process.stdout.write(`\n${[verdict, ...points].join('\n- ')}\n`);
	process.exitCode = points.length === 0 ? 0 : 1;
}

module.exports = { placeholders };

if (require.main === module) main();
