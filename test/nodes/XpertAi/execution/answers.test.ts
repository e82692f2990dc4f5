import { NodeApiError } from 'n8n-workflow';

import { answerFor, simplified } from '../../../../nodes/XpertAi/execution/answers';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import { readerOf } from '../../support/context';
import { REQUEST } from '../../support/sender';

const answered = async (outcome: Outcome) =>
	await answerFor(readerOf({}, 4), async () => outcome, REQUEST);

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

describe('Simplify', () => {
	const results = [{ id: 1, name: 'a', tenant: {} }, { other: 1 }];

	it('keeps the named keys, and results without any of them whole', () => {
		expect(simplified(readerOf({ simplify: true }), ['name', 'id', 'size'], results)).toEqual([
			{ id: 1, name: 'a' },
			{ other: 1 },
		]);
	});

	it('is on unless switched off', () => {
		expect(simplified(readerOf({}), ['id'], results)[0]).toEqual({ id: 1 });
		expect(simplified(readerOf({ simplify: false }), ['id'], results)).toEqual(results);
	});
});
