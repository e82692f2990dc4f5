import chunk from 'lodash/chunk';

import type { Failure } from '../transport/failure';
import type { DocumentName, MemoryRoutes } from './memory';
import { askStatuses, mustList } from './processingStatus';
import type { ProcessingRoutes, ProcessingStatus } from './processingStatus';

/** Documents in one request; each takes the server some milliseconds. */
const DOCUMENTS_AT_ONCE = 100;

/** What taking documents out of answers, or letting them in again, needs from outside. */
export interface Switching {
	disabled: boolean;
	/** A document that is certainly there, where one is known. */
	witness?: string;
	/** Whether a document is left as it is, by its status. */
	isSkipped?: (id: string, status?: ProcessingStatus) => boolean;
	/** Asked before documents are changed; gives why they must not be. */
	beforeChange?: (ids: string[]) => Promise<Failure | undefined>;
	routes: ProcessingRoutes & MemoryRoutes;
	/** What else is sent of them, by id. */
	extraFields?: Map<string, object>;
	/** Told each document once, and whether the server has it. */
	onSwitched: (id: string, isThere: boolean) => void;
}

/** What is sent of documents beside their ids, so that they keep their names: the server clears what does not come. */
export function namedRows(names: Map<string, DocumentName>): Map<string, object> {
	return new Map(
		[...names].flatMap(([id, { name }]) => (name === undefined ? [] : [[id, { name }] as const])),
	);
}

/**
 * Takes documents out of every answer, or lets them in again. One that the server does not have is left alone: it would
 * be stored anew, without anything in it.
 *
 * @returns what kept the rest from it
 */
export async function switchDocuments(
	ids: string[],
	{ disabled, witness, isSkipped, beforeChange, routes, extraFields, onSwitched }: Switching,
): Promise<Failure | undefined> {
	const { statuses, failure } = await askStatuses(ids, routes, witness);
	if (failure) return failure;
	for (const batch of chunk(ids, DOCUMENTS_AT_ONCE)) {
		if (routes.signal?.aborted) return undefined;
		const present = batch.filter((id) => statuses.has(id) && !isSkipped?.(id, statuses.get(id)));
		const rows = present.map((id) => ({ ...extraFields?.get(id), id, disabled }));
		if (present.length > 0) {
			const failed = (await beforeChange?.(present)) ?? (await sendBatch(rows, routes));
			if (failed) return failed;
		}
		for (const id of batch) onSwitched(id, present.includes(id));
	}
	return undefined;
}

async function sendBatch(
	rows: Array<{ id: string; disabled: boolean }>,
	{ send, storePath }: MemoryRoutes,
): Promise<Failure | undefined> {
	const body = JSON.stringify(rows);
	const checkAnswer = mustList(rows.map(({ id }) => id));
	const outcome = await send({ method: 'POST', path: storePath, body, checkAnswer });
	return outcome.ok ? undefined : outcome.failure;
}
