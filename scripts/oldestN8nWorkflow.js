// @ts-check
'use strict';

/**
 * Writes what the n8n-workflow of the oldest hosts exports to test/package/support/oldestN8nWorkflow.json,
 * which test/package/oldestHost.proof.test.ts holds shipped code against. It asks the registry, so it is run by
 * hand when the oldest hosts change: node scripts/oldestN8nWorkflow.js
 */
const { execFileSync } = require('node:child_process');
const { mkdtempSync, rmSync, writeFileSync } = require('node:fs');
const { tmpdir } = require('node:os');
const path = require('node:path');

const { uniqBy } = require('lodash');
const ts = require('typescript');

/** @type {Array<{ n8n: string }>} */
const results = require('../test/hosts/results.json');

/** The oldest n8n of each major version that is tested. */
const OLDEST_HOSTS = uniqBy(
	results.map(({ n8n }) => n8n),
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

/**
 * The values (not the types) a package exports, by name, read off its type declarations. A function stands
 * with what it takes, because that changes between versions too.
 *
 * @param {string} entry the package's `index.d.ts`
 * @param {string[]} [names] those to look at; all without it, which takes longer
 * @returns {Record<string, string>}
 */
function exportedValues(entry, names) {
	const program = ts.createProgram([entry], {
		module: ts.ModuleKind.CommonJS,
		moduleResolution: ts.ModuleResolutionKind.Node10,
		target: ts.ScriptTarget.ES2022,
		skipLibCheck: true,
		types: [],
	});
	const checker = program.getTypeChecker();
	const source = program.getSourceFile(entry);
	const module = source && checker.getSymbolAtLocation(source);
	if (!module) throw new Error(`${entry} is no module`);
	const values = checker.getExportsOfModule(module).flatMap((symbol) => {
		if (names && !names.includes(symbol.name)) return [];
		const isAlias = symbol.flags & ts.SymbolFlags.Alias;
		const value = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
		if (!(value.flags & ts.SymbolFlags.Value)) return [];
		return [[symbol.name, takenBy(checker, checker.getTypeOfSymbol(value))]];
	});
	return Object.fromEntries(values.sort(([a = ''], [b = '']) => (a < b ? -1 : 1)));
}

/**
 * @param {import('typescript').TypeChecker} checker
 * @param {import('typescript').Type} type
 */
function takenBy(checker, type) {
	const parameters = type
		.getCallSignatures()
		.map((signature) =>
			signature.parameters
				.map(
					(parameter) =>
						`${parameter.name}: ${checker.typeToString(checker.getTypeOfSymbol(parameter))}`,
				)
				.join(', '),
		);
	return parameters.map((list) => `(${list})`).join(' | ');
}

function main() {
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
}

module.exports = { exportedValues };

if (require.main === module) main();
