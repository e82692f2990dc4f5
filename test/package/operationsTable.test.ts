import { readFileSync } from 'node:fs';
import path from 'node:path';

import { isCoded } from '../../nodes/XpertAi/execution/operation';
import type { Operation } from '../../nodes/XpertAi/execution/operation';
import { operationFields } from '../../nodes/XpertAi/execution/properties';
import { OPERATIONS } from '../nodes/support/properties';
import { expectGenerated, markdownTable, withPart } from '../support/generated';

const ROOT = path.resolve(__dirname, '../..');

/** Method and path as the API's specification writes them, with the number it gives them. */
function endpointOf(operation: Operation): string {
	const { method, path: template } = isCoded(operation) ? operation.request : operation;
	const route = `\`${method} ${template.replace(/\?.*/, '')}\``;
	const { endpoint } = operation;
	return endpoint === 'extension' ? `Xpert AI’s own: ${route}` : `${endpoint} ${route}`;
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
const TABLES = [
	{
		file: 'README.md',
		part: 'operations',
		columns: ['What it does'],
		cells: ({ description }: Operation) => [description],
	},
	{
		file: 'docs/endpoints.md',
		part: 'endpoints',
		columns: ['Endpoint', 'Needs'],
		cells: (operation: Operation) => [endpointOf(operation), needsOf(operation)],
	},
];

describe('the table of operations', () => {
	it.each(TABLES)('in $file is the catalogue', ({ file, part, columns, cells }) => {
		const rows = OPERATIONS.map(({ resource, operation }) => [
			resource.operations[0] === operation ? resource.name : '',
			operation.name,
			...cells(operation),
		]);
		const page = path.join(ROOT, file);
		const table = markdownTable(['Resource', 'Operation', ...columns], rows);
		expectGenerated(page, withPart(readFileSync(page, 'utf8'), part, table));
	});
});
