import pick from 'lodash/pick';
import type { IDataObject } from 'n8n-workflow';

import { isJsonObject } from '../transport/answer';

/** The keys Simplify keeps of a result, or what it makes of it. */
export type Simplification = string[] | ((result: IDataObject) => IDataObject);

/**
 * The output an answer gives when an operation does not shape it: the object itself, one item for
 * each element of an array, and `{ response }` for anything else.
 */
export function answerItems(answer: unknown): IDataObject[] {
	if (Array.isArray(answer)) return answer.map(asJson);
	return [asJson(answer)];
}

/**
 * The output of a delete, which is the same for all of n8n's nodes. A success whose answer counts no
 * record as deleted is told apart; those recorded count one (E17), or give back what there was (E14).
 */
export function deletedItem(answer: unknown): IDataObject[] {
	return [{ deleted: !(isJsonObject(answer) && answer.affected === 0) }];
}

/** An answer as the JSON of an item; what is no object stands under `response`. */
export function asJson(value: unknown): IDataObject {
	if (isJsonObject(value)) return value;
	return value === undefined ? {} : { response: value as IDataObject[string] };
}

/** What Simplify makes of each result; a result with none of the keys stays as it is. */
export function simplified(simplification: Simplification, results: IDataObject[]): IDataObject[] {
	if (typeof simplification === 'function') return results.map(simplification);
	return results.map((json) => {
		const kept = pick(json, simplification);
		return Object.keys(kept).length > 0 ? kept : json;
	});
}
