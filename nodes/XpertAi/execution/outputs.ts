import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INode } from 'n8n-workflow';
import isEmpty from 'lodash/isEmpty';
import pick from 'lodash/pick';

import { isJsonObject } from '../transport/answer';

/** The error of a failed item. */
export type ItemError = NodeApiError | NodeOperationError;

/** Shows messages above the output of the node. */
export function addHints(context: IExecuteFunctions, messages: string[]): void {
	context.addExecutionHints(
		...messages.map((message) => ({ message, location: 'outputPane' as const })),
	);
}

/** Whether the workflow continues after a failed item: On Error says so, and nobody stopped the execution. */
export function mayContinue(context: IExecuteFunctions): boolean {
	return context.continueOnFail() && !context.getExecutionCancelSignal()?.aborted;
}

/** An error with a message of the node. */
export function operationError(
	node: INode,
	message: string,
	options: { description?: string; itemIndex?: number } = {},
): NodeOperationError {
	const error = new NodeOperationError(node, message, options);
	// n8n replaces a message that contains a network error code, e.g. in a user's text.
	error.message = message;
	return error;
}

/** The keys that Simplify keeps, or a function. */
export type Simplification = string[] | ((result: IDataObject) => IDataObject);

/**
 * The default output of an answer: one item for an object, one for each element of an array, and `{ response }` for
 * anything else.
 */
export function answerItems(answer: unknown): IDataObject[] {
	return (Array.isArray(answer) ? answer : [answer]).map(asJson);
}

/**
 * The output of a delete, the same for all of n8n's nodes. `deleted` is false if the answer counts no record; recorded
 * answers count one or return the record.
 */
export function deletedItem(answer: unknown): IDataObject[] {
	return [{ deleted: !(isJsonObject(answer) && answer.affected === 0) }];
}

/** An answer as the JSON of an item; a value that is not an object becomes `response`. */
export function asJson(value: unknown): IDataObject {
	if (isJsonObject(value)) return value;
	return value === undefined ? {} : { response: value as IDataObject[string] };
}

/** Simplifies a result; one with none of the keys stays as it is. */
export function simplified(simplification: Simplification, result: IDataObject): IDataObject {
	if (typeof simplification === 'function') return simplification(result);
	const kept = pick(result, simplification);
	return isEmpty(kept) ? result : kept;
}
