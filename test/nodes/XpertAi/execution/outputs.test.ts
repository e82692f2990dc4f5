import { NodeOperationError } from 'n8n-workflow';
import type { IDataObject, INode } from 'n8n-workflow';

import type { ItemError } from '../../../../nodes/XpertAi/execution/outputs';
import { toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import { itemOf } from '../../support/context';
import { node } from '../../support/node';
import { HOSTS, putOut, sorted } from './support/errorOutput';

const failure = { kind: 'status' as const, status: 404, method: 'GET', path: '/api/ai/threads/1' };

const failedItem = (error: ItemError, index: number, facts?: IDataObject) =>
	itemOf({}, { index }).failed(error, facts);

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
