import { systemClock } from '../transport/clock';
import { toNodeApiError } from '../transport/failure';
import { cancelSignal } from '../transport/request';
import type { RequestContext } from '../transport/credential';
import type { ApiRequest, Send } from '../transport/request';
import { SINGLE_REQUEST_LIMITS, sendWithRetries } from '../transport/sendWithRetries';
import { hintFor } from './hints';
import type { HintContext } from './hints';

/**
 * Sends a single request with the retry policy, for an item or for a list in the editor.
 *
 * @param options.repeatable whether the request may take effect twice
 * @param options.hints describe the request for the hint after a failure
 * @returns the parsed answer
 * @throws NodeApiError if the request fails
 */
export async function answerFor(
	context: RequestContext,
	send: Send,
	request: ApiRequest,
	{ repeatable = false, ...hints }: HintContext & { repeatable?: boolean } = {},
): Promise<unknown> {
	const limits = SINGLE_REQUEST_LIMITS;
	const retried = {
		request,
		limits,
		repeatable,
		clock: systemClock,
		signal: cancelSignal(context),
	};
	const { outcome } = await sendWithRetries(send, retried);
	if (outcome.ok) return outcome.answer;
	const { failure } = outcome;
	throw toNodeApiError(failure, { node: context.getNode(), hint: hintFor(failure, hints) });
}
