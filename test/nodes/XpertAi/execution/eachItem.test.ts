import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions } from 'n8n-workflow';

import { forEachItem } from '../../../../nodes/XpertAi/execution/eachItem';
import { Item } from '../../../../nodes/XpertAi/execution/item';
import { mayContinue } from '../../../../nodes/XpertAi/execution/outputs';
import { toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import { contextWith, unconnected } from '../../support/context';
import { node } from '../../support/node';

const failure = { kind: 'status' as const, status: 404, method: 'GET', path: '/api/ai/threads/1' };

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

	it('is done one after another, in order', async () => {
		let running = 0;
		const output = await forEachItem(threeItems(false), async ({ index }) => {
			running += 1;
			expect(running).toBe(1);
			await new Promise((resolve) => setImmediate(resolve));
			running -= 1;
			return index === 1 ? [] : [{ index }];
		});
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
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

	it('comes to its end where it has begun when another item fails, and no new one begins', async () => {
		const ended: number[] = [];
		const work = forEachItem(
			threeItems(false),
			async ({ index }) => {
				if (index === 1) throw new Error('item 1');
				await new Promise((resolve) => setImmediate(resolve));
				ended.push(index);
				return [];
			},
			2,
		);
		await expect(work).rejects.toThrow('item 1');
		expect(ended).toEqual([0]);
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

	it('keeps the type of an error of the API', async () => {
		const work = forEachItem(threeItems(false), async () => {
			throw toNodeApiError(failure, { node });
		});
		await expect(work).rejects.toBeInstanceOf(NodeApiError);
		await expect(work).rejects.toMatchObject({ context: { itemIndex: 0 } });
	});
});
