import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

/** What a failed item is reported with. */
export type ItemError = NodeApiError | NodeOperationError;

/** Output items of one input item. */
export function pairedItems(results: IDataObject[], itemIndex: number): INodeExecutionData[] {
	return results.map((json) => ({ json, pairedItem: { item: itemIndex } }));
}

/** The error of an item as n8n shows it; anything unforeseen becomes a NodeOperationError. */
export function asNodeError(
	context: IExecuteFunctions,
	error: unknown,
	itemIndex: number,
): ItemError {
	if (error instanceof NodeApiError || error instanceof NodeOperationError) {
		error.context.itemIndex ??= itemIndex;
		return error;
	}
	const cause = error instanceof Error ? error : new Error(String(error));
	return new NodeOperationError(context.getNode(), cause, { itemIndex });
}

/**
 * The item that stands for a failed one. n8n moves it to the error output, where On Error says so, and
 * adds the fields of the input item there.
 *
 * @param facts what else is known of it
 */
export function errorItem(
	error: ItemError,
	itemIndex: number,
	facts: IDataObject = {},
): INodeExecutionData {
	const details: IDataObject = { ...facts };
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

/**
 * Runs a piece of work for each input item, one after another. The only place that knows
 * Continue On Fail: with it, a failed item comes out as an error item and the next one runs.
 *
 * @throws the item's NodeApiError or NodeOperationError when On Error is "Stop Workflow"
 */
export async function forEachItem(
	context: IExecuteFunctions,
	work: (itemIndex: number) => Promise<INodeExecutionData[]>,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[] = [];
	for (let itemIndex = 0; itemIndex < context.getInputData().length; itemIndex++) {
		try {
			for (const item of await work(itemIndex)) output.push(item);
		} catch (caught) {
			const error = asNodeError(context, caught, itemIndex);
			if (!mayContinue(context)) throw error;
			output.push(errorItem(error, itemIndex));
		}
	}
	return output;
}

/** Whether a failed item may be passed over: On Error says so, and nobody has stopped the execution. */
export function mayContinue(context: IExecuteFunctions): boolean {
	return context.continueOnFail() && !context.getExecutionCancelSignal()?.aborted;
}
