import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import type { Item } from './item';
import { mayContinue, type ItemError } from './outputs';

/**
 * Runs work for each item, several at once; the output keeps their order. The only place that handles Continue On Fail:
 * a failed item becomes an error item and the others continue.
 *
 * @param atOnce items at once; after a failure, started items finish and no new one starts
 * @throws the NodeApiError or NodeOperationError of the first failed item when On Error is "Stop Workflow"
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
 * Runs work for each entry, in order, several at once.
 *
 * @param goOn checked before each entry starts
 */
export async function forEachConcurrently<Entry>(
	entries: Entry[],
	slots: number,
	work: (entry: Entry) => Promise<void>,
	goOn: () => boolean,
): Promise<void> {
	const remaining = entries.values();
	const slot = async () => {
		// All slots share the iterator, so each entry is taken once.
		for (const entry of remaining) {
			if (!goOn()) return;
			await work(entry);
		}
	};
	await Promise.all(Array.from({ length: slots }, slot));
}
