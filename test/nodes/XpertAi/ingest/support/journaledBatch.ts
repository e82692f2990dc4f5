import type { BatchJournalRows, SourceMemory } from '../../../../../nodes/XpertAi/ingest/memory';
import type { MemoryRoutes } from '../../../../../nodes/XpertAi/ingest/memory/notes';
import { anySuccessfulAnswer } from '../../../../../nodes/XpertAi/transport/answerSchemas';
import type { RequestOutcome } from '../../../../../nodes/XpertAi/transport/request';

/** A batch that may be sent, any number of times, and what is to be told how that ended. */
export interface SendableBatch {
	send: () => Promise<RequestOutcome>;
	ended: BatchJournalRows['onEnded'];
}

/**
 * A batch as `storing.ts` sends it: its documents between the rows that note them.
 *
 * @param contents by the ids of the documents
 * @param documents the rows of the documents; none where only what is noted counts
 * @returns nothing where it must not be sent
 */
export async function journaledBatch(
	memory: SourceMemory,
	routes: MemoryRoutes,
	contents: Map<string, string>,
	documents: object[] = [],
): Promise<SendableBatch | undefined> {
	const around = await memory.journalBatch(contents);
	if (!around || 'failure' in around) return undefined;
	const rows = [around.before, ...documents.map((one) => JSON.stringify(one)), around.after];
	const body = `[${rows.join(',')}]`;
	return {
		send: async () =>
			await routes.send({
				method: 'POST',
				path: '/bulk',
				body,
				schema: anySuccessfulAnswer,
			}),
		ended: around.onEnded,
	};
}
