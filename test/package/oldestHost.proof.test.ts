import { readFileSync, readdirSync } from 'node:fs';
import path from 'node:path';
import ts from 'typescript';

import { exportedValues } from '../../scripts/exportedValues';
import oldestHosts from './support/oldestN8nWorkflow.json';

const ROOT = path.resolve(__dirname, '../..');

interface Import {
	file: string;
	module: string;
	/** Names of values; a name for types only does not exist when the code runs. */
	values: string[];
}

/** All that the code users install imports. */
const SHIPPED = ['nodes', 'credentials']
	.flatMap((folder) =>
		readdirSync(path.join(ROOT, folder), { recursive: true }).map((file) =>
			path.join(folder, String(file)),
		),
	)
	.filter((file) => file.endsWith('.ts'))
	.flatMap(importsOf);

function importsOf(file: string): Import[] {
	const text = readFileSync(path.join(ROOT, file), 'utf8');
	return ts
		.createSourceFile(file, text, ts.ScriptTarget.ES2022)
		.statements.filter(ts.isImportDeclaration)
		.map(({ moduleSpecifier, importClause }) => ({
			file,
			module: (moduleSpecifier as ts.StringLiteral).text,
			values: importedValues(importClause),
		}));
}

function importedValues(clause?: ts.ImportClause): string[] {
	if (!clause || clause.isTypeOnly) return [];
	const { name, namedBindings } = clause;
	const whole = name ? ['default'] : [];
	if (!namedBindings) return whole;
	if (ts.isNamespaceImport(namedBindings)) return [...whole, '*'];
	const named = namedBindings.elements.filter(({ isTypeOnly }) => !isTypeOnly);
	return [...whole, ...named.map(({ name: own, propertyName }) => (propertyName ?? own).text)];
}

const USED = [
	...new Set(
		SHIPPED.filter(({ module }) => module === 'n8n-workflow').flatMap(({ values }) => values),
	),
].sort();

const compiledWith = exportedValues(
	path.join(ROOT, 'node_modules/n8n-workflow/dist/esm/index.d.ts'),
	USED,
);

/** Parameters that came later, which shipped code does without: it passes `sleep` no signal. */
const DONE_WITHOUT: Record<string, string> = { sleep: ', abortSignal: AbortSignal' };

describe.each(oldestHosts)('n8n $n8n, with n8n-workflow $n8nWorkflow', ({ values }) => {
	const exported: Record<string, string | undefined> = values;

	it('has every value that shipped code imports', () => {
		expect(USED).toContain('NodeApiError');
		expect(USED.filter((name) => exported[name] === undefined)).toEqual([]);
	});

	it('takes the same parameters as the n8n-workflow the code was compiled with', () => {
		expect(USED.map((name) => [name, exported[name]])).toEqual(
			USED.map((name) => [name, compiledWith[name]?.replace(DONE_WITHOUT[name] ?? '', '')]),
		);
	});
});

describe('the oldest hosts', () => {
	const versions = oldestHosts.map(({ n8n }) => n8n);

	it('are those the README names, and the oldest of all stands in the package', () => {
		const readme = readFileSync(path.join(ROOT, 'README.md'), 'utf8');
		for (const version of versions) expect(readme).toContain(version);
		const { engines } = JSON.parse(readFileSync(path.join(ROOT, 'package.json'), 'utf8')) as {
			engines: Record<string, string>;
		};
		expect(engines.n8n).toBe(`>=${versions[0]}`);
		expect(readme).toContain(`Node.js ${engines.node?.replace('>=', '')}`);
	});
});

describe('shipped code', () => {
	it('imports from n8n nothing but n8n-workflow, and of that nothing from inside', () => {
		const ofN8n = SHIPPED.map(({ module }) => module).filter((name) => /n8n/.test(name));
		expect([...new Set(ofN8n)]).toEqual(['n8n-workflow']);
	});

	it('loads nothing but by the imports at the head of its files, and later only files of its own', () => {
		const files = [...new Set(SHIPPED.map(({ file }) => file))];
		const others = files.filter((file) =>
			/\bimport\((?!'\.{1,2}\/)|\brequire\(|^export .* from '/m.test(
				readFileSync(path.join(ROOT, file), 'utf8'),
			),
		);
		expect(others).toEqual([]);
	});
});
