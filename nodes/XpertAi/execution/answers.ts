import { systemClock } from '../transport/clock';
import { toNodeApiError } from '../transport/failure';
import { cancelSignal } from '../transport/request';
import type { RequestContext } from '../transport/credential';
import type { ApiRequest, Send } from '../transport/request';
import { SINGLE_REQUEST_LIMITS } from '../transport/sendWithRetries';
import { sendWithRetries } from '../transport/sendWithRetries';
import { hintFor } from './hints';
import type { HintContext } from './hints';

/** How to send a single request. */
interface SendOptions {
	itemIndex?: number;
	/** Whether the request may take effect twice. */
	repeatable?: boolean;
	/** Describes the request for the hint after a failure. */
	hintContext?: HintContext;
}

/**
 * Sends a single request with the retry policy, for an item or for a list in the editor.
 *
 * @returns the parsed answer
 * @throws NodeApiError if the request fails
 */
export async function answerFor(
	context: RequestContext,
	send: Send,
	request: ApiRequest,
	{ itemIndex, repeatable = false, hintContext = {} }: SendOptions = {},
): Promise<unknown> {
	const { outcome } = await sendWithRetries(send, {
		request,
		limits: SINGLE_REQUEST_LIMITS,
		repeatable,
		clock: systemClock,
		signal: cancelSignal(context),
	});
	if (outcome.ok) return outcome.answer;
	const { failure } = outcome;
	const hint = hintFor(failure, hintContext);
	throw toNodeApiError(failure, { node: context.getNode(), itemIndex, hint });
}
