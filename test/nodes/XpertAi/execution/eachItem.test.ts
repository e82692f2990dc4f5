import { NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions } from 'n8n-workflow';

import { forEachItem } from '../../../../nodes/XpertAi/execution/eachItem';
import { Item } from '../../../../nodes/XpertAi/execution/item';
import { mayContinue } from '../../../../nodes/XpertAi/execution/outputs';
import { contextWith, unconnected } from '../../support/context';

/** The context of an execution. */
function execution(continues: boolean, stopped = false): IExecuteFunctions {
	return contextWith({
		continueOnFail: () => continues,
		getExecutionCancelSignal: () => (stopped ? AbortSignal.abort() : undefined),
	});
}

/** The three items of an execution. */
function threeItems(continues: boolean, stopped = false): Item[] {
	const context = execution(continues, stopped);
	return [0, 1, 2].map((index) => new Item(context, index, [], unconnected));
}

describe('the work on each item', () => {
	const failingAt =
		(bad: number, done: number[]) =>
		async ({ index }: Item) => {
			done.push(index);
			if (index === bad) throw new Error(`item ${index}`);
			return [{ index }];
		};

	it('gives items that all point to the input item they come from', async () => {
		const output = await forEachItem(threeItems(false), async ({ index }) =>
			index === 1 ? [{ a: 1 }, { b: 2 }] : [],
		);
		expect(output).toEqual([
			{ json: { a: 1 }, pairedItem: { item: 1 } },
			{ json: { b: 2 }, pairedItem: { item: 1 } },
		]);
	});

	it('is done so many at once, and put out in the order of the items', async () => {
		const begun: number[] = [];
		const ended: number[] = [];
		let lastEnds = () => {};
		const last = new Promise<void>((resolve) => (lastEnds = resolve));
		const output = await forEachItem(
			threeItems(false),
			async ({ index }) => {
				begun.push(index);
				if (index === 0) await last;
				ended.push(index);
				if (index === 2) lastEnds();
				return [{ index, begun: begun.length }];
			},
			2,
		);
		expect(begun).toEqual([0, 1, 2]);
		expect(ended).toEqual([1, 2, 0]);
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
	});

	it('stops at the first failed item unless On Error says otherwise', async () => {
		const done: number[] = [];
		const work = forEachItem(threeItems(false), failingAt(1, done));
		await expect(work).rejects.toBeInstanceOf(NodeOperationError);
		expect(done).toEqual([0, 1]);
	});

	it('goes on after a failed item when On Error says so', async () => {
		const done: number[] = [];
		const output = await forEachItem(threeItems(true), failingAt(1, done));
		expect(done).toEqual([0, 1, 2]);
		expect(output[1]?.json).toEqual({ error: 'item 1', details: {} });
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([
			{ item: 0 },
			{ item: 1 },
			{ item: 2 },
		]);
	});

	it('ends when the execution was stopped, whatever On Error says', async () => {
		const done: number[] = [];
		const work = forEachItem(threeItems(true, true), failingAt(0, done));
		await expect(work).rejects.toThrow('item 0');
		expect(done).toEqual([0]);
		expect(mayContinue(execution(true, true))).toBe(false);
		expect(mayContinue(execution(true))).toBe(true);
		expect(mayContinue(execution(false))).toBe(false);
	});
});
