import { IDS_PER_ADDRESS } from '../transport/api';
import { batches } from './batches';
import type { Documents, ReadyDocument } from './batches';
import type { Fingerprints } from './memory';
import { processingState } from './processingStatus';
import type { ProcessingStatus, Statuses } from './processingStatus';

/** Most documents, and most bytes of them, that are held back until the server has given their statuses. */
const MAX_HELD = 250;
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
	/** Called for each document that is left out, with its status if the server gave one. */
	onUnchanged: (document: ReadyDocument<Origin>, status?: ProcessingStatus) => void;
	/** Called for each unchanged document that is sent anyway, because the server lacks it or did not process it. */
	onMissing?: (document: ReadyDocument<Origin>) => void;
}

/**
 * Leaves out documents that an earlier run stored with the same content, if the server still has them: people delete
 * documents, and other sources disable them, which removes their status. If documents are to be processed, they are
 * left out once that is done or under way. If the statuses cannot be read, a document that was seen processed counts
 * as present.
 */
export async function* filterChanged<Origin>(
	documents: Documents<Origin>,
	{ memory, statusesOf, processed, onUnchanged, onMissing }: ChangeDetection<Origin>,
): AsyncGenerator<ReadyDocument<Origin>> {
	const held = new Map<string, ReadyDocument<Origin>>();
	let bytes = 0;
	async function* release() {
		const { statuses, failure } = await statusesOf([...held.keys()]);
		for (const [id, document] of held) {
			const status = statuses.get(id);
			const state = processingState(status);
			if (state === 'finish') memory.markProcessed(id);
			const isDone = !processed || state === 'finish' || state === 'running';
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
		if (held.has(key) || held.size >= MAX_HELD || bytes >= MAX_HELD_BYTES) yield* release();
		if (memory.has(id, contentHash)) {
			held.set(key, document);
			bytes += document.bytes;
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
export type Planning<Origin> = Omit<ChangeDetection<Origin>, 'onUnchanged' | 'onMissing'> & {
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
