import { IDS_PER_ADDRESS } from '../transport/api';
import type { Documents, ReadyDocument } from './facts';
import type { SourceMemory } from './memory';
import { processingState, type ProcessingStatus, type Statuses } from './statuses';

/** Size in bytes at which `compareDocuments` stops collecting documents and checks their statuses. */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

export interface CompareOptions {
	memory: SourceMemory['known'];
	/**
	 * Fetches processing statuses. The keys are IDs in lower case. A document that is not on the server has no entry.
	 */
	statusesOf: (ids: string[]) => Promise<Statuses>;
	/** Whether documents must be processed. If false, storing is enough. */
	processed: boolean;
	/** Whether the last run only stored documents, and started no processing. */
	onlyStored?: boolean;
	/** Whether to send all documents, even unchanged ones. */
	resends?: boolean;
	/** Whether n8n retries an earlier execution. The documents of a retry may be older than the stored ones. */
	isRetry?: boolean;
}

/**
 * How a document stands to what earlier runs stored.
 * `new`, `changed`: it must be sent.
 * `back`: the content is the same, but it must be sent again, because assistants cannot find the stored document.
 * `unchanged`: it need not be sent, but its processing may not have been started yet.
 * `older`: the execution is a retry, and the stored content may be newer.
 * `gone`: the source no longer has it.
 */
export type Standing = 'new' | 'changed' | 'back' | 'unchanged' | 'older' | 'gone';

/** The result of comparing a document with earlier runs. */
export interface Compared<Report> {
	document: ReadyDocument<Report>;
	standing: Exclude<Standing, 'gone'>;
	/** The processing status of an unchanged document. Unset if `processed` is false, or if no status was fetched. */
	status?: ProcessingStatus;
}

/**
 * Compares documents with what earlier runs stored. If the content is the same, checks the status on the server,
 * because a user may have deleted or disabled the document. Skips this check for documents that are disabled by
 * their record. The server clears the status of a disabled document.
 *
 * Marks the content of each document to send as unknown in the memory, because the request may fail.
 */
export async function* compareDocuments<Report>(
	documents: Documents<Report>,
	{ memory, statusesOf, processed, onlyStored, resends, isRetry }: CompareOptions,
): AsyncGenerator<Array<Compared<Report>>> {
	const held = new Map<string, ReadyDocument<Report>>();
	let bytes = 0;
	let all: Array<Compared<Report>> = [];
	const release = async () => {
		const { statuses, failure } = await statusesOf([...held.keys()]);
		for (const [id, document] of held) {
			const status = statuses.get(id);
			const state = processingState(status);
			// `memory.isDone(id, true)` means that the document was processed earlier. If its state is `none` now, a
			// user has disabled the document. Such a document is sent again.
			const isOnlyStored = onlyStored && state === 'none' && !memory.isDone(id, true);
			if (state === 'finish') memory.markProcessed(id);
			const isDone = !processed || isOnlyStored || state === 'finish' || state === 'running';
			const isAssumedDone = failure !== undefined && memory.isDone(id, processed);
			const isUnchanged = status ? isDone : isAssumedDone;
			if (!isUnchanged) memory.forget(id);
			const shown = isUnchanged && processed ? status : undefined;
			all.push({ document, standing: isUnchanged ? 'unchanged' : 'back', status: shown });
		}
		held.clear();
		bytes = 0;
	};
	for await (const group of documents) {
		for (const document of group) {
			const { id, contentHash = '' } = document;
			// Documents with the same ID are compared one after the other, because a comparison changes the memory.
			const key = id.toLowerCase();
			if (held.has(key) || held.size >= IDS_PER_ADDRESS || bytes >= MAX_HELD_BYTES) await release();
			const isKnown = memory.knows(id);
			const isSame = isKnown && memory.has(id, contentHash);
			if (isSame && !resends && document.record.disabled)
				all.push({ document, standing: 'unchanged' });
			else if (isSame && !resends) {
				held.set(key, document);
				bytes += document.bytes;
			} else if (!isSame && isRetry && memory.isDone(id, false))
				all.push({ document, standing: 'older' });
			else {
				if (isKnown) memory.markUnknown(id);
				all.push({ document, standing: isKnown ? 'changed' : 'new' });
			}
		}
		yield all;
		all = [];
	}
	if (held.size > 0) await release();
	yield all;
}

/** The standing that a plan tells. It never tells `older`, because a plan is not a retry. */
export type PlannedStanding = Exclude<Standing, 'older'>;

/** Tells what the next run would do with each document. Updates `comparison.memory`. */
export async function* planDocuments<Report>(
	documents: Documents<Report>,
	comparison: CompareOptions,
): AsyncGenerator<{ document: ReadyDocument<Report>; plan: PlannedStanding }> {
	const held: Array<Compared<Report>> = [];
	async function* release() {
		const idOf = ({ document }: Compared<Report>) => document.id.toLowerCase();
		const { statuses } = await comparison.statusesOf(held.map(idOf));
		for (const one of held.splice(0))
			yield { document: one.document, plan: planOf(one, statuses.get(idOf(one))) };
	}
	for await (const group of compareDocuments(documents, comparison))
		for (const one of group) {
			if (one.standing === 'unchanged') yield { document: one.document, plan: one.standing };
			else held.push(one);
			if (held.length >= IDS_PER_ADDRESS) yield* release();
		}
	if (held.length > 0) yield* release();
}

/** The standing of a document that must be sent, by what the server has of it. */
function planOf(
	{ standing }: Compared<unknown>,
	status: ProcessingStatus | undefined,
): PlannedStanding {
	if (!status) return 'new';
	const state = processingState(status);
	return state === 'finish' || state === 'running' || standing === 'changed' ? 'changed' : 'back';
}
