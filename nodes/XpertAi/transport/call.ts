import type { Clock } from './clock';
import type { Failure } from './failure';
import type { ApiRequest, Send } from './request';
import { SINGLE_REQUEST_LIMITS, sendWithRetries } from './sendWithRetries';
import type { OutageBudget } from './sendWithRetries';

/** What calls are sent with. */
export interface ApiClient {
	send: Send;
	clock: Clock;
	signal?: AbortSignal;
	/** Until when to retry, in milliseconds since the epoch. */
	deadline?: number;
	/** The retries that these calls share; without it, each has those of a single request. */
	outageBudget?: OutageBudget;
}

/** What a call gave: the answer, or why there is none. */
export type Result<Answer> =
	| { ok: true; answer: Answer; failure?: undefined; attempts: number }
	/** `mayBeDone` tells whether a failed attempt may have been processed, or still may be. */
	| { ok: false; answer?: undefined; failure: Failure; mayBeDone: boolean; attempts: number };

/** A request, and how it is retried. */
export interface Call<Answer>
	extends Pick<ApiRequest<Answer>, 'method' | 'path' | 'apiRoot' | 'schema'> {
	/** JSON text, or what makes a form: sending consumes it, so each attempt makes it anew. */
	body?: string | (() => FormData);
	/** Whether it does no harm twice. Others are sent again only if they certainly had no effect. */
	repeatable?: boolean;
	maxTries?: number;
	timeoutMs?: number;
}

const TIMEOUT_MS = 30_000;

/** Sends a request with retries, and parses its answer. Never throws. */
export async function call<Answer>(
	{ send, clock, signal, deadline = Infinity, outageBudget }: ApiClient,
	{ body, repeatable = true, maxTries, timeoutMs = TIMEOUT_MS, ...request }: Call<Answer>,
): Promise<Result<Answer>> {
	const limits = {
		...(outageBudget?.limits ?? SINGLE_REQUEST_LIMITS),
		...(maxTries && { maxTries }),
	};
	if (Number.isFinite(deadline)) limits.maxElapsedMs = Math.max(0, deadline - clock.now());
	const sendBody: Send = async (sent) =>
		await send({ ...sent, body: typeof body === 'function' ? body() : body });
	const { outcome, mayBeDone, attempts } = await sendWithRetries(sendBody, {
		request: { ...request, timeoutMs },
		...{ limits, repeatable, clock, signal },
	});
	outageBudget?.recordOutcome(outcome);
	if (!outcome.ok) return { ...outcome, mayBeDone, attempts };
	return { ok: true, answer: outcome.answer, attempts };
}
