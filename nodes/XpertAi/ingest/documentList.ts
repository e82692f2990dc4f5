import { get } from 'lodash';
import { z } from 'zod';

const NOT_LISTED_MESSAGE = 'it does not list the documents that it should';

/**
 * Returns the schema of a list of documents. The list must contain all `ids`, because a proxy may answer with an empty
 * list. Each entry must have an ID, because another server may answer with another list.
 *
 * @param ids IDs of documents that are on the server
 */
export const documentListSchema = (ids: string[] = []) =>
	z.array(z.unknown(), { message: NOT_LISTED_MESSAGE }).refine((records) => {
		const listed = new Set(records.map(lowerCaseRecordId));
		return !listed.has(undefined) && ids.every((id) => listed.has(id.toLowerCase()));
	}, NOT_LISTED_MESSAGE);

/** Returns the ID of a record in lower case, because servers do not keep the case of IDs. */
export function lowerCaseRecordId(record: unknown): string | undefined {
	const id: unknown = get(record, 'id');
	return typeof id === 'string' && id !== '' ? id.toLowerCase() : undefined;
}
