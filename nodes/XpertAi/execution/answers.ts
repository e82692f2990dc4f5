import isEmpty from 'lodash/isEmpty';
import pick from 'lodash/pick';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';

import type { Simplification } from '../operations/operation';
import { systemClock } from '../transport/clock';
import { toNodeApiError } from '../transport/failure';
import { cancelSignal } from '../transport/request';
import type { ApiRequest, RequestContext, Send } from '../transport/request';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import { hintFor } from './hints';
import type { RequestMeaning } from './hints';
import { readSwitch } from './readFields';
import type { ItemReader } from './readFields';

/** Who needs an answer: an item of an execution, or a list in the editor. */
interface Asking {
	context: RequestContext;
	itemIndex?: number;
	/** What is known of the request, to word what its failure means. */
	meaning?: RequestMeaning;
}

/**
 * Sends a request that stands alone, with the retry policy.
 *
 * @param repeatable whether the request may arrive twice without harm
 * @returns the parsed answer of a success
 * @throws NodeApiError for anything else
 */
export async function answerFor(
	{ context, itemIndex, meaning = {} }: Asking,
	send: Send,
	request: ApiRequest,
	repeatable = false,
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

/**
 * Whether Simplify is on; to be read before anything is sent.
 *
 * @throws NodeOperationError when the value says neither on nor off
 */
export function readSimplify(reader: ItemReader): boolean {
	return readSwitch(reader, 'simplify', 'Simplify', true);
}

/** What Simplify makes of each result; a result with none of the keys stays as it is. */
export function simplified(simplification: Simplification, results: IDataObject[]): IDataObject[] {
	if (typeof simplification === 'function') return results.map(simplification);
	return results.map((json) => {
		const kept = pick(json, simplification);
		return Object.keys(kept).length > 0 ? kept : json;
	});
}

/**
 * Tells the user of items without any field. The request was done, so it must not fail and be made
 * again; but a step that needs its ID will find none.
 */
export function hintAtEmptyItems(context: IExecuteFunctions, output: INodeExecutionData[]): void {
	const empty = output.filter(({ json }) => isEmpty(json)).length;
	if (empty === 0) return;
	const items = empty === 1 ? 'One item is' : `${empty} items are`;
	context.addExecutionHints({
		message: `${items} empty: the server confirmed the request but sent no data back.`,
		location: 'outputPane',
	});
}
