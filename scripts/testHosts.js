// @ts-check
'use strict';

/**
 * Tries the packed node in real n8n hosts, one after another, and writes what passed to
 * test/hosts/results.json, the README and package.json: npm run test:hosts [-- <version> …]
 */
const { spawnSync } = require('node:child_process');
const { mkdtempSync, readFileSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const { ensureN8n } = require('../host/dist/install');
const { progressPrinter, reasonOf } = require('../host/dist/messages');
const { nodeForN8n } = require('../host/dist/nodeBinary');
const { preparePackage } = require('../host/dist/nodePackage');
const { TESTED_VERSIONS, testedVersion } = require('../host/dist/versions');
const { RESULTS, readResults, writeCompatibility } = require('./compatibility');

const ROOT = path.resolve(__dirname, '..');
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
		[JEST, '--selectProjects', project, '--watchman=false', '--json', `--outputFile=${outputFile}`],
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

async function main() {
	await preparePackage(say);
	const named = process.argv.slice(2);
	const versions = named.length > 0 ? named.map((n8n) => testedVersion(n8n)) : TESTED_VERSIONS;
	const passed = new Map(readResults().map((result) => [result.n8n, result]));
	/** @type {string[]} */
	const failed = [];
	for (const version of versions) {
		const result = await tryHost(version);
		if (result) passed.set(version.n8n, result);
		else {
			passed.delete(version.n8n);
			failed.push(version.n8n);
		}
	}
	const results = TESTED_VERSIONS.flatMap(({ n8n }) => passed.get(n8n) ?? []);
	writeFileSync(RESULTS, `${JSON.stringify(results, null, '\t')}\n`);
	if (results.length === TESTED_VERSIONS.length) writeCompatibility(results);
	const prettier = path.join(ROOT, 'node_modules', 'prettier', 'bin', 'prettier.cjs');
	spawnSync(process.execPath, [prettier, '--write', RESULTS, 'README.md', 'package.json'], {
		cwd: ROOT,
	});
}

main().catch((error) => {
	say(reasonOf(error));
	process.exitCode = 1;
});
