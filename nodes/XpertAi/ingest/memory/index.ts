import { randomUUID } from 'crypto';

import { compact, pick, range } from 'lodash';

import type { Failure } from '../../transport/failure';
import { type Clock, systemClock } from '../../transport/clock';
import { sanitize } from '../../transport/sanitize';
import { FIRST_PAGES, Journal, SLOTS, isLater } from './journal';
import { Fingerprints, UNKNOWN, packId, storedEntry, tailOf, unpackId } from './fingerprints';
import { Names, NotesFailed, NotesOnServer, SIZES, isReadable, orFailure } from './notes';
import type {
	DocumentName,
	MemoryNote,
	MemoryPlace,
	MemoryRoutes,
	NoteName,
	ReadNote,
	WrittenNote,
} from './notes';

/*
 * How the memory works. A note is a disabled document with a text in `processMsg`. The rows of a request are the
 * documents in its body. The server stores rows in order.
 * 1. A lease (`Lease`) lets one run at a time send. Each run gets a number above all run numbers in the notes.
 * 2. The journal (journal.ts) has a page for each batch. A page has two notes: the IDs of the documents, and their
 *    fingerprints. The first two rows of the request write the IDs and an empty second note. The last row writes the
 *    fingerprints. So a page has fingerprints only if the server stored the batch. If the request fails, the run writes
 *    the page again before it sends the next batch. Each page also lists the pages that may not be on the server. A
 *    page that is missing and not listed was deleted.
 * 3. There are two slots for pages, and consecutive runs use different slots. Pages with a higher run number than the
 *    root are from a crashed run. The next run merges these pages before it sends anything. At its end, it reads these
 *    pages again, because requests of the crashed run may arrive late.
 * 4. The memory consists of a root and pieces. Each piece holds the documents of a part of all IDs. A run writes the
 *    pieces first, and then the root with the number of the last merged run.
 * 5. Separate notes hold names and keys of documents. If a piece cannot be read, a run derives its IDs from the keys.
 * 6. Documents whose IDs cannot be derived are lost. The root records the loss until the user acknowledges it.
 */

export { Fingerprints, MARKS } from './fingerprints';
export type { DocumentName, MemoryPlace } from './notes';
export { ROOM_IN_BATCH } from './journal';

const ROOT = ['memory', 'what … has stored'] as const;

const pieceName = (at: number, of: number) =>
	[`piece ${at + 1} of ${of}`, `what … has stored, ${at + 1} of ${of}`] as const;

/** Returns the names of the pieces that belong to a root. Empty if the root cannot be read. */
const pieceNames = (root: ReadNote) =>
	range(isReadable(root) ? root.pieces : 0).map((at, _, all) => pieceName(at, all.length));

/**
 * All possible names of the first piece. The name contains the number of pieces: a power of two, up to 1024 (two
 * million documents).
 */
const FIRST_PIECES = range(11).map((power) => pieceName(0, 2 ** power));

/** What went wrong with the memory. */
export interface MemoryTroubles {
	/** The server does not return notes, so runs cannot keep a memory. */
	noRoute?: boolean;
	/** Start time (ISO 8601) of the run that detected a loss of documents. */
	lost?: string;
	/** Why this run did not write the memory. Nothing is lost: the next run merges the journal instead. */
	notWritten?: Failure;
	/** Why the statuses of stored documents could not be read. */
	notAsked?: Failure;
}

/**
 * `by`: the title of this run in messages of other runs.
 * `processed`: whether this run starts the processing of its documents. Default: as in the last run.
 * `forgetLost`: whether to stop reporting earlier losses.
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
	/** The documents of the source that are, or may be, in the knowledgebase. */
	readonly known = new Fingerprints();
	readonly names: Names;
	readonly troubles: MemoryTroubles = {};
	/** Whether the source seems new: the notes show no earlier run that stored documents. */
	isNew = false;
	/** Whether this run keeps a memory. False if the mode is `if kept` (Send Everything) and no memory is found. */
	isKept = true;
	/** Whether the last run stored its documents without starting their processing. */
	onlyStored = false;
	/** Number of documents in the memory when this run began. */
	knownBefore = 0;
	/**
	 * The other run that holds the lease, if any. This run must then send nothing. After `open('to read')`, the other
	 * run may have crashed.
	 */
	holder?: Holder;
	private readonly notes: NotesOnServer;
	private readonly journal: Journal;
	private readonly lease: Lease;
	/** The header of the root. */
	private root: Omit<MemoryNote, 'source' | 'body'> = { run: 0, pieces: 0 };
	/** Whether this run must write the memory before it sends anything. */
	private isStale = false;
	/** Numbers of pieces to write: they have changed, could not be read, or could not be written. */
	private readonly stalePieces = new Set<number>();
	/** Packed IDs of documents that no earlier run has sent. Removed once the outcome is known. */
	private readonly newIds = new Set<string>();
	/** The last task in the queue that writes notes. Tasks run one after another. */
	private queue: Promise<unknown> = Promise.resolve();

	/** The memory is empty until `open` is called. */
	constructor(
		place: MemoryPlace,
		routes: MemoryRoutes,
		private readonly options: MemoryOptions = {},
	) {
		const { signal, clock = systemClock, by = '' } = options;
		this.notes = new NotesOnServer(place, routes);
		this.names = new Names(this.notes);
		this.journal = new Journal(this.notes);
		const since = new Date(clock.now()).toISOString();
		this.lease = new Lease(this.notes, clock, signal, { by, since });
	}

	/**
	 * Reads what earlier runs stored. Unless the mode is `to read`, also takes the lease, and the caller must call
	 * `close`. Failed requests do not throw: see `refusal` and `troubles`.
	 *
	 * @param mode `if kept`: like `to send`, but never creates a memory (see `isKept`)
	 */
	async open(mode: 'to send' | 'to read' | 'if kept' = 'to send'): Promise<this> {
		const { known, lease } = this;
		const failed = await orFailure(async () => {
			if (mode !== 'to read') return await this.begin(mode);
			await this.read();
			this.holder = lease.holderBefore;
		});
		const { method, missing, status } = failed?.failure ?? {};
		// Without the route, or the permission to read, no earlier run could keep a memory.
		const isUnreadable = missing === 'route' || (status === 403 && method === 'GET');
		if (mode === 'if kept' && isUnreadable) this.isKept = false;
		else if (missing === 'route') this.troubles.noRoute = true;
		else lease.refusal ??= failed?.failure;
		this.knownBefore = known.size;
		return this;
	}

	/** ID of a note that is certainly on the server, if any. An answer without this note is rejected. */
	get requiredId(): string | undefined {
		return this.notes.requiredId;
	}

	/** Whether the memory can record this run. */
	get isUsable(): boolean {
		return !this.troubles.noRoute && !this.refusal;
	}

	/** Why this run must not send anything; `undefined` if there is no known reason. */
	get refusal(): Failure | undefined {
		return this.lease.refusal;
	}

	/**
	 * Renews the lease if a renewal is overdue.
	 *
	 * @returns why this run must not send anything; `undefined` if there is no known reason
	 */
	async check(): Promise<Failure | undefined> {
		return (await orFailure(async () => await this.lease.check()))?.failure;
	}

	/**
	 * Writes documents to the journal before a change that does not send their content, such as disabling. Marks their
	 * content as unknown.
	 *
	 * @returns why the documents must not be changed; `undefined` if they may be
	 */
	async journalChange(ids: string[]): Promise<Failure | undefined> {
		if (this.troubles.noRoute) return undefined;
		const failed = await this.exclusively(async () => {
			await this.prepareToSend();
			for (const id of ids) this.known.markUnknown(id);
			await this.journal.writePage(ids);
		});
		return failed?.failure;
	}

	/**
	 * Creates the journal rows to send in the request of a batch.
	 *
	 * @param hashes content hashes by ID
	 * @returns the rows, or why nothing may be sent; `undefined` if the server does not return notes
	 */
	async journalBatch(hashes: Map<string, string>) {
		if (this.troubles.noRoute) return undefined;
		return await this.exclusively(async () => {
			await this.prepareToSend();
			const names = await this.names.collect(SIZES.names);
			const write = async () => await this.notes.write(...names);
			if (names.length > 0 && (await orFailure(write))) this.names.counted.areAll = false;
			const entries = [...hashes].map(([id, contentHash]) => {
				const entry = storedEntry(id, contentHash);
				const sets = this.known.knows(id) ? [] : [this.newIds, this.names.unnamed];
				for (const packedIds of sets) packedIds.add(entry[0]);
				this.known.set([entry[0], UNKNOWN]);
				return entry;
			});
			return await this.journal.rowsFor(entries);
		});
	}

	/**
	 * Records that the server has stored a document with this content. The content stays unknown if an earlier request
	 * without an answer may still overwrite the document.
	 */
	recordStored(id: string, contentHash: string, name: DocumentName = {}): void {
		const entry = storedEntry(id, contentHash);
		this.newIds.delete(entry[0]);
		this.names.add(id, name);
		if (this.journal.isCertain(entry)) this.known.set(entry);
	}

	/**
	 * Removes a rejected document from the memory. Keeps a document that an earlier run sent, because the server may
	 * still have the earlier version.
	 */
	recordRejected(id: string): void {
		const isCertain = this.journal.isCertain([packId(id), '']);
		if (this.newIds.delete(packId(id)) && isCertain) this.known.remove(id);
	}

	/**
	 * Ends the run: writes a changed memory, and releases the lease. A stopped execution does neither: the lease
	 * expires, and the next run merges the journal.
	 */
	async close(): Promise<void> {
		const { known, lease, options } = this;
		const needsWrite = this.isStale || known.changed.size > 0;
		try {
			if (!needsWrite || !this.isUsable || options.signal?.aborted) return;
			const failed = await this.exclusively(async () => {
				await lease.check();
				// The crashed run may have changed these documents after the merge, so their content is unknown.
				for (const [packedId] of await this.journal.readLate()) known.set([packedId, UNKNOWN]);
				await this.write(lease.number, true);
			});
			this.troubles.notWritten = failed?.failure;
		} finally {
			await lease.release();
		}
	}

	/** Takes the lease and reads the memory. The mode `if kept` requires an existing memory. */
	private async begin(mode: 'to send' | 'if kept'): Promise<void> {
		const { journal, lease } = this;
		const [turn, root] = await lease.look([ROOT]);
		this.isKept = mode === 'to send' || lease.wasThere || (turn ?? root) !== undefined;
		if (!this.isKept) return;
		// If there are few pieces, read them together with the root.
		const pieces = pieceNames(root);
		const first = [ROOT, ...FIRST_PAGES, ...(pieces.length > SIZES.answer ? [] : pieces)];
		const taken = await lease.take(first);
		if (Array.isArray(taken)) await this.read(taken);
		else if (taken) this.holder = taken;
		// The server accepts notes but does not return them.
		else this.troubles.noRoute = true;
		const { crashed } = journal;
		lease.raiseCounters({ root: this.root.run, sent: crashed }, crashed);
		journal.run = lease.number;
	}

	/**
	 * Call before a request that changes documents. Checks the lease, writes the merged memory, and records that this
	 * run sends.
	 */
	private async prepareToSend(): Promise<void> {
		const { journal, lease } = this;
		await lease.check();
		// The root gets a lower number than the crashed run, so that the pages of that run do not count as merged. If
		// this run crashes too, the next run reads the pages of both runs. Damaged pages are not read again.
		const { isDamaged, crashed } = journal;
		const last = isDamaged || crashed === 0 ? lease.number : crashed;
		if (this.isStale) await this.write(last - 1);
		lease.counters.root = this.root.run;
		await lease.beginToSend(journal.page(0));
	}

	/**
	 * Reads the memory and merges the journal of a crashed run.
	 *
	 * @param held notes that were read with the lease: the root, the first journal pages and, if there are few, the
	 * pieces
	 */
	private async read(held?: ReadNote[]): Promise<void> {
		const { lease } = this;
		const [root, ...others] = held ?? (await lease.look([ROOT, ...FIRST_PAGES])).slice(1);
		const pages = others.splice(0, FIRST_PAGES.length);
		const { counters } = lease;
		let isRootLost = root === 'damaged' || (root?.run ?? 0) < counters.root;
		// If root and lease are missing, only a journal page or a piece proves that there was a memory.
		if (root === undefined && !lease.wasThere)
			isRootLost = compact([...pages, ...(await this.notes.read(FIRST_PIECES))]).length > 0;
		if (isRootLost) await this.rebuild();
		else if (isReadable(root)) await this.readRoot(root, others);
		if (counters.sent > this.root.run || pages.some((page) => isLater(this.root.run, page)))
			await this.readUnmergedJournal(counters.sent, isRootLost);
		const lastRun = Math.max(this.journal.crashed, counters.sent);
		this.isNew = root === undefined && !isRootLost && lastRun === 0;
		// A run adds the names of stored documents only. So a document with unknown content may have no name yet.
		for (const [packedId, fingerprint] of this.known.entries())
			if (fingerprint === UNKNOWN) this.names.unnamed.add(packedId);
	}

	/** Applies the root, and reads its pieces unless `held` has them. Rebuilds unreadable pieces. */
	private async readRoot(root: MemoryNote, held: ReadNote[]): Promise<void> {
		const { known, names, notes, stalePieces } = this;
		const { forgetLost, processed = root.processed } = this.options;
		const { lost } = root;
		this.root = pick(root, 'run', 'pieces', 'names', 'lost', 'processed');
		this.onlyStored = root.processed === false;
		this.isStale = (forgetLost && lost !== undefined) || root.processed !== processed;
		if (!forgetLost) this.troubles.lost = lost;
		names.counted = root.names ?? names.counted;
		notes.requiredId ??= notes.idOf(ROOT);
		const all = pieceNames(root);
		const pieces = held.length === all.length ? held : await notes.read(all, SIZES.answer);
		for (const [at, piece] of pieces.entries())
			if (isReadable(piece)) known.add(piece.body);
			else stalePieces.add(at);
		if (stalePieces.size > 0) await this.rebuild();
	}

	/**
	 * Derives the IDs of unreadable pieces from keys, or all IDs if the root is unreadable. The content of these
	 * documents stays unknown. Records a loss if some IDs may be missing.
	 */
	private async rebuild(): Promise<void> {
		const { known, names, stalePieces } = this;
		const { pieces } = this.root;
		const isAll = pieces === 0;
		for (const id of await names.ids(!isAll)) {
			const isIn = isAll || stalePieces.has(tailOf(packId(id)) % pieces);
			if (!isIn || known.knows(id)) continue;
			known.markUnknown(id);
			known.rebuilt.add(id);
		}
		this.isStale = true;
		if (isAll || !names.counted.areAll) this.troubles.lost = this.lease.holder.since;
	}

	/** Reads and merges the journals of crashed runs. */
	private async readUnmergedJournal(sent: number, isRootLost: boolean): Promise<void> {
		const { journal, known, names, root } = this;
		for (const entry of await journal.readUnmerged(root.run)) {
			known.set(entry);
			names.unnamed.add(entry[0]);
		}
		journal.isDamaged ||= isRootLost || Math.max(journal.crashed, root.run) < sent;
		this.isStale = true;
		if (!journal.isDamaged) return;
		// A lost journal page may concern any document. Without the root, outdated pages of older runs are read too. In
		// both cases, no content is certain.
		for (const [packedId] of known.entries()) known.set([packedId, UNKNOWN]);
		this.troubles.lost = this.lease.holder.since;
	}

	/**
	 * Writes the pieces, then the root.
	 *
	 * @param run number of the last merged run
	 * @param isLast whether to release the lease as well
	 * @throws NotesFailed
	 */
	private async write(run: number, isLast = false): Promise<void> {
		const { known, lease, names, root, stalePieces } = this;
		const { lost } = this.troubles;
		const nameNotes = await names.collect();
		const wanted = 2 ** Math.ceil(Math.log2(known.size / SIZES.piece));
		const pieces = Math.max(root.pieces, wanted, 1);
		if (pieces !== root.pieces) for (const at of range(pieces)) stalePieces.add(at);
		for (const tail of known.changed) stalePieces.add(tail % pieces);
		known.changed = new Set();
		this.isStale = true;
		const areAll =
			names.counted.areAll && ![...names.unnamed].some((id) => known.knows(unpackId(id)));
		const { processed = root.processed } = this.options;
		const header = { run, pieces, names: { ...names.counted, areAll }, lost, processed };
		const pieceNotes = [...stalePieces].map((at) => ({
			note: pieceName(at, pieces),
			header: {},
			entries: known.entries(at, pieces),
		}));
		// Record the loss in the root first: once a lost piece is written again, nothing else shows the loss.
		const lostRoot = lost ? [{ note: ROOT, header: { ...root, lost } }] : [];
		const notes = [...nameNotes, ...lostRoot, ...pieceNotes, { note: ROOT, header }];
		const writing = isLast ? lease.release(notes) : this.notes.write(...notes);
		const failed = await orFailure(async () => await writing);
		if (failed && nameNotes.length > 0) names.counted.areAll = false;
		if (failed) throw new NotesFailed(failed.failure);
		this.root = header;
		this.isStale = false;
		stalePieces.clear();
	}

	private async exclusively<T>(work: () => Promise<T>): Promise<T | { failure: Failure }> {
		const done = this.queue.then(async () => await orFailure(work));
		this.queue = done.catch(() => undefined);
		return await done;
	}
}

const TURN: NoteName = ['turn', 'when … began'];
export const LEASE: NoteName = ['lease', 'whether … is at work'];

/** Durations in milliseconds. Each run uses only its own clock, so the clocks of runs need not agree. */
const MS = { renew: 20_000, overdue: 45_000, expired: 60_000, contended: 30_000, poll: 5000 };

/** The run that holds a lease. `by`: the title of the run. `since`: its start time (ISO 8601). */
type Holder = Record<'by' | 'since', string>;

type LeaseNotes = Record<'turn' | 'lease', ReadNote> & { others: ReadNote[] };

/*
 * How the lease works. It uses two notes, `turn` and `lease`. The server keeps the last write of each note.
 * 1. A run reads `lease`. If another run holds the lease, this run waits up to a minute for a renewal. If the other run
 *    renews the lease, this run gives up. Otherwise the other run has crashed, and its lease no longer counts.
 * 2. The run writes its ID into `turn` and reads `lease` again. If another run holds the lease now, this run gives up.
 *    Otherwise it writes `lease`, and reads both notes. If another run has overwritten `lease`, this run gives up. If
 *    `turn` still contains its own ID, this run holds the lease. Two runs cannot both hold the lease: either the second
 *    run to write `turn` finds the lease of the first, or the first run finds the ID of the second in `turn`.
 * 3. If `turn` contains another ID, perhaps no run holds the lease. This run waits half a minute for another run to
 *    write `lease`. If no run does, this run repeats rule 2. Later runs find the lease of this run and give up.
 * 4. A run that renews every 20 s keeps the lease, even if a slow rival overwrote a note. If the last renewal is 45 s
 *    ago, the run first checks that its ID is still in `lease` or `turn`.
 */

/** The lease of a source. Only the run that holds the lease may send. */
export class Lease {
	/** Number of this run. The first run has number 2, because it may write a root with number 1. 0 means no run. */
	number = 2;
	/**
	 * Run numbers for the next run. `sent`: the last run that began to send. `root`: the run number in the root, to
	 * detect the loss of the root.
	 */
	readonly counters = { sent: 0, root: 0 };
	/** Why this run must not send: another run holds the lease, or notes could not be read or written. */
	refusal?: Failure;
	/** Whether the note `lease` existed before this run. */
	wasThere = false;
	/** The run that held the lease when this run began. The other run may have crashed. */
	holderBefore?: Holder;
	/** The notes that `look` read, before this run wrote any note. */
	private before?: LeaseNotes;
	private readonly leaseOwnerId = randomUUID();
	private writeCount = 0;
	private renewedAt = 0;
	private isHeld = false;
	private crashedWriteId?: string;
	private renewal: Promise<unknown> = Promise.resolve();

	constructor(
		private readonly notes: NotesOnServer,
		private readonly clock: Clock,
		private readonly signal: AbortSignal | undefined,
		readonly holder: Holder,
	) {}

	/**
	 * Reads `turn`, `lease` and other notes, before this run writes any note.
	 *
	 * @returns `turn` and the other notes
	 */
	async look(others: NoteName[]): Promise<ReadNote[]> {
		this.before = await this.readNotes(others);
		const { turn, lease } = this.before;
		this.wasThere = lease !== undefined;
		if (this.isHeldByOther(lease)) this.holderBefore = holderIn(lease);
		if (isReadable(lease)) this.raiseCounters({ ...lease.lease, run: lease.run });
		return [turn, ...this.before.others];
	}

	/**
	 * Takes the lease. This may last a minute, or longer if several runs compete.
	 *
	 * @param others names of notes to read once this run holds the lease
	 * @returns the notes in `others`, or the run that holds the lease; `undefined` if the server does not return notes
	 * @throws NotesFailed
	 */
	async take(others: NoteName[] = []): Promise<ReadNote[] | Holder | undefined> {
		let current = this.before ?? (await this.readNotes());
		if (this.isHeldByOther(current.lease)) {
			const writeId = writeIdOf(current.lease);
			current = await this.waitForChange(current, MS.expired);
			if (writeIdOf(current.lease) === writeId) this.crashedWriteId = writeId;
		}
		while (!this.isHeldByOther(current.lease)) {
			await this.notes.write({ note: TURN, header: { writeId: this.leaseOwnerId } });
			this.notes.requiredId = this.notes.idOf(TURN);
			current = await this.readNotes();
			if (this.isHeldByOther(current.lease)) break;
			// The server does not return notes, so it cannot keep a lease.
			if (!isReadable(current.turn)) return undefined;
			await this.write();
			current = await this.readNotes(others);
			if (this.isHeldByOther(current.lease)) break;
			this.isHeld = this.isOwn(current.turn);
			if (this.isHeld) this.scheduleRenewal();
			if (this.isHeld) return current.others;
			current = await this.waitForChange(current, MS.contended);
		}
		return this.yieldTo(current.lease);
	}

	/**
	 * Raises the counters to the given numbers, and the number of this run above them. Avoids the journal slot of a
	 * crashed run, whose requests may still arrive.
	 */
	raiseCounters({ run = 0, sent = 0, root = 0 }, crashed = 0): void {
		this.counters.sent = Math.max(this.counters.sent, sent);
		this.counters.root = Math.max(this.counters.root, root);
		this.number = Math.max(this.number, run + 1, sent + 1, root + 1);
		if (crashed > 0 && (this.number - crashed) % SLOTS === 0) this.number += 1;
	}

	/**
	 * Records that this run sends, and writes the first journal page. Only the first call does so.
	 *
	 * @throws NotesFailed
	 */
	async beginToSend(firstPage: WrittenNote[]): Promise<void> {
		if (this.counters.sent === this.number) return;
		await this.write({ sent: this.number }, firstPage);
		this.counters.sent = this.number;
	}

	/**
	 * Renews the lease if a renewal is overdue.
	 *
	 * @throws NotesFailed if this run must not send, e.g. because another run has taken the lease
	 */
	async check(): Promise<void> {
		if (this.isHeld && this.isOverdue) await this.renew();
		if (this.refusal) throw new NotesFailed(this.refusal);
	}

	/**
	 * Releases the lease, unless another run holds it. After a stopped execution, does nothing: the lease expires.
	 *
	 * @param last notes to write just before the release
	 * @throws NotesFailed if these notes were not written
	 */
	async release(last: WrittenNote[] = []): Promise<void> {
		if (!this.isHeld || this.signal?.aborted) return;
		if (this.isOverdue) await orFailure(async () => await this.renew());
		const { isHeld } = this;
		this.isHeld = false;
		await this.renewal;
		const root = last.length > 0 ? this.number : this.counters.root;
		const failed = isHeld
			? await orFailure(async () => await this.write({ ended: true, root }, last))
			: { failure: this.refusal };
		if (!failed?.failure || last.length === 0) return;
		this.isHeld = isHeld;
		await this.release();
		throw new NotesFailed(failed.failure);
	}

	private scheduleRenewal(): void {
		this.clock.later(MS.renew, () => {
			if (!this.isHeld || this.signal?.aborted) return;
			// If the renewal fails, the run tries again after the next interval. `check` also repeats an overdue
			// renewal.
			this.renewal = orFailure(async () => await this.renew()).then(() => this.scheduleRenewal());
		});
	}

	private get isOverdue(): boolean {
		return this.clock.now() - this.renewedAt >= MS.overdue;
	}

	private async renew(): Promise<void> {
		if (this.isOverdue) {
			const { turn, lease } = await this.readNotes();
			if (!this.isOwn(turn) && !this.isOwn(lease)) return void this.yieldTo(lease);
		}
		await this.write();
	}

	/** Polls until another run writes `lease`, or until `ms` have passed. */
	private async waitForChange(initial: LeaseNotes, ms: number): Promise<LeaseNotes> {
		const writeId = writeIdOf(initial.lease);
		let current = initial;
		for (let left = ms; left > 0 && writeIdOf(current.lease) === writeId; left -= MS.poll) {
			await this.clock.sleep(MS.poll, this.signal);
			current = await this.readNotes();
		}
		return current;
	}

	private async readNotes(names: NoteName[] = []): Promise<LeaseNotes> {
		const [turn, lease, ...others] = await this.notes.read([TURN, LEASE, ...names]);
		return { turn, lease, others };
	}

	private async write(changes = {}, others: WrittenNote[] = []): Promise<void> {
		const { number, holder, leaseOwnerId } = this;
		const lease = { ...holder, ended: false, ...this.counters, ...changes };
		const header = { writeId: `${leaseOwnerId}:${++this.writeCount}`, run: number, lease };
		const at = this.clock.now();
		await this.notes.write(...others, { note: LEASE, header });
		this.renewedAt = at;
	}

	/** Whether another run has taken the lease, and has neither released the lease nor crashed. */
	private isHeldByOther(note: ReadNote): boolean {
		if (note === undefined || this.isOwn(note) || writeIdOf(note) === this.crashedWriteId)
			return false;
		// An unreadable lease counts as held. If a run holds the lease, its next renewal makes the note readable again.
		return !isReadable(note) || note.lease?.ended === false;
	}

	/**
	 * Sets `refusal`, because another run holds the lease.
	 *
	 * @returns the other run
	 */
	private yieldTo(note: ReadNote): Holder {
		const holder = holderIn(note);
		const reason = `Another run of this source is at work: ${holder.by}, since ${holder.since}`;
		this.refusal = { kind: 'unsuccessful', reason, path: '', method: 'GET' };
		this.isHeld = false;
		return holder;
	}

	private isOwn(note: ReadNote): boolean {
		return isReadable(note) && note.writeId?.split(':')[0] === this.leaseOwnerId;
	}
}

/** Returns the run that wrote a lease, with `unknown` for missing values. */
function holderIn(note: ReadNote): Holder {
	const { by = '', since = '' } = (isReadable(note) && note.lease) || {};
	return { by: sanitize(by) ?? 'unknown', since: sanitize(since) ?? 'unknown' };
}

/** Identifies one write of a note; `undefined` if the note is missing, `damaged` if the note cannot be read. */
const writeIdOf = (note: ReadNote) => (isReadable(note) ? (note.writeId ?? '') : note);
