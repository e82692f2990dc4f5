// @ts-check
'use strict';

/**
 * Tries the packed node in real n8n hosts, one after another, and writes what passed to
 * test/hosts/results.json, the README and package.json: npm run test:hosts [-- <version> …]. A version is one of
 * host/versions.ts, `pinned`, any other number of n8n, or `newest`, the newest n8n 2; of the last two nothing is written.
 * n8n 3 is not tried: it comes as an image for Docker only, which npm cannot install.
 */
const { spawnSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

/** @param {string} name of a module of host/, as it was compiled before */
const host = (name) => require(`../host/dist/${name}`);
/** @type {typeof import('../host/install')} */
const { ensureN8n } = host('install');
/** @type {typeof import('../host/messages')} */
const { progressPrinter, reasonOf } = host('messages');
/** @type {typeof import('../host/installation')} */
const { nodeForN8n } = host('installation');
/** @type {typeof import('../host/nodePackage')} */
const { preparePackage } = host('nodePackage');
/** @type {typeof import('../host/versions')} */
const { TESTED_VERSIONS, makeLockFile, newestN8n, testedVersion } = host('versions');

/**
 * What passed in a version of n8n, in words, and on which Node.js.
 *
 * @typedef {object} HostResult
 * @property {string} n8n
 * @property {string} reason why this version
 * @property {string} nodejs
 * @property {string[]} steps
 * @property {string[]} [lacks] names of nodes that it has in an older version than the examples
 * @property {number} [engineTests] how many engine tests passed on its n8n-core
 */

/** @typedef {Map<string, HostResult | undefined>} Tried by version; undefined: not everything passed */

const ROOT = path.resolve(__dirname, '..');
const RESULTS = path.join(ROOT, 'test', 'hosts', 'results.json');
const JEST = path.join(ROOT, 'node_modules', 'jest', 'bin', 'jest.js');
const say = progressPrinter();

/**
 * Runs a project of jest against a version of n8n.
 *
 * @param {string} project
 * @param {string} n8n
 * @returns the names of the tests that passed; undefined when one did not
 */
function runJest(project, n8n) {
	const folder = mkdtempSync(path.join(tmpdir(), 'hosts-'));
	const outputFile = path.join(folder, 'results.json');
	const { status } = spawnSync(
		process.execPath,
		// The sandbox is loaded outside jest, which cannot tell that it has closed.
		[
			JEST,
			...['--selectProjects', project, '--watchman=false', '--forceExit'],
			...['--json', `--outputFile=${outputFile}`],
		],
		{
			cwd: ROOT,
			env: { ...process.env, XPERTAI_HOST: n8n },
			stdio: ['ignore', 'ignore', 'inherit'],
		},
	);
	if (status !== 0) return undefined;
	/** @type {{ testResults: Array<{ assertionResults: Array<{ status: string, title: string }> }> }} */
	const { testResults } = JSON.parse(readFileSync(outputFile, 'utf8'));
	rmSync(folder, { recursive: true });
	return testResults
		.flatMap(({ assertionResults }) => assertionResults)
		.filter(({ status: of }) => of === 'passed')
		.map(({ title }) => title);
}

/** @param {import('../host/versions').TestedVersion} version */
async function tryHost({ n8n, reason, installation, lacks }) {
	say(`n8n ${n8n}`);
	if (!isListed(n8n)) await makeLockFile(say, n8n);
	await ensureN8n(say, installation);
	const steps = runJest('hosts', n8n);
	if (steps === undefined) return undefined;
	const nodejs = spawnSync(nodeForN8n(installation), ['-p', 'process.versions.node'], {
		encoding: 'utf8',
	}).stdout.trim();
	const isOldest = n8n === TESTED_VERSIONS[0]?.n8n;
	const engine = isOldest ? runJest('oldestEngine', n8n) : [];
	if (engine === undefined) return undefined;
	say(`n8n ${n8n}: all ${steps.length} steps and ${engine.length} engine tests passed`);
	return {
		n8n,
		reason,
		nodejs,
		steps,
		...(lacks && { lacks: lacks.map(({ displayName }) => displayName) }),
		...(isOldest && { engineTests: engine.length }),
	};
}

/** @param {string} n8n */
const isListed = (n8n) => TESTED_VERSIONS.some((version) => version.n8n === n8n);

/**
 * The versions to try.
 *
 * @param {string[]} named
 */
async function versionsOf(named) {
	if (named.length === 0) return TESTED_VERSIONS;
	return await Promise.all(
		named.map(async (name) => testedVersion(name === 'newest' ? await newestN8n() : name)),
	);
}

async function main() {
	await preparePackage(say);
	/** @type {Tried} */
	const tried = new Map();
	for (const version of await versionsOf(process.argv.slice(2))) {
		const result = await tryHost(version).catch((error) => {
			say(reasonOf(error));
			return undefined;
		});
		tried.set(version.n8n, result);
	}
	if ([...tried.keys()].some(isListed)) writeResults(tried);
	const failed = [...tried].filter(([, result]) => !result).map(([n8n]) => n8n);
	if (failed.length > 0) throw new Error(`The node did not pass in n8n ${failed.join(', ')}.`);
}

/**
 * Puts what was tried in place of what was known, also where it did not pass.
 *
 * @param {Tried} tried
 */
function writeResults(tried) {
	/** @type {HostResult[]} */
	const before = JSON.parse(readFileSync(RESULTS, 'utf8'));
	const results = TESTED_VERSIONS.flatMap(({ n8n }) =>
		tried.has(n8n) ? (tried.get(n8n) ?? []) : before.filter((result) => result.n8n === n8n),
	);
	writeFileSync(RESULTS, `${JSON.stringify(results, null, '\t')}\n`);
	const prettier = path.join(ROOT, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
	spawnSync(process.execPath, [prettier, '--write', RESULTS], { cwd: ROOT });
	// The test that holds the pages to the results writes them.
	const args = [JEST, '--selectProjects', 'unit', '--watchman=false', 'test/package/compatibility'];
	const env = { ...process.env, GENERATE: '1' };
	spawnSync(process.execPath, args, { cwd: ROOT, env, stdio: 'inherit' });
}

main().catch((error) => {
	say(reasonOf(error));
	process.exitCode = 1;
});
