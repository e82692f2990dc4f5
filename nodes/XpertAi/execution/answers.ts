import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';

import { toNodeApiError } from '../transport/failure';
import type { ApiRequest, Send } from '../transport/request';
import type { ItemReader } from './readFields';

/**
 * Sends a request for an item.
 *
 * @returns the parsed answer of a success
 * @throws NodeApiError for anything else
 */
export async function answerFor(
	{ context, itemIndex }: ItemReader,
	send: Send,
	request: ApiRequest,
): Promise<unknown> {
	const outcome = await send(request);
	if (!outcome.ok) throw toNodeApiError(outcome.failure, { node: context.getNode(), itemIndex });
	return outcome.answer;
}

/** Keeps only the named keys of each result, where Simplify is on and the result has any of them. */
export function simplified(
	{ context, itemIndex }: ItemReader,
	keys: string[],
	results: IDataObject[],
): IDataObject[] {
	if (context.getNodeParameter('simplify', itemIndex, true) !== true) return results;
	return results.map((json) => {
		const kept = pick(json, keys);
		return Object.keys(kept).length > 0 ? kept : json;
	});
}
