// @ts-check
'use strict';

/**
 * Writes what the n8n-workflow of the oldest hosts exports to test/package/support/oldestN8nWorkflow.json,
 * which test/package/oldestHost.test.ts holds shipped code against. It asks the registry, so it is run by
 * hand when the oldest hosts change: node scripts/oldestN8nWorkflow.js
 */
const { execFileSync } = require('node:child_process');
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const { uniqBy } = require('lodash');

const { readResults } = require('./compatibility');
const { exportedValues } = require('./exportedValues');

/** The oldest n8n of each major version that is tested. */
const OLDEST_HOSTS = uniqBy(
	readResults().map(({ n8n }) => n8n),
	(n8n) => n8n.split('.')[0],
);

const FILE = path.resolve(__dirname, '../test/package/support/oldestN8nWorkflow.json');

/**
 * @param {string} command
 * @param {string[]} parameters
 * @param {string} cwd
 */
function run(command, parameters, cwd) {
	const stdio = /** @type {const} */ (['ignore', 'pipe', 'inherit']);
	return execFileSync(command, parameters, { cwd, encoding: 'utf8', stdio: [...stdio] }).trim();
}

const folder = mkdtempSync(path.join(tmpdir(), 'n8n-workflow-'));
const hosts = OLDEST_HOSTS.map((n8n) => {
	const n8nWorkflow = run('npm', ['view', `n8n@${n8n}`, 'dependencies.n8n-workflow'], folder);
	const tarball = run('npm', ['pack', '--silent', `n8n-workflow@${n8nWorkflow}`], folder);
	run('tar', ['-xzf', tarball], folder);
	const values = exportedValues(path.join(folder, 'package/dist/esm/index.d.ts'));
	rmSync(path.join(folder, 'package'), { recursive: true });
	return { n8n, n8nWorkflow, values };
});
rmSync(folder, { recursive: true });
writeFileSync(FILE, `${JSON.stringify(hosts, null, '\t')}\n`);
