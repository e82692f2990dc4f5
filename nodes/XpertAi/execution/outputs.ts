import { NodeApiError } from 'n8n-workflow';
import type {
	IDataObject,
	IExecuteFunctions,
	INodeExecutionData,
	NodeOperationError,
} from 'n8n-workflow';
import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';

import { inLanes } from '../transport/lanes';
import type { Item } from './item';
import type { Simplification } from './operation';

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

/**
 * Runs a piece of work for each input item, so many at once; the output is in the items' order. The only
 * place that knows Continue On Fail: with it, a failed item comes out as an error item and others run on.
 *
 * @param atOnce items at once; what has begun when one fails comes to its end, and nothing new begins
 * @throws the NodeApiError or NodeOperationError of the first item that failed when On Error is "Stop Workflow"
 */
export async function forEachItem(
	items: Item[],
	work: (item: Item) => Promise<IDataObject[]>,
	atOnce = 1,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[][] = [];
	const errors: ItemError[] = [];
	const outputOf = async (item: Item) => {
		try {
			output[item.index] = (await work(item)).map((json) => item.output(json));
		} catch (caught) {
			const error = item.asError(caught);
			if (mayContinue(item.context)) output[item.index] = [item.failed(error)];
			else errors.push(error);
		}
	};
	await inLanes(items, atOnce, outputOf, () => errors.length === 0);
	const [error] = errors;
	if (error) throw error;
	return output.flat();
}

/** Whether a failed item may be passed over: On Error says so, and nobody has stopped the execution. */
export function mayContinue(context: IExecuteFunctions): boolean {
	return context.continueOnFail() && !context.getExecutionCancelSignal()?.aborted;
}

/** What Simplify makes of each result; a result with none of the keys stays as it is. */
export function simplified(simplification: Simplification, results: IDataObject[]): IDataObject[] {
	if (typeof simplification === 'function') return results.map(simplification);
	return results.map((json) => {
		const kept = pick(json, simplification);
		return Object.keys(kept).length > 0 ? kept : json;
	});
}
