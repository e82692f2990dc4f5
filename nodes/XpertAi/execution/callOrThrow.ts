import { call, type Call } from '../transport/call';
import { systemClock } from '../transport/clock';
import type { RequestContext } from '../transport/credential';
import { toNodeApiError, type Failure } from '../transport/failure';
import { cancelSignal, type Send } from '../transport/request';
import { wordsFor } from './hints';

/**
 * Sends a single request, for an item, a list in the editor or a poll.
 *
 * @returns the parsed answer
 * @throws NodeApiError if the request fails
 */
export async function callOrThrow<Answer>(
	context: RequestContext,
	send: Send,
	request: Call<Answer>,
	toError = (failure: Failure) =>
		toNodeApiError(failure, { ...wordsFor(failure, {}), node: context.getNode() }),
): Promise<Answer> {
	const signal = cancelSignal(context);
	const result = await call({ send, clock: systemClock, signal }, request);
	if (result.ok) return result.answer;
	throw toError(result.failure);
}
