import chunk from 'lodash/chunk';

import type { Failure } from '../transport/failure';
import type { DocumentName, MemoryRoutes } from './memory';
import { listWith } from './answeredRecords';
import { fetchStatuses } from './processingStatus';
import type { ProcessingRoutes, ProcessingStatus } from './processingStatus';

/** Documents in one request; the server takes some milliseconds for each. */
const DOCUMENTS_AT_ONCE = 100;

/** The dependencies of disabling and enabling documents. */
export interface Switching {
	disabled: boolean;
	/** A document that is certainly on the server, if one is known. */
	requiredId?: string;
	/** Whether a document is left unchanged, by its status. */
	isSkipped?: (id: string, status?: ProcessingStatus) => boolean;
	/**
	 * Called before documents are changed.
	 *
	 * @returns why they must not be
	 */
	beforeChange?: (ids: string[]) => Promise<Failure | undefined>;
	routes: ProcessingRoutes & MemoryRoutes;
	/** Further fields to send, by ID. */
	extraFields?: Map<string, object>;
	/** Called once for each document, with whether it was switched. */
	onSwitched: (id: string, isThere: boolean) => void;
}

/** Fields that keep the names of documents when they are switched: the server clears fields that are not sent. */
export function namedRows(names: Map<string, DocumentName>): Map<string, object> {
	return new Map(
		[...names].flatMap(([id, { name }]) => (name === undefined ? [] : [[id, { name }] as const])),
	);
}

/**
 * Disables documents, which takes them out of every answer, or enables them again. Documents that the server does not
 * have are skipped: sending them would create empty ones.
 *
 * @param ids in lower case
 * @returns why the rest was not switched
 */
export async function switchDocuments(
	ids: string[],
	{ disabled, requiredId, isSkipped, beforeChange, routes, extraFields, onSwitched }: Switching,
): Promise<Failure | undefined> {
	const { statuses, failure } = await fetchStatuses(ids, routes, requiredId);
	if (failure) return failure;
	for (const batch of chunk(ids, DOCUMENTS_AT_ONCE)) {
		if (routes.signal?.aborted) return undefined;
		const present = batch.filter((id) => statuses.has(id) && !isSkipped?.(id, statuses.get(id)));
		if (present.length > 0) {
			const refusal = await beforeChange?.(present);
			if (refusal) return refusal;
			const body = JSON.stringify(present.map((id) => ({ ...extraFields?.get(id), id, disabled })));
			const request = { method: 'POST', path: routes.storePath, body } as const;
			const outcome = await routes.send({
				...request,
				repeatable: true,
				schema: listWith(present),
			});
			if (!outcome.ok) return outcome.failure;
		}
		for (const id of batch) onSwitched(id, present.includes(id));
	}
	return undefined;
}
