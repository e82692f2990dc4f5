import { answerIssue } from '../../../nodes/XpertAi/transport/answer';
import type { RetryableRequest, CallResult } from '../../../nodes/XpertAi/transport/call';
import { type Failure, isOutcomeUnknown } from '../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, RequestOutcome, Send } from '../../../nodes/XpertAi/transport/request';

/** What a server does with a request: answers are not parsed yet. */
export type RawSend = (request: ApiRequest) => RequestOutcome | Promise<RequestOutcome>;

export type RawCall = (
	request: RetryableRequest<unknown>,
) => RequestOutcome | Promise<RequestOutcome>;

function parsed<Answer>(
	{ method, path, schema }: Pick<ApiRequest<Answer>, 'method' | 'path' | 'schema'>,
	outcome: RequestOutcome,
): RequestOutcome<Answer> {
	if (!outcome.ok) return outcome;
	const { status, answer } = outcome;
	const { data, error } = schema.safeParse(answer);
	if (!error) return { ok: true, status, answer: data as Answer };
	const reason = answerIssue(answer, error);
	return { ok: false, failure: { kind: 'unreadable', method, path, status, reason } };
}

/** Sends, and parses the answer as transport does. */
export function parsing(send: RawSend): Send {
	return async (request) => parsed(request, await send(request));
}

/** Calls a server once, without retries. */
export function calling(send: RawCall) {
	return async <Answer>(
		request: Omit<RetryableRequest<Answer>, 'repeatable'>,
	): Promise<CallResult<Answer>> =>
		called(parsed(request, await send({ repeatable: true, ...request })));
}

/** The result of a call that was sent once. */
export function called<Answer>(outcome: RequestOutcome<Answer>): CallResult<Answer> {
	const mayBeDone = !outcome.ok && isOutcomeUnknown(outcome.failure);
	return { ...outcome, mayBeDone, attempts: 1 };
}

export const success = (answer: unknown): RequestOutcome => ({ ok: true, status: 200, answer });
export const no = (failure: Failure): RequestOutcome => ({ ok: false, failure });
