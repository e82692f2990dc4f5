import { answerIssue } from '../../../nodes/XpertAi/transport/answer';
import type { Call, CallResult } from '../../../nodes/XpertAi/transport/call';
import { type Failure, isOutcomeUnknown } from '../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, Outcome, Send } from '../../../nodes/XpertAi/transport/request';

/** What a server does with a request: answers are not parsed yet. */
export type RawSend = (request: ApiRequest) => Outcome | Promise<Outcome>;

export type RawCall = (request: Call<unknown>) => Outcome | Promise<Outcome>;

function parsed<Answer>(
	{ method, path, schema }: Pick<ApiRequest<Answer>, 'method' | 'path' | 'schema'>,
	outcome: Outcome,
): Outcome<Answer> {
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
	return async <Answer>(request: Omit<Call<Answer>, 'repeatable'>): Promise<CallResult<Answer>> =>
		called(parsed(request, await send({ repeatable: true, ...request })));
}

/** The result of a call that was sent once. */
export function called<Answer>(outcome: Outcome<Answer>): CallResult<Answer> {
	const mayBeDone = !outcome.ok && isOutcomeUnknown(outcome.failure);
	return { ...outcome, mayBeDone, attempts: 1 };
}

export const success = (answer: unknown): Outcome => ({ ok: true, status: 200, answer });
export const no = (failure: Failure): Outcome => ({ ok: false, failure });
