import { atOnce } from './batches';
import type { Documents, ReadyDocument } from './batches';
import type { Fingerprints } from './fingerprints';
import { processingWord } from './processing';
import type { ProcessingStatus } from './processing';

/** Documents held back until the server has said how their processing ended. */
const HELD = 250;

/** What is left out needs from outside. */
export interface Unchanged<Origin> {
	memory: Fingerprints;
	/**
	 * Asks where documents stand, by their ids in lower case; those without an answer are sent again. Left out
	 * where documents are done when they are stored.
	 */
	statusesOf?: (ids: string[]) => Promise<Map<string, ProcessingStatus>>;
	/** Told each document that is left out, with its status where that was asked for. */
	onUnchanged: (document: ReadyDocument<Origin>, status?: ProcessingStatus) => void;
}

/**
 * Leaves out the documents that an earlier run has stored with the same content. Those it has stored, but
 * not seen processed, are left out if the server has processed them since, or is still at it.
 */
export async function* changedOnly<Origin>(
	given: Documents<Origin>,
	{ memory, statusesOf, onUnchanged }: Unchanged<Origin>,
): AsyncGenerator<ReadyDocument<Origin>> {
	const held = new Map<string, ReadyDocument<Origin>>();
	async function* release() {
		const statuses = (await statusesOf?.([...held.keys()])) ?? new Map<string, ProcessingStatus>();
		for (const [id, document] of held) {
			const status = statuses.get(id);
			const word = processingWord(status);
			if (word === 'finish') memory.settle(id);
			if (word === 'finish' || word === 'running') {
				onUnchanged(document, status);
			} else {
				memory.forget(id);
				yield document;
			}
		}
		held.clear();
	}
	for await (const documents of atOnce(given)) {
		for (const document of documents) {
			const { id, content = document.json } = document;
			if (id === undefined) {
				yield document;
				continue;
			}
			// The later of two documents with one id is compared with the earlier, not with the last run's.
			const key = id.toLowerCase();
			if (held.has(key) || held.size >= HELD) yield* release();
			if (!memory.has(id, content)) {
				memory.forget(id);
				yield document;
			} else if (statusesOf && memory.isPending(id)) {
				held.set(key, document);
			} else {
				onUnchanged(document);
			}
		}
	}
	if (held.size > 0) yield* release();
}
