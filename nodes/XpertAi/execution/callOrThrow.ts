import type { NodeApiError } from 'n8n-workflow';

import { call, type Call } from '../transport/call';
import { systemClock } from '../transport/clock';
import type { RequestContext } from '../transport/credential';
import { toNodeApiError, type Failure } from '../transport/failure';
import { cancelSignal, type Send } from '../transport/request';
import { hintFor } from './hints';
import type { NamedId } from './ids';

/** How a failure becomes an error. */
interface ErrorOptions {
	/** The IDs that the hint of the failure may name. */
	ids?: NamedId[];
	/** Makes the error of a failure. */
	toError?: (failure: Failure) => NodeApiError;
}

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
	{ ids, toError }: ErrorOptions = {},
): Promise<Answer> {
	const signal = cancelSignal(context);
	const result = await call({ send, clock: systemClock, signal }, request);
	if (result.ok) return result.answer;
	const { failure } = result;
	const hint = hintFor(failure, { ids });
	throw toError?.(failure) ?? toNodeApiError(failure, { node: context.getNode(), hint });
}
