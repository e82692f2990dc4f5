import { readFileSync } from 'node:fs';
import path from 'node:path';

import { requestOf } from '../nodes/support/requests';
import type { Operation } from '../../nodes/XpertAi/execution/operation';
import { operationFields } from '../../nodes/XpertAi/execution/properties';
import { OPERATIONS } from '../nodes/support/properties';
import { expectGenerated, markdownTable, withPart } from '../support/generated';

const ROOT = path.resolve(__dirname, '../..');

/** Method and path as the API's specification writes them, with the number it gives them. */
function endpointCell(operation: Operation): string {
	const { method, path: template } = requestOf(operation);
	const route = `\`${method} ${template.replace(/\?.*/, '').replaceAll('!}', '}')}\``;
	const { endpoint, fallback } = operation;
	if (endpoint !== 'beyond') return `${endpoint} ${route}`;
	return `Xpert AI’s own: ${route}${fallback ? `, or ${fallback}` : ''}`;
}

/** The parameters that have to be filled in whatever else is chosen. */
function needsOf(operation: Operation): string {
	return operationFields(operation)
		.filter(({ required, displayOptions }) => required && !displayOptions?.show)
		.filter(({ type, default: initial }) => type === 'resourceLocator' || initial === '')
		.map(({ displayName }) => displayName)
		.join(', ');
}

/** A part of a page: a table with a row of each operation, after resource and name. */
interface Table {
	file: string;
	part: string;
	head: string[];
	cells: (operation: Operation) => string[];
}

const TABLES: Table[] = [
	{
		file: 'README.md',
		part: 'operations',
		head: ['Resource', 'Operation', 'What it does'],
		cells: ({ description }) => [description],
	},
	{
		file: 'docs/endpoints.md',
		part: 'endpoints',
		head: ['Resource', 'Operation', 'Endpoint', 'Needs'],
		cells: (operation) => [endpointCell(operation), needsOf(operation)],
	},
];

describe('the table of operations', () => {
	it.each(TABLES)('in $file is the catalogue', ({ file, part, head, cells }) => {
		const page = path.join(ROOT, file);
		const text = readFileSync(page, 'utf8');
		const rows = OPERATIONS.map(({ resource, operation }) => [
			resource.operations[0] === operation ? resource.name : '',
			operation.name,
			...cells(operation),
		]);
		expectGenerated(page, withPart(text, part, markdownTable(head, rows)));
	});
});
