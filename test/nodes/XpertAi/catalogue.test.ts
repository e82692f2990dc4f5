import { readFileSync } from 'node:fs';
import path from 'node:path';

import { globSync } from 'fast-glob';
import { map, range, sortBy, uniq, without } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';

import { projectRoot } from 'host/paths';
import { catalogue } from 'nodes/XpertAi/catalogue';
import { XpertAi } from 'nodes/XpertAi/XpertAi.node';
import { isCoded } from 'nodes/XpertAi/execution/operation';
import { operationFields } from 'nodes/XpertAi/execution/nodeProperties';

import { OPERATIONS, allProperties, endpointOf } from '../support/properties';

/** What an operation is called that changes nothing. */
const READS = /^(Check|Count|Find|Get|List|Search|Test)\b/;

/** All code that may read a field. */
const CODE = globSync('nodes/XpertAi/**/*.ts', { cwd: projectRoot })
	.map((file) => readFileSync(path.join(projectRoot, file), 'utf8'))
	.join('\n');

/** Whether code reads a field: by its path (`'options.timeout'`), out of settings or a parameter, or by its name. */
function isRead(name: string): boolean {
	const braces = `\\{[^{}]*\\b${name}\\b[^{}]*\\}`;
	const taken = `${braces}((: \\w+)?\\)? =[^=>]|\\) =>)|function \\w+\\((\\w+: \\w+, )?${braces}`;
	const byName = `(?<!(Field|[lL]ocator)\\(\\s*|name: )'${name}'`;
	return new RegExp(`\\.${name}\\b|${taken}|${byName}`).test(CODE);
}

describe('the catalogue', () => {
	it('has every endpoint of the contract', () => {
		const declared = OPERATIONS.flatMap(
			({ operation: { endpoint, fallbackEndpoint = endpoint } }) => fallbackEndpoint,
		);
		const numbers = without(uniq(declared), 'beyond').map((endpoint) => Number(endpoint.slice(1)));
		expect(sortBy(numbers)).toEqual(range(1, 18));
	});

	it.each(OPERATIONS)('gives $title the endpoint of its route', ({ operation }) => {
		const route = endpointOf(operation);
		expect(operation.endpoint).toBe(/^E\d+$/.test(route) ? route : 'beyond');
	});

	it('lets nobody set how many go at once of what only reads, and one after another what changes something', () => {
		const declared = OPERATIONS.filter(({ operation }) => !isCoded(operation));
		const advice = `What only reads is \`repeatable\` and called ${READS.source}; what else is, may change something`;
		for (const { operation, title } of declared) {
			const options = operationFields(operation).find(({ name }) => name === 'options')?.options;
			const atOnce = options?.find(({ name }) => name === 'concurrency') as INodeProperties;
			const onlyReads = READS.test(operation.name);
			expect({ advice, [title]: atOnce?.default }).toEqual({
				advice,
				[title]: onlyReads ? undefined : 1,
			});
		}
	});

	it('has no field that no code reads', () => {
		// The fields of a body are read together.
		const fields = OPERATIONS.flatMap(({ operation, title }) =>
			allProperties(isCoded(operation) ? operation.fields : (operation.options ?? []), title),
		);
		const unread = fields.filter(({ property }) => !isRead(property.name));
		const advice = "read these, as item.setting('options.<name>', <schema>) does, or take them out";
		expect({ [advice]: map(unread, 'place') }).toEqual({ [advice]: [] });
	});

	it('names no resource twice, and no operation twice within one', () => {
		for (const names of [
			catalogue.map(({ name }) => name),
			...catalogue.map(({ operations }) => operations.map(({ name }) => name)),
			OPERATIONS.map(({ operation }) => operation.action),
		]) {
			expect(new Set(names).size).toBe(names.length);
		}
	});
});

describe('the node', () => {
	const { description, methods } = new XpertAi();

	it('offers what the catalogue has', () => {
		const [resource] = description.properties;
		expect(resource?.options?.map((option) => 'value' in option && option.value)).toEqual(
			catalogue.map(({ value }) => value),
		);
	});

	it('lists Submit first, and asks an assistant where nothing is chosen', () => {
		expect(OPERATIONS[0]?.title).toBe('document: submit');
		const [resource, ...others] = description.properties;
		const operations = others.find(
			({ name, displayOptions }) =>
				name === 'operation' && displayOptions?.show?.resource?.includes(String(resource?.default)),
		);
		expect([resource?.default, operations?.default]).toEqual(['thread', 'run']);
	});

	it('needs the one credential, may be a tool, and has icons for light and dark', () => {
		expect(description.credentials).toEqual([{ name: 'xpertAiApi', required: true }]);
		expect(description.usableAsTool).toBe(true);
		expect(Object.keys(description.icon as object).sort()).toEqual(['dark', 'light']);
		expect(description.subtitle).toContain('$parameter["operation"]');
	});

	it('has every method its properties ask for', () => {
		const asked = JSON.stringify(description.properties).matchAll(
			/"(?:resourceMapperMethod|searchListMethod|loadOptionsMethod)":"(\w+)"/g,
		);
		const names = new Set([...asked].map(([, name]) => name));
		const offered = Object.values(methods ?? {}).flatMap((group) => Object.keys(group));
		expect(offered.sort()).toEqual([...names].sort());
	});
});
