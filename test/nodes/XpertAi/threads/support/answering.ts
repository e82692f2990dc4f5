import type { Failure } from '../../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, RequestOutcome } from '../../../../../nodes/XpertAi/transport/request';
import { parsing, success } from '../../../support/send';
import { virtualTime } from '../../../support/virtualTime';

const request = { method: 'POST', path: '/api/ai/x' };

/** What a server says that cannot do what it is asked. */
export const failure: Failure = { kind: 'status', status: 500, ...request };

/** An answer that was lost on its way. */
export const lost: Failure = { kind: 'network', code: 'ECONNRESET', ...request };

/** What E5 answers. */
export const listed = (...items: object[]): RequestOutcome =>
	success({ items, total: items.length });

/** A conversation on the thread `t`. */
export const mine = (id: string, createdAt?: string, threadId = 't') => ({
	id,
	threadId,
	createdAt,
});

/** What a server answers, whatever it is asked or by the request. */
export type Answer = RequestOutcome | ((request: ApiRequest) => RequestOutcome);

/** A server that gives these answers one after another, the last for ever. */
export function answering(...answers: Answer[]) {
	const asked: ApiRequest[] = [];
	const send = parsing((one) => {
		asked.push(one);
		const answer = answers[Math.min(asked.length, answers.length) - 1];
		if (!answer) throw new Error('the test gives no answer');
		return typeof answer === 'function' ? answer(one) : answer;
	});
	return { asking: { send, clock: virtualTime() }, asked };
}

/** The bodies of requests. */
export const bodiesOf = (asked: ApiRequest[]) =>
	asked.map(({ body }) => (body === undefined ? undefined : JSON.parse(String(body))) as unknown);
