import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IExecuteFunctions, INode, INodeExecutionData } from 'n8n-workflow';

import {
	asNodeError,
	errorItem,
	forEachItem,
	mayContinue,
	pairedItems,
} from '../../../../nodes/XpertAi/execution/items';
import { toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import { contextWith } from '../../support/context';
import { node } from '../../support/node';
import { HOSTS, putOut, sorted } from './support/errorOutput';

const failure = { kind: 'status' as const, status: 404, method: 'GET', path: '/api/ai/threads/1' };

/** A context with three items. */
function threeItems(continues: boolean, stopped = false): IExecuteFunctions {
	return contextWith({
		getInputData: () => [{ json: {} }, { json: {} }, { json: {} }],
		continueOnFail: () => continues,
		getExecutionCancelSignal: () => (stopped ? AbortSignal.abort() : undefined),
	});
}

describe('the items of a result', () => {
	it('all point to the input item they come from', () => {
		expect(pairedItems([{ a: 1 }, { b: 2 }], 4)).toEqual([
			{ json: { a: 1 }, pairedItem: { item: 4 } },
			{ json: { b: 2 }, pairedItem: { item: 4 } },
		]);
	});
});

describe('the item of a failed one', () => {
	it('has no keys but those by which n8n knows it', () => {
		const error = toNodeApiError({ ...failure, requestId: 'r' }, { node, itemIndex: 2 });
		const item = errorItem(error, 2);
		expect(Object.keys(item).sort()).toEqual(['json', 'pairedItem']);
		expect(Object.keys(item.json).sort()).toEqual(['details', 'error']);
		expect(item.pairedItem).toEqual({ item: 2 });
	});

	it('says what happened, how to go on, the status and the request id', () => {
		const error = toNodeApiError({ ...failure, requestId: 'r' }, { node, itemIndex: 0 });
		expect(errorItem(error, 0).json).toEqual({
			error: 'The server answered 404: it gave no reason',
			details: { description: error.description, httpCode: '404', requestId: 'r' },
		});
	});

	it('leaves out what there is none of', () => {
		expect(errorItem(new NodeOperationError(node, 'no'), 0).json).toEqual({
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
		const items = [...pairedItems([{ ok: true }], 0), errorItem(error, 1, { outcome: 'rejected' })];
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
		expect(sorted(rule, [errorItem(error, 0)], input)).toEqual({
			success: [],
			error: [{ row: 1, error: 'no', details: { description: 'why' } }],
		});
	});

	it('keeps all that is known of it where it stays on the one output', () => {
		const error = new NodeOperationError(at('continueRegularOutput'), 'no');
		const item = errorItem(error, 0, { outcome: 'rejected' });
		expect(putOut([item])).toEqual([{ error: 'no', details: { outcome: 'rejected' } }]);
	});

	it('cannot be mistaken: the same JSON without its mark is a success on older hosts', () => {
		const { json, pairedItem } = errorItem(new NodeOperationError(node, 'no'), 0);
		const { success } = sorted(rule, [{ json, pairedItem }], input);
		expect(success.length).toBe(rule === HOSTS.at(-1)?.rule ? 0 : 1);
	});
});

describe('what was caught', () => {
	const context = contextWith({});

	it('stays itself when it is an error of n8n, and learns its item', () => {
		const error = new NodeOperationError(node, 'no');
		expect(asNodeError(context, error, 3)).toBe(error);
		expect(error.context.itemIndex).toBe(3);
	});

	it('keeps the item it has', () => {
		const error = toNodeApiError(failure, { node, itemIndex: 1 });
		expect(asNodeError(context, error, 3)).toBe(error);
		expect(error.context.itemIndex).toBe(1);
		const first = new NodeOperationError(node, 'no', { itemIndex: 0 });
		expect(asNodeError(context, first, 3).context.itemIndex).toBe(0);
	});

	it.each([
		[new TypeError('x is not a function'), 'x is not a function'],
		['text', 'text'],
		[undefined, 'undefined'],
	])('becomes an error of the node: %p', (caught, message) => {
		const error = asNodeError(context, caught, 3);
		expect(error).toBeInstanceOf(NodeOperationError);
		expect(error.message).toBe(message);
		expect(error.node).toBe(node);
		expect(error.context.itemIndex).toBe(3);
	});
});

describe('the work on each item', () => {
	const ok = (itemIndex: number): INodeExecutionData[] => pairedItems([{ itemIndex }], itemIndex);
	const failingAt = (bad: number, done: number[]) => async (itemIndex: number) => {
		done.push(itemIndex);
		if (itemIndex === bad) throw new Error(`item ${itemIndex}`);
		return ok(itemIndex);
	};

	it('is done one after another, in order', async () => {
		let running = 0;
		const output = await forEachItem(threeItems(false), async (itemIndex) => {
			running += 1;
			expect(running).toBe(1);
			await new Promise((resolve) => setImmediate(resolve));
			running -= 1;
			return itemIndex === 1 ? [] : ok(itemIndex);
		});
		expect(output.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
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
		expect(mayContinue(threeItems(true, true))).toBe(false);
		expect(mayContinue(threeItems(true))).toBe(true);
		expect(mayContinue(threeItems(false))).toBe(false);
	});

	it('keeps the type of an error of the API', async () => {
		const work = forEachItem(threeItems(false), async () => {
			throw toNodeApiError(failure, { node });
		});
		await expect(work).rejects.toBeInstanceOf(NodeApiError);
		await expect(work).rejects.toMatchObject({ context: { itemIndex: 0 } });
	});
});
