import { NodeOperationError } from 'n8n-workflow';
import type { INode, INodeExecutionData } from 'n8n-workflow';

import { answerItems, deletedItem, simplified } from '../../../../nodes/XpertAi/execution/outputs';
import { toNodeApiError } from '../../../../nodes/XpertAi/transport/failure';
import { itemOf } from '../../support/context';
import { node } from '../../support/node';

/**
 * By which a host knows a failed item (`handleNodeErrorOutput` in n8n-core's `workflow-execute.js`): n8n-core
 * 1.122.48 (n8n 1.123.81) and 2.8.1 (n8n 2.8.4), and 2.41.1.
 */
const RULES: Array<[string, (item: INodeExecutionData) => boolean]> = [
	[
		'older',
		({ error, json }) => {
			const keys = Object.keys(json).length;
			return Boolean(error ?? (json.error && (keys === 1 || (json.message && keys === 2))));
		},
	],
	[
		'newer',
		({ error, json }) => {
			const isKnown = (key: string) => ['error', 'message', 'details'].includes(key);
			return Boolean(error ?? (json.error && Object.keys(json).every(isKnown)));
		},
	],
];

/** What every one of these hosts puts out: it drops the JSON beside an enumerable `error`. */
const putOut = ({ json, error }: INodeExecutionData) =>
	error === undefined ? json : { error: error.message };

describe('a failed item', () => {
	const at = (onError: INode['onError']) => ({ ...node, onError });
	const failure = {
		kind: 'status' as const,
		status: 404,
		requestId: 'r',
		method: 'GET',
		path: '/',
	};

	it.each(RULES)('is known to %s hosts, which keep all of it', (_, isFailed) => {
		const error = toNodeApiError(failure, { node: at('continueErrorOutput') });
		const item = itemOf({}, { index: 2 }).failed(error, { outcome: 'rejected', of: undefined });
		expect(isFailed(item)).toBe(true);
		const { message, description } = error;
		expect(putOut({ ...item })).toEqual({
			error: message,
			details: {
				outcome: 'rejected',
				description,
				httpCode: '404',
				request: 'GET /',
				requestId: 'r',
			},
		});
		expect(Object.keys(item)).toEqual(['json', 'pairedItem']);
		expect(item.pairedItem).toEqual({ item: 2 });
	});

	it('has no mark where it stays on the one output', () => {
		const error = new NodeOperationError(at('continueRegularOutput'), 'no');
		const item = itemOf({}).failed(error, { outcome: 'rejected' });
		expect(putOut(item)).toEqual({ error: 'no', details: { outcome: 'rejected' } });
	});

	it('leaves out what there is none of', () => {
		const { json } = itemOf({}).failed(new NodeOperationError(node, 'no'));
		expect(json).toEqual({ error: 'no', details: {} });
	});
});

describe('the output of an answer', () => {
	const TWO = [{ a: 1 }, { b: 2 }];

	it.each([
		[{ a: 1 }, [{ a: 1 }]],
		[TWO, TWO],
		[[], []],
		[
			['a', [2]],
			[{ response: 'a' }, { response: [2] }],
		],
		[false, [{ response: false }]],
		[null, [{ response: null }]],
		[undefined, [{}]],
	])('of %j is %j', (answer, items) => expect(answerItems(answer)).toEqual(items));

	it.each([
		[{ raw: [], affected: 1 }, true],
		[{ originalName: 'hello.txt', deletedAt: null }, true],
		[undefined, true],
		['ok', true],
		[{ raw: [], affected: 0 }, false],
	])('of a delete that answered %j is %s', (answer, deleted) =>
		expect(deletedItem(answer)).toEqual([{ deleted }]),
	);

	it('is simplified to the named keys, or stays whole without any of them', () => {
		const results = [{ id: 1, name: 'a', tenant: {} }, { other: 1 }];
		expect(results.map((one) => simplified(['name', 'id', 'size'], one))).toEqual([
			{ id: 1, name: 'a' },
			{ other: 1 },
		]);
	});
});
