import { MAX_IDS_PER_URL } from '../transport/api';
import type { Failure } from '../transport/failure';
import type { DocumentGroups, ReadyDocument } from './readyDocuments';
import type { SourceMemory } from './memory';
import { type FetchedStatuses, processingState, type StatusRecord } from './statuses';

/** Total size in bytes at which held documents are compared (see `DocumentComparer.held`). */
const MAX_HELD_BYTES = 8 * 1024 * 1024;

export interface CompareOptions {
	fingerprints: SourceMemory['known'];
	/** Fetches processing statuses, by ID in lower case. A document that is not on the server has no status. */
	statusesOf: (ids: string[]) => Promise<FetchedStatuses>;
	/** Whether documents must be processed. If false, storing is enough. */
	mustBeProcessed: boolean;
	/** Whether the last run only stored documents, and started no processing. */
	lastRunOnlyStored?: boolean;
	/** Whether to send unchanged documents too, as if they had changed. */
	sendsUnchanged?: boolean;
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
export interface ComparedDocument<Report> {
	document: ReadyDocument<Report>;
	standing: Exclude<Standing, 'gone'>;
	/** The processing status of an unchanged document. Unset if `mustBeProcessed` is false, or if no status was fetched. */
	status?: StatusRecord;
}

/**
 * Compares documents with what earlier runs stored. Does not keep their order, because unchanged documents wait until
 * their statuses are fetched. If a known document must be sent, marks its content as unknown in the memory, because the
 * request may fail.
 */
export async function* compareDocuments<Report>(
	documents: DocumentGroups<Report>,
	options: CompareOptions,
): AsyncGenerator<Array<ComparedDocument<Report>>> {
	const comparing = new DocumentComparer<Report>(options);
	for await (const group of documents) {
		for (const document of group) {
			if (comparing.mustCompareHeldBack(document)) await comparing.compareHeldBack();
			comparing.compare(document);
		}
		yield comparing.takeCompared();
	}
	await comparing.compareHeldBack();
	yield comparing.takeCompared();
}

/** Compares the documents of one run. */
class DocumentComparer<Report> {
	private compared: Array<ComparedDocument<Report>> = [];
	/** Documents whose content is unchanged, by ID in lower case. Their statuses are not checked yet. */
	private readonly held = new Map<string, ReadyDocument<Report>>();
	private heldBackBytes = 0;

	constructor(private readonly options: CompareOptions) {}

	/** Returns the results since the last call. */
	takeCompared(): Array<ComparedDocument<Report>> {
		return this.compared.splice(0);
	}

	/** Whether `compareHeldBack` must be called before a document is compared. */
	mustCompareHeldBack({ id }: ReadyDocument<Report>): boolean {
		const { held, heldBackBytes } = this;
		if (held.size >= MAX_IDS_PER_URL || heldBackBytes >= MAX_HELD_BYTES) return true;
		// Documents with the same ID are compared one after the other, because a comparison changes the memory.
		return held.has(id.toLowerCase());
	}

	/**
	 * Compares a document with the memory. Holds an unchanged document for `compareHeldBack`, unless its record disables it.
	 * Marks the content of a changed document as unknown.
	 */
	compare(document: ReadyDocument<Report>): void {
		const { held, options } = this;
		const standing = standingInMemory(document, options);
		// The server clears the status of a document that is disabled by its record, so this status is not checked.
		if (standing === 'unchanged' && !document.record.disabled) {
			held.set(document.id.toLowerCase(), document);
			this.heldBackBytes += document.sizeInBytes;
			return;
		}
		if (standing === 'changed') options.fingerprints.markUnknown(document.id);
		this.compared.push({ document, standing });
	}

	/** Compares the held documents with their statuses, because a user may have deleted or disabled them. */
	async compareHeldBack(): Promise<void> {
		const { held, options } = this;
		if (held.size === 0) return;
		const { fingerprints, mustBeProcessed, statusesOf } = options;
		const { statuses, failure } = await statusesOf([...held.keys()]);
		for (const [id, document] of held) {
			const status = statuses.get(id);
			if (processingState(status) === 'finish') fingerprints.markProcessed(id);
			if (isUpToDate(id, status, failure, options))
				this.compared.push({ document, standing: 'unchanged', ...(mustBeProcessed && { status }) });
			else {
				fingerprints.forgetContent(id);
				this.compared.push({ document, standing: 'back' });
			}
		}
		held.clear();
		this.heldBackBytes = 0;
	}
}

/** The standing of a document by its content alone. An `unchanged` document may still turn out to be `back`. */
function standingInMemory(
	{ id, comparisonHash = '' }: ReadyDocument<unknown>,
	{ fingerprints, sendsUnchanged, isRetry }: CompareOptions,
): 'new' | 'changed' | 'unchanged' | 'older' {
	if (!fingerprints.knows(id)) return 'new';
	if (fingerprints.hasSameContent(id, comparisonHash))
		return sendsUnchanged ? 'changed' : 'unchanged';
	return isRetry && fingerprints.isContentKnown(id) ? 'older' : 'changed';
}

/**
 * Whether a document with unchanged content need not be sent again. To be up to date, it must be on the server. With
 * `mustBeProcessed`, its processing must also have succeeded or be running, or the last run must have only stored it.
 * If its status could not be fetched, the memory decides.
 */
function isUpToDate(
	id: string,
	status: StatusRecord | undefined,
	failure: Failure | undefined,
	{ fingerprints, lastRunOnlyStored, mustBeProcessed }: CompareOptions,
): boolean {
	if (!status) {
		// Without a failure, the server does not have the document. With a failure, only the memory can tell.
		if (!failure) return false;
		return mustBeProcessed ? fingerprints.isProcessed(id) : fingerprints.isContentKnown(id);
	}
	if (!mustBeProcessed) return true;
	const state = processingState(status);
	if (state === 'finish' || state === 'running') return true;
	// In the state `none`, a document is up to date only if the last run merely stored it. Its processing is then started
	// without sending it again. If an earlier run has processed it, a user has disabled it since.
	return state === 'none' && lastRunOnlyStored === true && !fingerprints.isProcessed(id);
}

/** A standing in a plan. Never `older`, because a plan is about the next run, which counts as no retry. */
export type PlannedStanding = Exclude<Standing, 'older'>;

/**
 * Tells what the next run would do with each document. Yields each document on its own: an unchanged one immediately,
 * any other one after a look at its status. These statuses are fetched in groups. If they cannot be read, each document
 * of the group counts as new. Updates `options.fingerprints`.
 */
export async function* planDocuments<Report>(
	documents: DocumentGroups<Report>,
	options: CompareOptions,
): AsyncGenerator<{ document: ReadyDocument<Report>; plan: PlannedStanding }> {
	/** Documents to send. Their plans depend on what the server has under their IDs. */
	const held: Array<ComparedDocument<Report>> = [];
	const idOf = ({ document }: ComparedDocument<Report>) => document.id.toLowerCase();
	async function* planHeld() {
		const { statuses } = await options.statusesOf(held.map(idOf));
		for (const compared of held.splice(0))
			yield {
				document: compared.document,
				plan: plannedStandingOf(compared, statuses.get(idOf(compared))),
			};
	}
	for await (const group of compareDocuments(documents, options))
		for (const compared of group) {
			const { document, standing } = compared;
			if (standing === 'unchanged') yield { document, plan: standing };
			else held.push(compared);
			if (held.length >= MAX_IDS_PER_URL) yield* planHeld();
		}
	if (held.length > 0) yield* planHeld();
}

/**
 * Returns the planned standing of a document to send: `new` if the server does not have it; `back` if the server has it,
 * but assistants do not find it and its content is not known to have changed; otherwise `changed`.
 */
function plannedStandingOf(
	{ standing }: ComparedDocument<unknown>,
	status: StatusRecord | undefined,
): PlannedStanding {
	if (!status) return 'new';
	const state = processingState(status);
	return state === 'finish' || state === 'running' || standing === 'changed' ? 'changed' : 'back';
}
