import type { NodeApiError } from 'n8n-workflow';

import { systemClock } from '../transport/clock';
import { toNodeApiError } from '../transport/failure';
import type { Failure } from '../transport/failure';
import { cancelSignal } from '../transport/request';
import type { RequestContext } from '../transport/credential';
import type { ApiRequest, Send } from '../transport/request';
import { SINGLE_REQUEST_LIMITS, sendWithRetries } from '../transport/sendWithRetries';
import { hintFor } from './hints';
import type { NamedId } from './ids';

/** How a request is sent, and what its failure becomes. */
interface SendOptions {
	/** Whether the request may take effect twice. */
	repeatable?: boolean;
	/** The IDs that the hint of the failure may name. */
	ids?: NamedId[];
	/** Makes the error of a failure. */
	toError?: (failure: Failure) => NodeApiError;
}

/**
 * Sends a single request with the retry policy, for an item, a list in the editor or a poll.
 *
 * @returns the parsed answer
 * @throws NodeApiError if the request fails
 */
export async function sendOrThrow(
	context: RequestContext,
	send: Send,
	request: ApiRequest,
	{ repeatable = false, ids, toError }: SendOptions = {},
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
	const hint = hintFor(failure, { ids });
	throw toError?.(failure) ?? toNodeApiError(failure, { node: context.getNode(), hint });
}
