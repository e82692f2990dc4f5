import { catalogue } from '../../../nodes/XpertAi/catalogue';
import { isCoded, isFileBody } from '../../../nodes/XpertAi/execution/operation';
import type { JsonBody, Operation } from '../../../nodes/XpertAi/execution/operation';

/** An operation of the catalogue by its values; the test fails when there is none. */
export function operationOf(resource: string, value: string): Operation {
	const operation = catalogue
		.find((one) => one.value === resource)
		?.operations.find((one) => one.value === value);
	if (!operation) throw new Error(`the catalogue has no ${resource}: ${value}`);
	return operation;
}

/** The JSON body of an operation, if it declares one. */
export function jsonBodyIn(operation: Operation): JsonBody | undefined {
	if (isCoded(operation) || !operation.body || isFileBody(operation.body)) return undefined;
	return operation.body;
}

/** The JSON body of an operation of the catalogue; the test fails when it declares none. */
export function bodyOf(resource: string, value: string): JsonBody {
	const body = jsonBodyIn(operationOf(resource, value));
	if (!body) throw new Error(`${resource}: ${value} declares no JSON body`);
	return body;
}
