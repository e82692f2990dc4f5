import { systemClock } from '../transport/clock';
import { toNodeApiError } from '../transport/failure';
import { cancelSignal } from '../transport/request';
import type { RequestContext } from '../transport/credential';
import type { ApiRequest, Send } from '../transport/request';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import { hintFor } from './hints';
import type { RequestMeaning } from './hints';

/** What is known of a request that stands alone. */
interface Circumstances {
	itemIndex?: number;
	/** Whether the request may arrive twice without harm. */
	repeatable?: boolean;
	/** To word what its failure means. */
	meaning?: RequestMeaning;
}

/**
 * Sends a request that stands alone, for an item or for a list in the editor, with the retry policy.
 *
 * @returns the parsed answer of a success
 * @throws NodeApiError for anything else
 */
export async function answerFor(
	context: RequestContext,
	send: Send,
	request: ApiRequest,
	{ itemIndex, repeatable = false, meaning = {} }: Circumstances = {},
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
	const hint = hintFor(failure, meaning);
	throw toNodeApiError(failure, { node: context.getNode(), itemIndex, hint });
}
