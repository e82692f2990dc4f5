import { catalogue } from '../../../nodes/XpertAi/catalogue';
import { isCoded } from '../../../nodes/XpertAi/execution/operation';
import type { Operation, OperationBody } from '../../../nodes/XpertAi/execution/operation';

/** An operation of the catalogue by its values; the test fails when there is none. */
export function operationOf(resource: string, value: string): Operation {
	const operation = catalogue
		.find((one) => one.value === resource)
		?.operations.find((one) => one.value === value);
	if (!operation) throw new Error(`the catalogue has no ${resource}: ${value}`);
	return operation;
}

/** The body of an operation of the catalogue; the test fails when it declares none. */
export function bodyOf(resource: string, value: string): OperationBody {
	const operation = operationOf(resource, value);
	if (isCoded(operation) || !operation.body) throw new Error(`${resource}: ${value} has no body`);
	return operation.body;
}
