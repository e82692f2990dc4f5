import { type Clock, systemClock } from '../../transport/clock';
import { type Failure, isForbidden } from '../../transport/failure';
import {
	type FingerprintEntry,
	type Fingerprints,
	newStoredEntry,
	packId,
	UNKNOWN_CONTENT,
} from './fingerprints';
import { Journal } from './journal';
import { type Holder, Lease } from './lease';
import { type DocumentNameAndKey, DocumentNames } from './documentNames';
import {
	type MemoryNote,
	type MemoryPlace,
	type MemoryRoutes,
	NOTE_LIMITS,
	NotesOnServer,
	orFailure,
} from './notes';
import { pieceNoteNames, ROOT_NOTE_NAME, StoredPieces } from './pieces';
import { fillMemoryParts, FIRST_NOTE_NAMES, type MemoryParts } from './loadMemory';

/** Problems with the memory, for hints to the user. A field is unset if its step succeeded. */
export interface MemoryFailures {
	/** If true, the server has no route for notes or does not return them, so runs cannot keep a memory. */
	isMemoryUnsupported?: boolean;
	/** When parts of the memory were found missing, and how many documents they held at most, if this is known. */
	lost?: MemoryNote['lost'];
	/** Why this run could not write the memory. The next run completes the memory from the journal. */
	writeFailure?: Failure;
	/** Why the statuses of stored documents could not be read. */
	statusesFailure?: Failure;
}

/**
 * `runDescription`: e.g. `execution 7`.
 * `startsProcessing`: whether this run starts the processing of its documents. Default: the setting of the last run.
 * `acknowledgesLoss`: whether to remove the field `lost` from the root note.
 */
interface MemoryOptions {
	signal?: AbortSignal;
	clock?: Clock;
	runDescription?: string;
	startsProcessing?: boolean;
	acknowledgesLoss?: boolean;
}

/**
 * How to open the memory.
 * `to read`: does not take the lease.
 * `to send`: takes the lease. The caller must call `close`.
 * `if kept`: like `to send`, but does not create a memory.
 */
type OpenMode = 'to send' | 'to read' | 'if kept';

/** Remembers what earlier runs of a source stored. The memory is kept in the knowledgebase, and survives crashes. */
export class SourceMemory {
	readonly names: DocumentNames;
	readonly failures: MemoryFailures = {};
	/** Whether this run seems to be the first run of the source. */
	isNew = false;
	/** Whether this run uses the memory. False if `open('if kept')` finds no memory. */
	isKept = true;
	/** Number of documents in the memory when this run began. */
	knownCountBefore = 0;
	/**
	 * Another run that holds the lease. If set, this run must not send. After `open('to read')`, the other run may have
	 * crashed.
	 */
	holder?: Holder;
	private readonly notes: NotesOnServer;
	private readonly pieces: StoredPieces;
	private readonly journal: Journal;
	private readonly lease: Lease;
	/** Packed IDs of documents that no earlier run has sent, until their outcome is known. */
	private readonly newIds = new Set<string>();
	/** Resolves when all queued tasks have ended. Tasks run one after another. */
	private queue: Promise<unknown> = Promise.resolve();

	/** The memory is empty until `open` is called. */
	constructor(
		place: MemoryPlace,
		routes: MemoryRoutes,
		private readonly options: MemoryOptions = {},
	) {
		const { signal, clock = systemClock, runDescription = '' } = options;
		const runStartedAt = new Date(clock.now()).toISOString();
		this.notes = new NotesOnServer(place, routes);
		this.names = new DocumentNames(this.notes);
		this.pieces = new StoredPieces(this.notes, this.names, this.failures, {
			runStartedAt,
			...options,
		});
		this.journal = new Journal(this.notes);
		this.lease = new Lease(this.notes, clock, signal, { by: runDescription, since: runStartedAt });
	}

	/** Reads what earlier runs stored. Reports failed requests in `sendBlockedBy` and `failures`. */
	async open(mode: OpenMode = 'to send'): Promise<this> {
		const failed = await orFailure(async () => {
			if (mode === 'to read') await this.readWithoutLease();
			else await this.takeLeaseAndRead(mode);
		});
		if (failed) this.recordOpenFailure(failed.failure, mode);
		this.knownCountBefore = this.known.size;
		return this;
	}

	private recordOpenFailure(failure: Failure, mode: OpenMode): void {
		const { method, missing } = failure;
		// The server does not let this run read notes, so there is probably no memory.
		const cannotReadNotes = missing === 'route' || (isForbidden(failure) && method === 'GET');
		if (mode === 'if kept' && cannotReadNotes) this.isKept = false;
		else if (missing === 'route') this.failures.isMemoryUnsupported = true;
		else this.lease.sendBlockedBy ??= failure;
	}

	/** The documents of the source that may be in the knowledgebase. */
	get known(): Fingerprints {
		return this.pieces.known;
	}

	/** Whether the last run stored documents but did not start their processing. */
	get lastRunOnlyStored(): boolean {
		return this.pieces.lastRunOnlyStored;
	}

	/** What the first run of the source found, if no run has told the user yet. */
	get unsaid(): MemoryNote['unsaid'] {
		return this.pieces.unsaid;
	}

	/** ID of a note that exists on the server. `fetchStatuses` rejects an answer without this ID. */
	get requiredId(): string | undefined {
		return this.notes.requiredId;
	}

	/** Whether the memory can record this run. */
	get isUsable(): boolean {
		return !this.failures.isMemoryUnsupported && !this.sendBlockedBy;
	}

	/** Why this run must not send; `undefined` if no reason is known. */
	get sendBlockedBy(): Failure | undefined {
		return this.lease.sendBlockedBy;
	}

	/**
	 * Renews the lease if a renewal is overdue.
	 *
	 * @returns why this run must not send; `undefined` if sending is allowed
	 */
	async renewLeaseIfOverdue(): Promise<Failure | undefined> {
		return (await orFailure(async () => await this.lease.renewIfOverdue()))?.failure;
	}

	/**
	 * Prepares to disable documents: writes their IDs to the journal, and marks their content as unknown.
	 *
	 * @returns a failure if the documents must not be disabled
	 */
	async journalBeforeDisabling(ids: string[]): Promise<Failure | undefined> {
		if (this.failures.isMemoryUnsupported) return undefined;
		const failed = await this.runExclusively(async () => {
			await this.prepareToSend();
			for (const id of ids) this.known.markUnknown(id);
			await this.journal.writePage(ids);
		});
		return failed?.failure;
	}

	/**
	 * Creates the journal rows of a batch. The request that stores the batch must contain these rows.
	 *
	 * @param hashes comparison hashes by document ID
	 * @returns the rows, or a failure if nothing may be sent; `undefined` if `failures.isMemoryUnsupported` is set
	 */
	async journalBatch(hashes: Map<string, string>) {
		if (this.failures.isMemoryUnsupported) return undefined;
		return await this.runExclusively(async () => {
			await this.prepareToSend();
			await this.writeNames();
			return await this.journal.makeBatchRows(this.recordBeforeSending(hashes));
		});
	}

	/** Puts into the root note what this first run has found, in case the run crashes before it tells the user. */
	recordUnsaid(found: NonNullable<MemoryNote['unsaid']>): void {
		this.pieces.unsaid = found;
		this.pieces.isStale = true;
	}

	/**
	 * Records that the server has stored a document with this content. The content stays unknown if a late request (see
	 * `Journal`) may still overwrite the document.
	 *
	 * @returns whether the memory had no entry of the document before
	 */
	recordStored(id: string, comparisonHash: string, name: DocumentNameAndKey = {}): boolean {
		const entry = newStoredEntry(id, comparisonHash);
		const isNew = this.newIds.delete(entry[0]);
		this.names.addIfUnnamed(id, name);
		if (this.journal.isCertain(entry)) this.known.set(entry);
		return isNew;
	}

	/** Removes a rejected document from the memory, unless an earlier run or a late request may have stored it. */
	recordRejected(id: string): void {
		const packedId = packId(id);
		const isNew = this.newIds.delete(packedId);
		if (isNew && this.journal.isCertain([packedId, ''])) this.known.remove(id);
	}

	/**
	 * Ends the run: writes the memory if it has changed, and releases the lease. Does nothing if the execution was
	 * stopped.
	 *
	 * @param isSaid whether the run has told the user what `unsaid` contains
	 */
	async close({ isSaid } = { isSaid: false }): Promise<void> {
		const { known, lease, options, pieces } = this;
		const hasChanged = pieces.isStale || known.changedTails.size > 0 || (isSaid && pieces.unsaid);
		if (isSaid) pieces.unsaid = undefined;
		try {
			if (hasChanged && this.isUsable && !options.signal?.aborted) await this.writeAtEnd();
		} finally {
			await lease.release();
		}
	}

	/** Writes the memory, and releases the lease with the same request. Records a failure in `failures`. */
	private async writeAtEnd(): Promise<void> {
		const { journal, known, lease, pieces } = this;
		const failed = await this.runExclusively(async () => {
			await lease.renewIfOverdue();
			// Late requests of a crashed run may have changed these documents, so their content is unknown.
			for (const [packedId] of await journal.readLatePages())
				known.set([packedId, UNKNOWN_CONTENT]);
			await pieces.write(lease.number, async (notes) => await lease.writeAndRelease(notes));
		});
		this.failures.writeFailure = failed?.failure;
	}

	/** What `fillMemoryParts` reads and fills. */
	private get parts(): MemoryParts {
		const { journal, lease, names, notes, pieces } = this;
		return { journal, lease, names, notes, pieces };
	}

	private async readWithoutLease(): Promise<void> {
		const { lease } = this;
		const [, ...notes] = await lease.peek(FIRST_NOTE_NAMES);
		this.isNew = await fillMemoryParts(notes, this.parts);
		this.holder = lease.holderBefore;
	}

	/**
	 * Takes the lease and reads the memory. If another run holds the lease, sets `holder` instead. If the server does not
	 * return notes, sets `failures.isMemoryUnsupported`. With `if kept`, if there is no memory, sets `isKept` to
	 * false and does not take the lease.
	 */
	private async takeLeaseAndRead(mode: 'to send' | 'if kept'): Promise<void> {
		const { journal, lease } = this;
		const [turn, root] = await lease.peek([ROOT_NOTE_NAME]);
		// `peek` also reads `turn` and `lease`. Any of the three notes shows that there is a memory, even if others are missing.
		this.isKept = mode === 'to send' || lease.existedBefore || (turn ?? root) !== undefined;
		if (!this.isKept) return;
		// If there are few pieces, read them in the same request as the root note.
		const pieces = pieceNoteNames(root);
		const taken = await lease.take([
			...FIRST_NOTE_NAMES,
			...(pieces.length > NOTE_LIMITS.answer ? [] : pieces),
		]);
		// If `taken` is undefined, the server accepts notes but does not return them.
		if (taken === undefined) this.failures.isMemoryUnsupported = true;
		else if (Array.isArray(taken)) this.isNew = await fillMemoryParts(taken, this.parts);
		else this.holder = taken;
		// `root.run` and `crashedRun` are 0 if the memory was not read.
		const { crashedRun } = journal;
		lease.raiseCounters({ root: this.pieces.root.run, sent: crashedRun }, crashedRun);
		journal.run = lease.number;
	}

	/**
	 * Prepares a request that changes documents: checks the lease, writes the memory if it is stale, and begins the journal
	 * if this run has not begun it yet.
	 */
	private async prepareToSend(): Promise<void> {
		const { journal, lease, notes, pieces } = this;
		await lease.renewIfOverdue();
		if (pieces.isStale)
			await pieces.write(this.lastMergedRun, async (changed) => await notes.write(...changed));
		lease.counters.root = pieces.root.run;
		await lease.recordSending(journal.page(0));
	}

	/** Number of the last run that counts as merged while this run sends. */
	private get lastMergedRun(): number {
		const { crashedRun, isDamaged } = this.journal;
		// Until this run ends, a crashed run does not count as merged. So if this run crashes too, the next run reads the
		// journal pages of both runs. If the journal is damaged, the crashed run counts at once.
		const isCrashedUnmerged = crashedRun > 0 && !isDamaged;
		return (isCrashedUnmerged ? crashedRun : this.lease.number) - 1;
	}

	/** Writes the collected names, if there are enough for a note. */
	private async writeNames(): Promise<void> {
		const { names, notes } = this;
		const nameNotes = await names.takeNotesToWrite(NOTE_LIMITS.names);
		if (nameNotes.length === 0) return;
		const failed = await orFailure(async () => await notes.write(...nameNotes));
		// Without these names the batch is still sent. Later runs know that the list of names has gaps.
		if (failed) names.summary.areAll = false;
	}

	/**
	 * Records documents that are about to be sent. Their content is unknown until their outcome is known.
	 *
	 * @param hashes comparison hashes by document ID
	 * @returns for each document, the entry that it gets when it is stored
	 */
	private recordBeforeSending(hashes: Map<string, string>): FingerprintEntry[] {
		const { known, names, newIds } = this;
		return [...hashes].map(([id, comparisonHash]) => {
			const entry = newStoredEntry(id, comparisonHash);
			const [packedId] = entry;
			if (!known.knows(id)) {
				newIds.add(packedId);
				names.unnamed.add(packedId);
			}
			known.set([packedId, UNKNOWN_CONTENT]);
			return entry;
		});
	}

	/** Runs `work` after all earlier work. Returns its result, or the failure if it throws NotesError. */
	private async runExclusively<T>(work: () => Promise<T>): Promise<T | { failure: Failure }> {
		const done = this.queue.then(async () => await orFailure(work));
		this.queue = done.catch(() => undefined);
		return await done;
	}
}
