import type { Failure } from '../../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, Outcome } from '../../../../../nodes/XpertAi/transport/request';
import { virtualTime } from '../../../support/virtualTime';
import { checking } from '../../ingest/support/outcomes';

const request = { method: 'POST', path: '/api/ai/x' };

/** What a server says that cannot do what it is asked. */
export const failure: Failure = { kind: 'status', status: 500, ...request };

/** An answer that was lost on its way. */
export const lost: Failure = { kind: 'network', code: 'ECONNRESET', ...request };

export const success = (answer: unknown): Outcome => ({ ok: true, status: 200, answer });
export const no = (why: Failure): Outcome => ({ ok: false, failure: why });

/** What E5 answers. */
export const listed = (...items: object[]): Outcome => success({ items, total: items.length });

/** A conversation on the thread `t`. */
export const mine = (id: string, createdAt?: string, threadId = 't') => ({
	id,
	threadId,
	createdAt,
});

/** What a server answers, whatever it is asked or by the path of the request. */
export type Answer = Outcome | ((path: string) => Outcome);

/** A server that gives these answers one after another, the last for ever. */
export function answering(...answers: Answer[]) {
	const asked: ApiRequest[] = [];
	const send = checking(async (one) => {
		asked.push(one);
		const answer = answers[Math.min(asked.length, answers.length) - 1];
		if (!answer) throw new Error('the test gives no answer');
		return typeof answer === 'function' ? answer(one.path) : answer;
	});
	return { asking: { send, clock: virtualTime() }, asked };
}
