import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INode } from 'n8n-workflow';

import { Item } from '../../../../nodes/XpertAi/execution/item';
import {
	failedItem,
	forEachItem,
	mayContinue,
	simplified,
} from '../../../../nodes/XpertAi/execution/outputs';
import { toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import { contextWith, itemOf } from '../../support/context';
import { node } from '../../support/node';
import { HOSTS, putOut, sorted } from './support/errorOutput';

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
	return [0, 1, 2].map((index) => new Item(context, index));
}

describe('the item of a failed one', () => {
	it('has no keys but those by which n8n knows it', () => {
		const error = toNodeApiError({ ...failure, requestId: 'r' }, { node, itemIndex: 2 });
		const item = failedItem(error, 2);
		expect(Object.keys(item).sort()).toEqual(['json', 'pairedItem']);
		expect(Object.keys(item.json).sort()).toEqual(['details', 'error']);
		expect(item.pairedItem).toEqual({ item: 2 });
	});

	it('says what happened, how to go on, the status and the request id', () => {
		const error = toNodeApiError({ ...failure, requestId: 'r' }, { node, itemIndex: 0 });
		expect(failedItem(error, 0).json).toEqual({
			error: 'The server answered 404: it gave no reason',
			details: { description: error.description, httpCode: '404', requestId: 'r' },
		});
	});

	it('leaves out what there is none of', () => {
		expect(failedItem(new NodeOperationError(node, 'no'), 0).json).toEqual({
			error: 'no',
			details: {},
		});
	});
});

describe.each(HOSTS)('a failed item on $host', ({ rule }) => {
	const at = (onError: INode['onError']) => ({ ...node, onError });
	const input = [{ row: 1 }, { row: 2 }];

	it('goes to the error output with the fields of its input and all that is known of it', () => {
		const failing = { node: at('continueErrorOutput'), itemIndex: 1 };
		const error = toNodeApiError({ ...failure, requestId: 'r' }, failing);
		const items = [itemOf({}).output({ ok: true }), failedItem(error, 1, { outcome: 'rejected' })];
		const { description } = error;
		expect(sorted(rule, items, input)).toEqual({
			success: [{ ok: true }],
			error: [
				{
					row: 2,
					error: error.message,
					details: { outcome: 'rejected', description, httpCode: '404', requestId: 'r' },
				},
			],
		});
	});

	it('goes there when the value was refused as well', () => {
		const error = new NodeOperationError(at('continueErrorOutput'), 'no', { description: 'why' });
		expect(sorted(rule, [failedItem(error, 0)], input)).toEqual({
			success: [],
			error: [{ row: 1, error: 'no', details: { description: 'why' } }],
		});
	});

	it('keeps all that is known of it where it stays on the one output', () => {
		const error = new NodeOperationError(at('continueRegularOutput'), 'no');
		const item = failedItem(error, 0, { outcome: 'rejected' });
		expect(putOut([item])).toEqual([{ error: 'no', details: { outcome: 'rejected' } }]);
	});

	it('cannot be mistaken: the same JSON without its mark is a success on older hosts', () => {
		const { json, pairedItem } = failedItem(new NodeOperationError(node, 'no'), 0);
		const { success } = sorted(rule, [{ json, pairedItem }], input);
		expect(success.length).toBe(rule === HOSTS.at(-1)?.rule ? 0 : 1);
	});
});

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

describe('Simplify', () => {
	const results = [{ id: 1, name: 'a', tenant: {} }, { other: 1 }];

	it('keeps the named keys, and results without any of them whole', () => {
		expect(simplified(['name', 'id', 'size'], results)).toEqual([
			{ id: 1, name: 'a' },
			{ other: 1 },
		]);
	});
});
