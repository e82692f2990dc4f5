import type { IDataObject, INodeExecutionData } from 'n8n-workflow';

import { positiveInteger } from '../payloads/zodHelpers';
import type { ItemError } from './apiError';
import type { Item } from './item';
import { mayContinue } from './n8nExecution';

/**
 * Reads how many requests or runs the first item allows at once.
 *
 * @param name the parameter with this number
 * @throws NodeOperationError if the parameter is invalid
 */
export const concurrencyOf = ([first]: Item[], name = 'options.concurrency'): number =>
	first?.setting(name, positiveInteger) ?? 1;

/**
 * Runs `work` for each item. The output keeps the order of the items.
 *
 * @param atOnce how many items are processed in parallel
 * @throws the first error, if `mayContinue` is false
 */
export async function flatMapItems(
	items: Item[],
	work: (item: Item) => Promise<IDataObject[]>,
	atOnce = 1,
): Promise<INodeExecutionData[]> {
	const output: INodeExecutionData[][] = [];
	const errors: ItemError[] = [];
	const processItem = async (item: Item) => {
		try {
			output[item.index] = (await work(item)).map((json) => item.output(json));
		} catch (caught) {
			const error = item.asError(caught);
			if (mayContinue(item.context)) output[item.index] = [item.failureOutput(error)];
			else errors.push(item.addIndexToMessage(error));
		}
	};
	await forEachConcurrently(items, atOnce, processItem, () => errors.length === 0);
	if (errors[0]) throw errors[0];
	return output.flat();
}

/**
 * Runs `work` for each entry, with up to `slots` entries in parallel.
 *
 * @param goOn whether to process the next entry
 */
export async function forEachConcurrently<Entry>(
	entries: Entry[],
	slots: number,
	work: (entry: Entry) => Promise<void>,
	goOn: () => boolean,
): Promise<void> {
	const remaining = entries.values();
	const slot = async () => {
		// The parallel loops share one iterator, so each entry is processed once.
		for (const entry of remaining) {
			if (!goOn()) return;
			await work(entry);
		}
	};
	await Promise.all(Array.from({ length: slots }, slot));
}
