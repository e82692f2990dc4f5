import { IDS_PER_ADDRESS } from '../transport/api';
import { batches, type Documents } from './batches';
import type { ReadyDocument } from './readyDocument';
import type { Fingerprints } from './memory';
import { processingState, type ProcessingStatus, type Statuses } from './processingStatus';

/** Most bytes of the documents that are held back until the server has given their statuses. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** The dependencies of change detection. */
export interface ChangeDetection<Origin> {
	memory: Fingerprints;
	/**
	 * Fetches the processing statuses of documents, by ID in lower case. Documents that the server does not have are
	 * missing.
	 */
	statusesOf: (ids: string[]) => Promise<Statuses>;
	/** Whether a document is done only once it is processed; otherwise it is done once stored. */
	processed: boolean;
	/** Whether earlier runs stored documents without having them processed. */
	onlyStored?: boolean;
	/** Whether unchanged documents are sent as well. */
	resends?: boolean;
	/** Whether the documents are those of an earlier run: then other content that is stored may be newer. */
	isRetry?: boolean;
	/** Called for each document that is left out because other content of it is stored. */
	onOlder?: (document: ReadyDocument<Origin>) => void;
	/**
	 * Called for each document that is left out, with its status if the server gave one. Without a state, it was only
	 * stored, and has to be processed.
	 */
	onUnchanged: (document: ReadyDocument<Origin>, status?: ProcessingStatus) => void;
	/** Called for each unchanged document that is sent anyway, because the server lacks it or did not process it. */
	onMissing?: (document: ReadyDocument<Origin>) => void;
}

/**
 * Leaves out documents that an earlier run stored with the same content, if the server still has them: people delete
 * documents, and other sources disable them, which removes their status. If documents are to be processed, they are
 * left out once that is done or under way, or if they were only stored: then it is begun. If the statuses cannot be
 * read, a document that was seen processed counts as present. This is the only decision about what is sent.
 */
export async function* filterChanged<Origin>(
	documents: Documents<Origin>,
	detection: ChangeDetection<Origin>,
): AsyncGenerator<ReadyDocument<Origin>> {
	const { memory, statusesOf, processed, onlyStored, resends, isRetry } = detection;
	const { onUnchanged, onMissing, onOlder } = detection;
	const held = new Map<string, ReadyDocument<Origin>>();
	let bytes = 0;
	async function* release() {
		const { statuses, failure } = await statusesOf([...held.keys()]);
		for (const [id, document] of held) {
			const status = statuses.get(id);
			const state = processingState(status);
			// One without a state that was processed before was disabled since.
			const isOnlyStored = onlyStored && state === 'none' && !memory.isDone(id, true);
			if (state === 'finish') memory.markProcessed(id);
			const isDone = !processed || isOnlyStored || state === 'finish' || state === 'running';
			const isAssumedDone = failure !== undefined && memory.isDone(id, processed);
			if (status ? isDone : isAssumedDone) {
				onUnchanged(document, processed ? status : undefined);
			} else {
				onMissing?.(document);
				memory.forget(id);
				yield document;
			}
		}
		held.clear();
		bytes = 0;
	}
	for await (const document of documents) {
		const { id, contentHash = '' } = document;
		// Of two documents with one ID, the later is compared with the earlier, not with the last run.
		const key = id.toLowerCase();
		if (held.has(key) || held.size >= IDS_PER_ADDRESS || bytes >= MAX_HELD_BYTES) yield* release();
		const isKnown = memory.has(id, contentHash);
		if (isKnown && !resends && document.record.disabled) {
			onUnchanged(document);
		} else if (isKnown && !resends) {
			held.set(key, document);
			bytes += document.bytes;
		} else if (!isKnown && isRetry && memory.isDone(id, false)) {
			onOlder?.(document);
		} else {
			memory.forget(id);
			yield document;
		}
	}
	if (held.size > 0) yield* release();
}

/**
 * What the next run would do with a document. `back`: it is on the server but cannot be found, for example because it
 * was disabled, and is sent again.
 */
export type PlannedAction = 'new' | 'changed' | 'back' | 'unchanged' | 'gone';

/** The dependencies of a plan. */
export type Planning<Origin> = Pick<
	ChangeDetection<Origin>,
	'memory' | 'statusesOf' | 'processed' | 'onlyStored' | 'resends'
> & {
	/** Called once for each document that is read. */
	onPlanned: (document: ReadyDocument<Origin>, plan: PlannedAction) => void;
};

/**
 * Reports what the next run would do with each document. It uses the decision of the run itself (`filterChanged`),
 * which changes `memory` as a run would.
 */
export async function planDocuments<Origin>(
	given: Documents<Origin>,
	{ onPlanned, ...detection }: Planning<Origin>,
): Promise<void> {
	const missing = new Set<ReadyDocument<Origin>>();
	const onUnchanged = (document: ReadyDocument<Origin>) => onPlanned(document, 'unchanged');
	const onMissing = (document: ReadyDocument<Origin>) => missing.add(document);
	const toSend = filterChanged(given, { ...detection, onUnchanged, onMissing });
	const limits = { maxCount: IDS_PER_ADDRESS, maxBytes: Infinity };
	for await (const some of batches<Origin>(toSend, limits)) {
		const { statuses } = await detection.statusesOf(some.map(({ id }) => id.toLowerCase()));
		for (const document of some) {
			const isChanged = !missing.delete(document) && detection.memory.knows(document.id);
			onPlanned(document, planOf(statuses.get(document.id.toLowerCase()), isChanged));
		}
	}
}

/**
 * What sending a document would do.
 *
 * @param status the server's status of the document, if it has one
 * @param isChanged whether an earlier run stored it with other content
 */
function planOf(status: ProcessingStatus | undefined, isChanged: boolean): PlannedAction {
	if (!status) return 'new';
	const state = processingState(status);
	return state === 'finish' || state === 'running' || isChanged ? 'changed' : 'back';
}
