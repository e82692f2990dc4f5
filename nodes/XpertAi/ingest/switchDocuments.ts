import chunk from 'lodash/chunk';

import type { Failure } from '../transport/failure';
import { listWith } from './answeredRecords';
import type { MemoryRoutes } from './memory';

/** Documents in one request; the server takes some milliseconds for each. */
const DOCUMENTS_AT_ONCE = 100;

/** The dependencies of disabling and enabling documents. */
export interface Switching {
	disabled: boolean;
	/**
	 * Called before documents are changed.
	 *
	 * @returns why they must not be
	 */
	beforeChange?: (ids: string[]) => Promise<Failure | undefined>;
	routes: Pick<MemoryRoutes, 'send' | 'storePath'> & { signal?: AbortSignal };
	/** Further fields of a document, such as its name: the server clears fields that are not sent. */
	fieldsOf: (id: string) => object;
	/** Called once for each document that was switched. */
	onSwitched: (id: string) => void;
}

/**
 * Disables documents, which takes them out of every answer, or enables them again.
 *
 * @param ids documents that the server has: it would create others, and they would be empty
 * @returns why the rest was not switched
 */
export async function switchDocuments(
	ids: string[],
	{ disabled, beforeChange, routes, fieldsOf, onSwitched }: Switching,
): Promise<Failure | undefined> {
	for (const batch of chunk(ids, DOCUMENTS_AT_ONCE)) {
		if (routes.signal?.aborted) return undefined;
		const refusal = await beforeChange?.(batch);
		if (refusal) return refusal;
		const body = JSON.stringify(batch.map((id) => ({ ...fieldsOf(id), id, disabled })));
		const schema = listWith(batch);
		const outcome = await routes.send({ method: 'POST', path: routes.storePath, body, schema });
		if (!outcome.ok) return outcome.failure;
		for (const id of batch) onSwitched(id);
	}
	return undefined;
}
