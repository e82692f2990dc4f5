import { readFileSync } from 'node:fs';
import path from 'node:path';

import { projectRoot } from 'host/paths';
import { requestOf } from '../nodes/support/requests';
import type { Operation } from 'nodes/XpertAi/execution/operation';
import { OPERATIONS } from '../nodes/support/properties';
import { expectGenerated, markdownTable, withPart } from '../support/generated';

/** Method and path as the API's specification writes them, with the number it gives them. */
function endpointCell(operation: Operation): string {
	const { method, path: template } = requestOf(operation);
	const route = `\`${method} ${template.replace(/\?.*/, '').replaceAll('!}', '}')}\``;
	const { endpoint, fallbackEndpoint } = operation;
	if (endpoint !== 'beyond') return `${endpoint} ${route}`;
	return fallbackEndpoint ? `${route}, or ${fallbackEndpoint}` : route;
}

describe('the table of operations', () => {
	it('is the catalogue', () => {
		const page = path.join(projectRoot, 'docs/endpoints.md');
		const rows = OPERATIONS.map(({ resource, operation }) => [
			`${resource.name}: ${operation.name}`,
			operation.description,
			endpointCell(operation),
		]);
		const table = markdownTable(['Operation', 'What it does', 'Request'], rows);
		expectGenerated(page, withPart(readFileSync(page, 'utf8'), 'operations', table));
	});
});
