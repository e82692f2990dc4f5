import { IDS_PER_ADDRESS } from '../transport/api';
import type { SourceMemory } from './memory';
import { processingState } from './answers';
import type { Documents, ProcessingStatus, ReadyDocument, Statuses } from './answers';

/** Once the documents that wait for their statuses have this size in bytes, the statuses are fetched. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** Dependencies and settings of `compareDocuments`. */
export interface Comparison {
	memory: SourceMemory['known'];
	/**
	 * Fetches processing statuses. The result has the ID in lower case as key, and no entry for a document that the
	 * server does not have.
	 */
	statusesOf: (ids: string[]) => Promise<Statuses>;
	/** If true, a document is done once it is processed; if false, once it is stored. */
	processed: boolean;
	/** Whether the last run only stored its documents, and did not start their processing. */
	onlyStored?: boolean;
	/** Whether unchanged documents are sent as well. */
	resends?: boolean;
	/** Whether a retried execution brings the documents. If other content is stored, it may be newer, and is kept. */
	isRetry?: boolean;
}

/**
 * How a document compares with what earlier runs stored.
 *
 * `missing`: the content is the same, but the server lacks the document, has not processed it, or could not be asked.
 * `older`: a retried execution brings the document, and other content is stored, which may be newer.
 * `unchanged`, with a status in state `none`: the document is stored, but its processing must still be started.
 */
export interface Compared<Origin> {
	document: ReadyDocument<Origin>;
	is: 'new' | 'changed' | 'missing' | 'older' | 'unchanged';
	/** The status of an unchanged document. Unset if documents are not processed, or if the status was not fetched. */
	status?: ProcessingStatus;
}

/**
 * Decides which documents have changed; no other code does. Compares each document with the memory. If the content is
 * the same, also checks its status on the server, because the document may have been deleted there, or disabled, which
 * clears its status. A document with the same content is unchanged:
 * - with `processed`: if it is processed or in process, or if the last run only stored it;
 * - without `processed`: if the server has it;
 * - if its status cannot be read: if an earlier run completed it;
 * - if the record disables it: always.
 *
 * With `resends`, no document is unchanged. The memory forgets the content of each document that is to be sent, because
 * sending may fail.
 */
export async function* compareDocuments<Origin>(
	documents: Documents<Origin>,
	{ memory, statusesOf, processed, onlyStored, resends, isRetry }: Comparison,
): AsyncGenerator<Compared<Origin>> {
	const held = new Map<string, ReadyDocument<Origin>>();
	let bytes = 0;
	async function* release(): AsyncGenerator<Compared<Origin>> {
		const { statuses, failure } = await statusesOf([...held.keys()]);
		for (const [id, document] of held) {
			const status = statuses.get(id);
			const state = processingState(status);
			// A document that is processed according to the memory, but has no state on the server, was disabled: send
			// it again.
			const isOnlyStored = onlyStored && state === 'none' && !memory.isDone(id, true);
			if (state === 'finish') memory.markProcessed(id);
			const isDone = !processed || isOnlyStored || state === 'finish' || state === 'running';
			const isAssumedDone = failure !== undefined && memory.isDone(id, processed);
			const isUnchanged = status ? isDone : isAssumedDone;
			if (!isUnchanged) memory.forget(id);
			if (isUnchanged) yield { document, is: 'unchanged', status: processed ? status : undefined };
			else yield { document, is: 'missing' };
		}
		held.clear();
		bytes = 0;
	}
	for await (const document of documents) {
		const { id, contentHash = '' } = document;
		// If an ID occurs twice, the first document is compared completely before the second: the result may change the
		// memory.
		const key = id.toLowerCase();
		if (held.has(key) || held.size >= IDS_PER_ADDRESS || bytes >= MAX_HELD_BYTES) yield* release();
		const isSame = memory.has(id, contentHash);
		if (isSame && !resends && document.record.disabled) yield { document, is: 'unchanged' };
		else if (isSame && !resends) {
			held.set(key, document);
			bytes += document.bytes;
		} else if (!isSame && isRetry && memory.isDone(id, false)) yield { document, is: 'older' };
		else {
			const is = memory.knows(id) ? 'changed' : 'new';
			memory.forget(id);
			yield { document, is };
		}
	}
	if (held.size > 0) yield* release();
}

/**
 * What the next run would do with a document. `new` and `changed`: sends it. `back`: sends it again, because the server
 * has it but assistants cannot find it, for example after it was disabled. `gone`: disables it, because the source no
 * longer has it.
 */
export type PlannedAction = 'new' | 'changed' | 'back' | 'unchanged' | 'gone';

/**
 * Plans what the next run would do with each document. `compareDocuments` decides, as it does in a run, and updates
 * `comparison.memory`.
 */
export async function* planDocuments<Origin>(
	documents: Documents<Origin>,
	comparison: Comparison,
): AsyncGenerator<{ document: ReadyDocument<Origin>; plan: PlannedAction }> {
	const held: Array<Compared<Origin>> = [];
	async function* release() {
		const idOf = ({ document }: Compared<Origin>) => document.id.toLowerCase();
		const { statuses } = await comparison.statusesOf(held.map(idOf));
		for (const one of held.splice(0))
			yield { document: one.document, plan: planOf(one, statuses.get(idOf(one))) };
	}
	for await (const one of compareDocuments(documents, comparison)) {
		if (one.is === 'unchanged') yield { document: one.document, plan: one.is };
		else held.push(one);
		if (held.length >= IDS_PER_ADDRESS) yield* release();
	}
	if (held.length > 0) yield* release();
}

/**
 * The planned action for a document that would be sent. `status` is unset if the server does not have the document or
 * could not be asked.
 */
function planOf({ is }: Compared<unknown>, status: ProcessingStatus | undefined): PlannedAction {
	if (!status) return 'new';
	const state = processingState(status);
	return state === 'finish' || state === 'running' || is === 'changed' ? 'changed' : 'back';
}
