import { IDS_PER_ADDRESS } from '../transport/api';
import type { SourceMemory } from './memory';
import { processingState } from './answers';
import type { Documents, ProcessingStatus, ReadyDocument, Statuses } from './answers';

/** Statuses are fetched once the documents in `held` have this size in bytes. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

export interface Comparison {
	memory: SourceMemory['known'];
	/**
	 * Fetches processing statuses, by ID in lower case. The result leaves out documents that the server does not have.
	 */
	statusesOf: (ids: string[]) => Promise<Statuses>;
	/** If true, a document is done once it is processed; if false, once it is stored. */
	processed: boolean;
	/** Whether the last run stored its documents without starting their processing. */
	onlyStored?: boolean;
	/** Whether unchanged documents are sent as well. */
	resends?: boolean;
	/** Whether n8n retries an earlier execution. Its documents may be outdated, so other stored content is kept. */
	isRetry?: boolean;
}

/**
 * The result of comparing a document with earlier runs.
 * `missing`: the content is the same, but the server does not have the document, did not process it, or gave no status.
 * `older`: the execution is a retry, and other content is stored, which may be newer.
 * `unchanged`: if `status` is in state `none`, the processing must still be started.
 */
export interface Compared<Origin> {
	document: ReadyDocument<Origin>;
	is: 'new' | 'changed' | 'missing' | 'older' | 'unchanged';
	/** Status of an unchanged document. Unset if the run processes no documents, or did not fetch the status. */
	status?: ProcessingStatus;
}

/**
 * Decides which documents have changed since earlier runs. If the content is the same, also checks the status on the
 * server, because a user may have deleted or disabled the document. A document with the same content is unchanged in
 * these cases:
 * - Its record disables it.
 * - Its status cannot be read, and an earlier run completed it.
 * - `processed` is true, and the server has processed it or is processing it.
 * - `processed` is true, and the last run only stored it.
 * - `processed` is false, and the server has it.
 *
 * With `resends`, no document is unchanged. The memory forgets the content of each document to send, because sending
 * may fail.
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
			// If a document is processed in the memory but has no state on the server, it was disabled: send it again.
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
		// A second document with the same ID waits for the first comparison, which may change the memory.
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
 * What the next run would do with a document.
 * `new`, `changed`: send it.
 * `back`: send it again. The server has it, but assistants cannot find it, for example because it was disabled.
 * `gone`: disable it, because the source no longer has it.
 */
export type PlannedAction = 'new' | 'changed' | 'back' | 'unchanged' | 'gone';

/** Plans what the next run would do with each document. Like `compareDocuments`, updates `comparison.memory`. */
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

/** The planned action for a document to send. `status` is unset if the server gave no status. */
function planOf({ is }: Compared<unknown>, status: ProcessingStatus | undefined): PlannedAction {
	if (!status) return 'new';
	const state = processingState(status);
	return state === 'finish' || state === 'running' || is === 'changed' ? 'changed' : 'back';
}
