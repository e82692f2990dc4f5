import { findOperation } from '../../../nodes/XpertAi/catalogue';
import { isCoded } from '../../../nodes/XpertAi/operations/operation';
import type { JsonBody } from '../../../nodes/XpertAi/operations/operation';

/** The body of an operation of the catalogue; the test fails when it declares none. */
export function bodyOf(resource: string, value: string): JsonBody {
	const operation = findOperation(resource, value);
	if (!operation || isCoded(operation) || !operation.body) {
		throw new Error(`${resource}: ${value} declares no body`);
	}
	return operation.body;
}
