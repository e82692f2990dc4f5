import { IDS_PER_ADDRESS } from '../transport/api';
import type { Documents, ReadyDocument } from './batches';
import type { Fingerprints } from './memory';
import { processingState } from './processingStatus';
import type { ProcessingStatus, Statuses } from './processingStatus';

/** Documents, and bytes of them, held back until the server has said where they stand. */
const MAX_HELD = 250;
const MAX_HELD_BYTES = 8 * 1024 * 1024;

/** What is left out needs from outside. */
export interface ChangeDetection<Origin> {
	memory: Fingerprints;
	/** Asks where documents stand, by their ids in lower case; those that are not on the server have no status. */
	statusesOf: (ids: string[]) => Promise<Statuses>;
	/** Whether documents are done when they are processed, and not when they are stored. */
	processed: boolean;
	/** Told each document that is left out, with its status where the server gave one. */
	onUnchanged: (document: ReadyDocument<Origin>, status?: ProcessingStatus) => void;
	/** Told each document that is the same, and is sent all the same. */
	onMissing?: (document: ReadyDocument<Origin>) => void;
}

/**
 * Leaves out the documents that an earlier run has stored with the same content, if the server still has
 * them: people delete documents, and other sources disable them, which takes away their status. Those that
 * are to be processed are left out if that is done, or under way. Where the server cannot be asked, what
 * was seen processed is believed to be there.
 */
export async function* changedOnly<Origin>(
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
		const { id, content = '' } = document;
		// The later of two documents with one id is compared with the earlier, not with the last run's.
		const key = id.toLowerCase();
		if (held.has(key) || held.size >= MAX_HELD || bytes >= MAX_HELD_BYTES) yield* release();
		if (memory.has(id, content)) {
			held.set(key, document);
			bytes += document.bytes;
		} else {
			memory.forget(id);
			yield document;
		}
	}
	if (held.size > 0) yield* release();
}

/** What the next run would do: `back` is on the server where nobody finds it, as after it was disabled, and comes again. */
export type Plan = 'new' | 'changed' | 'back' | 'unchanged' | 'gone';

/** What a plan needs from outside. */
export type Planning<Origin> = Omit<ChangeDetection<Origin>, 'onUnchanged' | 'onLost'> & {
	/** Told each document once, unless it is read no further. */
	onPlanned: (document: ReadyDocument<Origin>, plan: Plan) => void;
};

/** Tells what the next run would do with each document, as it decides itself (`changedOnly`); what is known is forgotten by that. */
export async function planDocuments<Origin>(
	given: Documents<Origin>,
	{ onPlanned, ...detection }: Planning<Origin>,
): Promise<void> {
	const missing = new Set<ReadyDocument<Origin>>();
	const onUnchanged = (document: ReadyDocument<Origin>) => onPlanned(document, 'unchanged');
	const onMissing = (document: ReadyDocument<Origin>) => missing.add(document);
	let toSend: Array<ReadyDocument<Origin>> = [];
	const reportPlans = async () => {
		const { statuses } = await detection.statusesOf(toSend.map(({ id }) => id.toLowerCase()));
		for (const document of toSend) {
			const isChanged = detection.memory.knows(document.id) && !missing.has(document);
			onPlanned(document, planOf(statuses.get(document.id.toLowerCase()), isChanged));
		}
		toSend = [];
		missing.clear();
	};
	for await (const document of changedOnly(given, { ...detection, onUnchanged, onMissing })) {
		toSend.push(document);
		if (toSend.length >= IDS_PER_ADDRESS) await reportPlans();
	}
	if (toSend.length > 0) await reportPlans();
}

/** What sending a document does, by what the server has of it, and whether an earlier run has stored it otherwise. */
function planOf(status: ProcessingStatus | undefined, isOther: boolean): Plan {
	if (!status) return 'new';
	const state = processingState(status);
	return state === 'finish' || state === 'running' || isOther ? 'changed' : 'back';
}
