import { compact } from 'lodash';

import { type Clock, systemClock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import {
	type FingerprintEntry,
	type Fingerprints,
	packId,
	storedEntry,
	UNKNOWN,
} from './fingerprints';
import { FIRST_PAGES, isFromLaterRun, Journal } from './journal';
import { type Holder, Lease } from './lease';
import { type DocumentName, Names } from './names';
import {
	isReadable,
	type MemoryNote,
	type MemoryPlace,
	type MemoryRoutes,
	NotesOnServer,
	orFailure,
	type ReadNote,
	SIZES,
} from './notes';
import { FIRST_PIECES, pieceNames, Pieces, ROOT } from './pieces';

/** What went wrong with the memory. */
export interface MemoryFailures {
	/** If true, the server does not return notes, so runs cannot keep a memory. */
	noRoute?: boolean;
	/** When parts of the memory were found missing, and how many documents they held at most, if this is known. */
	lost?: MemoryNote['lost'];
	/** Why this run could not write the memory. The next run completes the memory from the journal. */
	notWritten?: Failure;
	/** Why the statuses of stored documents could not be read. */
	unreadStatuses?: Failure;
}

/**
 * `by`: a description of this run, e.g. `execution 7`.
 * `processed`: whether this run starts the processing of its documents. Default: the setting of the last run.
 * `forgetLost`: whether to remove the field `lost` from the root note.
 */
interface MemoryOptions {
	signal?: AbortSignal;
	clock?: Clock;
	by?: string;
	processed?: boolean;
	forgetLost?: boolean;
}

/** Remembers what earlier runs of a source stored. The memory is kept in the knowledgebase, and survives crashes. */
export class SourceMemory {
	readonly names: Names;
	readonly failures: MemoryFailures = {};
	/** Whether this run seems to be the first run of the source. */
	isNew = false;
	/** Whether this run uses the memory. False if `open('if kept')` finds no memory. */
	isKept = true;
	/** Number of documents in the memory when this run began. */
	knownBefore = 0;
	/**
	 * Another run that holds the lease. If set, this run must not send. After `open('to read')`, the other run may have
	 * crashed.
	 */
	holder?: Holder;
	private readonly notes: NotesOnServer;
	private readonly pieces: Pieces;
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
		const { signal, clock = systemClock, by = '' } = options;
		const since = new Date(clock.now()).toISOString();
		this.notes = new NotesOnServer(place, routes);
		this.names = new Names(this.notes);
		this.pieces = new Pieces(this.notes, this.names, this.failures, { since, ...options });
		this.journal = new Journal(this.notes);
		this.lease = new Lease(this.notes, clock, signal, { by, since });
	}

	/**
	 * Reads what earlier runs stored. Reports failed requests in `sendFailure` and `failures`.
	 *
	 * `to read`: does not take the lease.
	 * `to send`: takes the lease. The caller must call `close`.
	 * `if kept`: like `to send`, but does not create a memory.
	 */
	async open(mode: 'to send' | 'to read' | 'if kept' = 'to send'): Promise<this> {
		const { known, lease } = this;
		const failed = await orFailure(async () => {
			if (mode !== 'to read') return await this.begin(mode);
			await this.read();
			this.holder = lease.holderBefore;
		});
		const { method, missing, status } = failed?.failure ?? {};
		// Assume that there is no memory if the server does not let this run read notes.
		const isUnreadable = missing === 'route' || (status === 403 && method === 'GET');
		if (mode === 'if kept' && isUnreadable) this.isKept = false;
		else if (missing === 'route') this.failures.noRoute = true;
		else lease.sendFailure ??= failed?.failure;
		this.knownBefore = known.size;
		return this;
	}

	/** The documents of the source that may be in the knowledgebase. */
	get known(): Fingerprints {
		return this.pieces.known;
	}

	/** Whether the last run stored documents but did not start their processing. */
	get onlyStored(): boolean {
		return this.pieces.onlyStored;
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
		return !this.failures.noRoute && !this.sendFailure;
	}

	/** Why this run must not send; `undefined` if no reason is known. */
	get sendFailure(): Failure | undefined {
		return this.lease.sendFailure;
	}

	/**
	 * Renews the lease if a renewal is overdue.
	 *
	 * @returns why this run must not send; `undefined` if sending is allowed
	 */
	async check(): Promise<Failure | undefined> {
		return (await orFailure(async () => await this.lease.check()))?.failure;
	}

	/**
	 * Prepares to disable documents: writes their IDs to the journal, and marks their content as unknown.
	 *
	 * @returns a failure if the documents must not be disabled
	 */
	async journalChange(ids: string[]): Promise<Failure | undefined> {
		if (this.failures.noRoute) return undefined;
		const failed = await this.exclusively(async () => {
			await this.prepareToSend();
			for (const id of ids) this.known.markUnknown(id);
			await this.journal.writePage(ids);
		});
		return failed?.failure;
	}

	/**
	 * Creates the journal rows of a batch. The request that stores the batch must contain these rows.
	 *
	 * @param hashes content hashes by document ID
	 * @returns the rows, or a failure if nothing may be sent; `undefined` if the server does not return notes
	 */
	async journalBatch(hashes: Map<string, string>) {
		if (this.failures.noRoute) return undefined;
		return await this.exclusively(async () => {
			await this.prepareToSend();
			await this.writeNames();
			return await this.journal.makeBatchRows(this.recordSent(hashes));
		});
	}

	/** Keeps what the first run has found in the root note, in case this run crashes, until `close` forgets it. */
	recordUnsaid(found: NonNullable<MemoryNote['unsaid']>): void {
		this.pieces.unsaid = found;
		this.pieces.isStale = true;
	}

	/**
	 * Records that the server has stored a document with this content. The content stays unknown if a late request (see
	 * `Journal`) may still overwrite the document.
	 */
	recordStored(id: string, contentHash: string, name: DocumentName = {}): void {
		const entry = storedEntry(id, contentHash);
		this.newIds.delete(entry[0]);
		this.names.add(id, name);
		if (this.journal.isCertain(entry)) this.known.set(entry);
	}

	/** Removes a rejected document from the memory, unless an earlier run or a late request may have stored it. */
	recordRejected(id: string): void {
		const isCertain = this.journal.isCertain([packId(id), '']);
		if (this.newIds.delete(packId(id)) && isCertain) this.known.remove(id);
	}

	/**
	 * Ends the run: writes the memory if it has changed, and releases the lease. Does nothing if the execution was
	 * stopped.
	 *
	 * @param isSaid whether the run has told the user what `unsaid` contains
	 */
	async close(isSaid = false): Promise<void> {
		const { known, lease, options, pieces } = this;
		const needsWrite = pieces.isStale || known.changed.size > 0 || (isSaid && pieces.unsaid);
		if (isSaid) pieces.unsaid = undefined;
		try {
			if (!needsWrite || !this.isUsable || options.signal?.aborted) return;
			const failed = await this.exclusively(async () => {
				await lease.check();
				// Late requests of a crashed run may have changed these documents, so their content is unknown.
				for (const [packedId] of await this.journal.readLate()) known.set([packedId, UNKNOWN]);
				await pieces.write(lease.number, async (notes) => await lease.releaseAfter(notes));
			});
			this.failures.notWritten = failed?.failure;
		} finally {
			await lease.release();
		}
	}

	/** Takes the lease and reads the memory. With `if kept`, does nothing if there is no memory. */
	private async begin(mode: 'to send' | 'if kept'): Promise<void> {
		const { journal, lease } = this;
		const [turn, root] = await lease.look([ROOT]);
		this.isKept = mode === 'to send' || lease.wasThere || (turn ?? root) !== undefined;
		if (!this.isKept) return;
		// If there are few pieces, read them in the same request as the root note.
		const pieces = pieceNames(root);
		const first = [ROOT, ...FIRST_PAGES, ...(pieces.length > SIZES.answer ? [] : pieces)];
		const taken = await lease.take(first);
		if (Array.isArray(taken)) await this.read(taken);
		else if (taken) this.holder = taken;
		// If `taken` is undefined, the server accepts notes but does not return them.
		else this.failures.noRoute = true;
		const { crashed } = journal;
		lease.raiseCounters({ root: this.pieces.root.run, sent: crashed }, crashed);
		journal.run = lease.number;
	}

	/** Prepares a request that changes documents: checks the lease, writes the memory, and begins the journal. */
	private async prepareToSend(): Promise<void> {
		const { journal, lease, notes, pieces } = this;
		await lease.check();
		// Until this run ends, the root note does not count the crashed run as merged. So if this run crashes too, the
		// next run reads the journal pages of both runs. If the journal is damaged, the root note counts the crashed
		// run at once.
		const { isDamaged, crashed } = journal;
		const last = isDamaged || crashed === 0 ? lease.number : crashed;
		if (pieces.isStale)
			await pieces.write(last - 1, async (changed) => await notes.write(...changed));
		lease.counters.root = pieces.root.run;
		await lease.beginToSend(journal.page(0));
	}

	/**
	 * Reads the memory and merges the journal of a crashed run.
	 *
	 * @param held the notes that `Lease.take` returned
	 */
	private async read(held?: ReadNote[]): Promise<void> {
		const { lease, pieces } = this;
		const [root, ...others] = held ?? (await lease.look([ROOT, ...FIRST_PAGES])).slice(1);
		const pages = others.splice(0, FIRST_PAGES.length);
		const { counters } = lease;
		let isRootLost = root === 'damaged' || (root?.run ?? 0) < counters.root;
		// If the root note and the lease are missing, a journal page or a piece still proves that there was a memory.
		if (root === undefined && !lease.wasThere)
			isRootLost = compact([...pages, ...(await this.notes.read(FIRST_PIECES))]).length > 0;
		if (isRootLost) await pieces.rebuild();
		else if (isReadable(root)) await pieces.read(root, others);
		if (
			counters.sent > pieces.root.run ||
			pages.some((page) => isFromLaterRun(pieces.root.run, page))
		)
			await this.readUnmergedJournal(counters.sent, isRootLost);
		const lastRun = Math.max(this.journal.crashed, counters.sent);
		this.isNew = root === undefined && !isRootLost && lastRun === 0;
		// The names of documents with unknown content may be missing, because runs add names of stored documents only.
		for (const [packedId, fingerprint] of this.known.entries())
			if (fingerprint === UNKNOWN) this.names.unnamed.add(packedId);
	}

	/** Reads and merges the journals of crashed runs. */
	private async readUnmergedJournal(sent: number, isRootLost: boolean): Promise<void> {
		const { journal, known, names, pieces } = this;
		const { root } = pieces;
		for (const entry of await journal.readUnmerged(root.run)) {
			known.set(entry);
			names.unnamed.add(entry[0]);
		}
		journal.isDamaged ||= isRootLost || Math.max(journal.crashed, root.run) < sent;
		pieces.isStale = true;
		if (!journal.isDamaged) return;
		// A lost journal page may be about any document, so no content is certain. If the root note is lost, the pages
		// that this run has read may be outdated.
		for (const [packedId] of known.entries()) known.set([packedId, UNKNOWN]);
		pieces.markLost();
	}

	/** Writes the collected names, if there are enough for a note. */
	private async writeNames(): Promise<void> {
		const names = await this.names.collect(SIZES.names);
		if (names.length === 0) return;
		const failed = await orFailure(async () => await this.notes.write(...names));
		// Without these names the batch is still sent. Later runs know that the list of names has gaps.
		if (failed) this.names.counted.areAll = false;
	}

	/**
	 * Records documents that are about to be sent. Their content is unknown until their outcome is known.
	 *
	 * @param hashes content hashes by document ID
	 * @returns the entries of the documents once they are stored
	 */
	private recordSent(hashes: Map<string, string>): FingerprintEntry[] {
		return [...hashes].map(([id, contentHash]) => {
			const entry = storedEntry(id, contentHash);
			const sets = this.known.knows(id) ? [] : [this.newIds, this.names.unnamed];
			for (const packedIds of sets) packedIds.add(entry[0]);
			this.known.set([entry[0], UNKNOWN]);
			return entry;
		});
	}

	private async exclusively<T>(work: () => Promise<T>): Promise<T | { failure: Failure }> {
		const done = this.queue.then(async () => await orFailure(work));
		this.queue = done.catch(() => undefined);
		return await done;
	}
}
