import { readFileSync } from 'node:fs';
import path from 'node:path';

import { isCoded } from '../../nodes/XpertAi/execution/operation';
import type { Operation } from '../../nodes/XpertAi/execution/operation';
import { OPERATIONS } from '../nodes/support/properties';
import { expectGenerated, markdownTable, withPart } from '../support/generated';

const README = path.resolve(__dirname, '../../README.md');

/** Method and path as the API's specification writes them, with the number it gives them. */
function endpointOf(operation: Operation): string {
	const { method, path: template } = isCoded(operation) ? operation.request : operation;
	const route = template.replace(/\?.*/, '').replace(/\{\w+\}/g, '{id}');
	const number = operation.endpoint === 'extension' ? '' : `${operation.endpoint} `;
	return `${number}\`${method} ${route}\``;
}

describe('the table of operations in the README', () => {
	it('is the catalogue', () => {
		const rows = OPERATIONS.map(({ resource, operation }) => [
			resource.operations[0] === operation ? resource.name : '',
			operation.name,
			operation.description,
			endpointOf(operation),
		]);
		const table = markdownTable(['Resource', 'Operation', 'What it does', 'Endpoint'], rows);
		expectGenerated(README, withPart(readFileSync(README, 'utf8'), 'operations', table));
	});
});
