import { NodeApiError } from 'n8n-workflow';

import { answerFor } from '../../../../nodes/XpertAi/execution/answers';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import { contextWith } from '../../support/context';
import { REQUEST } from '../../support/sender';

const answered = async (outcome: Outcome) =>
	await answerFor(
		contextWith({ getExecutionCancelSignal: () => undefined }),
		async () => outcome,
		REQUEST,
		{ itemIndex: 4 },
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
