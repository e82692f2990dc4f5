import { NodeApiError } from 'n8n-workflow';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';
import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';

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
