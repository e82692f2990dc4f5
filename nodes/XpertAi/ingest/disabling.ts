import chunk from 'lodash/chunk';

import type { Failure } from '../transport/failure';
import { askWhere, listOf } from './listedIds';
import type { MemoryRoutes, SourceMemory } from './memory';
import type { ProcessingRoutes } from './processing';

/** Documents in one request; each takes the server some milliseconds. */
const DOCUMENTS_AT_ONCE = 100;

/** What taking documents out of answers needs from outside. */
export interface Disabling {
	memory: SourceMemory;
	routes: ProcessingRoutes & MemoryRoutes;
	/** Told each document that no assistant finds any more, once. */
	onDisabled: (id: string) => void;
}

/**
 * Takes documents out of every answer and forgets them, so that they are sent whole when the source brings
 * them again. One that the server does not have any more is only forgotten: disabled, it would be stored anew.
 *
 * @returns what kept the rest from being disabled; the next run takes them up
 */
export async function disableDocuments(
	ids: string[],
	{ memory, routes, onDisabled }: Disabling,
): Promise<Failure | undefined> {
	const { statuses, failure } = await askWhere(ids, memory.witness, routes);
	if (failure) return failure;
	for (const batch of chunk(ids, DOCUMENTS_AT_ONCE)) {
		if (routes.signal?.aborted) return undefined;
		const there = batch.filter((id) => statuses.has(id));
		const ended = there.length > 0 ? await disableBatch(there, memory, routes) : undefined;
		if (ended) return ended;
		for (const id of batch) memory.known.drop(id);
		for (const id of there) onDisabled(id);
	}
	return undefined;
}

async function disableBatch(
	ids: string[],
	memory: SourceMemory,
	{ send, storePath }: MemoryRoutes,
): Promise<Failure | undefined> {
	const unnoted = await memory.expect(ids);
	if (unnoted) return unnoted;
	const body = JSON.stringify(ids.map((id) => ({ id, disabled: true })));
	const checkAnswer = listOf(ids);
	const outcome = await send({ method: 'POST', path: storePath, body, checkAnswer });
	return outcome.ok ? undefined : outcome.failure;
}
