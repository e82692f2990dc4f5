import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';
import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';

import { isJsonObject } from '../transport/answer';

/** What a failed item is reported with. */
export type ItemError = NodeApiError | NodeOperationError;

/**
 * The item that stands for a failed one. n8n moves it to the error output, where On Error says so, and
 * adds the fields of the input item there.
 *
 * @param facts what else is known of it
 */
export function failedItem(
	error: ItemError,
	itemIndex: number,
	facts: IDataObject = {},
): INodeExecutionData {
	const details: IDataObject = omitBy(facts, isUndefined);
	if (error.description) details.description = error.description;
	if (error instanceof NodeApiError) {
		if (error.httpCode) details.httpCode = error.httpCode;
		const requestId = (error.context.data as IDataObject | undefined)?.requestId;
		if (requestId) details.requestId = requestId;
	}
	const item = { json: { error: error.message, details }, pairedItem: { item: itemIndex } };
	return error.node?.onError === 'continueErrorOutput' ? knownAsFailed(item, error) : item;
}

/**
 * Hosts of today know a failed item by its JSON, which has no keys but `error`, `message` and `details`.
 * Those before n8n 2.39 do not know `details`: there an item has failed that carries an `error` itself,
 * and every host then drops the rest of its JSON. Hidden, the `error` is seen where items are sorted, and
 * is gone in the copy that is put out, so that the JSON stays whole.
 */
function knownAsFailed(item: INodeExecutionData, error: ItemError): INodeExecutionData {
	return Object.defineProperty(item, 'error', { value: error, enumerable: false });
}

/** Tells the user, above the output of the node, what stands in no item. */
export function tellUser(context: IExecuteFunctions, messages: string[]): void {
	context.addExecutionHints(
		...messages.map((message) => ({ message, location: 'outputPane' as const })),
	);
}

/** Whether a failed item may be passed over: On Error says so, and nobody has stopped the execution. */
export function mayContinue(context: IExecuteFunctions): boolean {
	return context.continueOnFail() && !context.getExecutionCancelSignal()?.aborted;
}

/** An error of ours, in our words. */
export function operationError(
	node: INode,
	message: string,
	options: { description?: string; itemIndex?: number } = {},
): NodeOperationError {
	const error = new NodeOperationError(node, message, options);
	// n8n swaps messages that happen to hold a network code, such as a user's text.
	error.message = message;
	return error;
}

/** The keys Simplify keeps of a result, or what it makes of it. */
export type Simplification = string[] | ((result: IDataObject) => IDataObject);

/**
 * The output an answer gives when an operation does not shape it: the object itself, one item for
 * each element of an array, and `{ response }` for anything else.
 */
export function answerItems(answer: unknown): IDataObject[] {
	if (Array.isArray(answer)) return answer.map(asJson);
	return [asJson(answer)];
}

/**
 * The output of a delete, which is the same for all of n8n's nodes. A success whose answer counts no
 * record as deleted is told apart; those recorded count one (E17), or give back what there was (E14).
 */
export function deletedItem(answer: unknown): IDataObject[] {
	return [{ deleted: !(isJsonObject(answer) && answer.affected === 0) }];
}

/** An answer as the JSON of an item; what is no object stands under `response`. */
export function asJson(value: unknown): IDataObject {
	if (isJsonObject(value)) return value;
	return value === undefined ? {} : { response: value as IDataObject[string] };
}

/** What Simplify makes of each result; a result with none of the keys stays as it is. */
export function simplified(simplification: Simplification, results: IDataObject[]): IDataObject[] {
	if (typeof simplification === 'function') return results.map(simplification);
	return results.map((json) => {
		const kept = pick(json, simplification);
		return Object.keys(kept).length > 0 ? kept : json;
	});
}
