import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';

import type { Simplification } from '../operations/operation';
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

/** What Simplify makes of each result, where it is on; a result with none of the keys stays as it is. */
export function simplified(
	{ context, itemIndex }: ItemReader,
	simplification: Simplification,
	results: IDataObject[],
): IDataObject[] {
	if (context.getNodeParameter('simplify', itemIndex, true) !== true) return results;
	if (typeof simplification === 'function') return results.map(simplification);
	return results.map((json) => {
		const kept = pick(json, simplification);
		return Object.keys(kept).length > 0 ? kept : json;
	});
}
