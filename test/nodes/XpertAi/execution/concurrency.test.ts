import { setImmediate as nextTurn } from 'node:timers/promises';

import { range } from 'lodash';
import { NodeOperationError } from 'n8n-workflow';

import {
	concurrencyOf,
	forEachConcurrently,
	flatMapItems,
} from 'nodes/XpertAi/execution/concurrency';
import { Item } from 'nodes/XpertAi/execution/item';
import { contextWith, itemOf, unconnected } from '../../support/context';

it('one item runs at once, or as many as the option of the first says', () => {
	const items = [3, 5].map((concurrency) => itemOf({ options: { concurrency } }));
	expect([concurrencyOf([]), concurrencyOf(items)]).toEqual([1, 3]);
});

function threeItems(continues: boolean, stopped = false): Item[] {
	const context = contextWith({
		continueOnFail: () => continues,
		getExecutionCancelSignal: () => (stopped ? AbortSignal.abort() : undefined),
	});
	return [0, 1, 2].map((index) => new Item(context, index, [], unconnected));
}

describe('flatMapItems', () => {
	const failingAt = (bad: number, done: number[]) => async (item: Item) => {
		done.push(item.index);
		if (item.index === bad) throw new Error(`item ${bad}`);
		return [{ index: item.index }];
	};

	it('pairs each output with the item it comes from', async () => {
		const work = async ({ index }: Item) => (index === 1 ? [{ a: 1 }, { b: 2 }] : []);
		expect(await flatMapItems(threeItems(false), work)).toEqual([
			{ json: { a: 1 }, pairedItem: { item: 1 } },
			{ json: { b: 2 }, pairedItem: { item: 1 } },
		]);
	});

	it('keeps the order of the items where several run at once', async () => {
		const ended: number[] = [];
		let lastEnds = () => {};
		const last = new Promise<void>((resolve) => (lastEnds = resolve));
		const work = async ({ index }: Item) => {
			if (index === 0) await last;
			ended.push(index);
			if (index === 2) lastEnds();
			return [{ index }];
		};
		const output = await flatMapItems(threeItems(false), work, 2);
		expect(ended).toEqual([1, 2, 0]);
		expect(output.map(({ json }) => json.index)).toEqual([0, 1, 2]);
	});

	it.each([
		['stops at the first failed item', false, false],
		['stops in a stopped execution, whatever On Error says', true, true],
	])('%s', async (_, continues, stopped) => {
		const done: number[] = [];
		const work = flatMapItems(threeItems(continues, stopped), failingAt(1, done));
		await expect(work).rejects.toBeInstanceOf(NodeOperationError);
		expect(done).toEqual([0, 1]);
	});

	it('goes on after a failed item where On Error says so', async () => {
		const output = await flatMapItems(threeItems(true), failingAt(1, []));
		expect(output.map(({ json, pairedItem }) => [json, pairedItem])).toEqual([
			[{ index: 0 }, { item: 0 }],
			[{ error: 'item 1', details: {} }, { item: 1 }],
			[{ index: 2 }, { item: 2 }],
		]);
	});
});

describe('forEachConcurrently', () => {
	it('starts each entry once, in order, so many at once', async () => {
		const begun: number[] = [];
		let [underWay, most] = [0, 0];
		const work = async (entry: number) => {
			begun.push(entry);
			most = Math.max(most, ++underWay);
			for (let turns = 0; turns < entry % 5; turns++) await nextTurn();
			underWay -= 1;
		};
		await forEachConcurrently(range(0, 23), 4, work, () => true);
		expect([begun, most]).toEqual([range(0, 23), 4]);
	});

	it('starts no more once it may not go on, and ends what was begun', async () => {
		const ended: number[] = [];
		const work = async (entry: number) => {
			await nextTurn();
			ended.push(entry);
		};
		await forEachConcurrently(range(0, 20), 3, work, () => ended.length < 3);
		expect(ended.length).toBeGreaterThanOrEqual(3);
		expect(ended.length).toBeLessThanOrEqual(5);
	});
});
