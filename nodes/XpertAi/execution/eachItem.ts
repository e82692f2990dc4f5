import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from './item';
import { mayContinue } from './outputs';
import type { ItemError } from './outputs';

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
	await forEachConcurrently(items, atOnce, outputOf, () => errors.length === 0);
	const [error] = errors;
	if (error) throw error;
	return output.flat();
}

/**
 * Does a piece of work for each entry, in order, so many at once.
 *
 * @param goOn asked before each piece of work starts
 */
export async function forEachConcurrently<Entry>(
	entries: Entry[],
	lanes: number,
	work: (entry: Entry) => Promise<void>,
	goOn: () => boolean,
): Promise<void> {
	const waiting = entries.values();
	const lane = async () => {
		// All lanes take from the same iterator, so each entry is taken once.
		for (const entry of waiting) {
			if (!goOn()) return;
			await work(entry);
		}
	};
	await Promise.all(Array.from({ length: lanes }, lane));
}
