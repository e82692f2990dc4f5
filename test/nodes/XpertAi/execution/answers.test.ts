import { NodeApiError } from 'n8n-workflow';
import type { INodeExecutionData, NodeExecutionHint } from 'n8n-workflow';

import {
	answerFor,
	hintAtEmptyItems,
	readSimplify,
	simplified,
} from '../../../../nodes/XpertAi/execution/answers';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import { contextWith, readerOf } from '../../support/context';
import { REQUEST } from '../../support/sender';

const answered = async (outcome: Outcome) =>
	await answerFor(
		{ context: contextWith({ getExecutionCancelSignal: () => undefined }), itemIndex: 4 },
		async () => outcome,
		REQUEST,
	);

describe('the answer for an item', () => {
	it('is what the server answered', async () => {
		expect(await answered({ ok: true, status: 201, answer: [1] })).toEqual([1]);
	});

	it('is an error about that item when there was none', async () => {
		const failure = { kind: 'status' as const, status: 404, method: 'GET', path: '/x' };
		const answer = answered({ ok: false, failure });
		await expect(answer).rejects.toBeInstanceOf(NodeApiError);
		await expect(answer).rejects.toMatchObject({ httpCode: '404', context: { itemIndex: 4 } });
	});
});

describe('items without any field', () => {
	const hintsAt = (...jsons: Array<INodeExecutionData['json']>) => {
		const hints: NodeExecutionHint[] = [];
		const context = contextWith({ addExecutionHints: (...given) => void hints.push(...given) });
		hintAtEmptyItems(
			context,
			jsons.map((json) => ({ json })),
		);
		return hints.map(({ message }) => message);
	};

	it('are pointed out, once for all of them', () => {
		expect(hintsAt({}, { id: 1 })).toEqual([
			'One item is empty: the server confirmed the request but sent no data back.',
		]);
		expect(hintsAt({}, {})).toEqual([
			'2 items are empty: the server confirmed the request but sent no data back.',
		]);
	});

	it('are the only ones', () => {
		expect(hintsAt({ id: 1 }, { deleted: true })).toEqual([]);
		expect(hintsAt()).toEqual([]);
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

	it('is on unless switched off', () => {
		expect(readSimplify(readerOf({}))).toBe(true);
		expect(readSimplify(readerOf({ simplify: false }))).toBe(false);
	});
});
