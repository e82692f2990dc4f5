import pick from 'lodash/pick';
import range from 'lodash/range';
import sum from 'lodash/sum';

import { systemClock, type Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { Fingerprints, UNKNOWN, packId, storedEntry, tailOf, unpack } from './fingerprints';
import { Journal, UnmergedJournal, firstPages, isLater, type JournaledBatch } from './journal';
import { Lease, type Holder } from './lease';
import { Names, type DocumentName } from './names';
import { NotesFailed, NotesOnServer, SIZES, isReadable, orFailure } from './notes';
import type {
	MemoryNote,
	MemoryPlace,
	MemoryRoutes,
	NoteName,
	ReadNote,
	WrittenNote,
} from './notes';

const ROOT: NoteName = ['memory', 'what … has stored'];

/** The first pages of both slots, which exist before all others. */
const FIRST_PAGES = firstPages();

const pieceName = (at: number, of: number): NoteName => [
	`piece ${at + 1} of ${of}`,
	`what … has stored, ${at + 1} of ${of}`,
];

/** The pieces that a root counts. */
const pieceNames = (root: ReadNote) =>
	((isReadable(root) && root.pieces) || []).map((_, at, { length }) => pieceName(at, length));

/** The first piece of memories of any size up to two million documents. */
const FIRST_PIECES = range(11).map((power) => pieceName(0, 2 ** power));

/** What went wrong with the memory. */
export interface MemoryTroubles {
	/** The server does not return notes. */
	noRoute?: boolean;
	/** Since when knowledge of stored documents is lost, and of how many, if that is known. */
	lost?: MemoryNote['lost'];
	/** Why the memory was not written; the journal has its content. */
	notWritten?: Failure;
	/** Why the statuses of stored documents could not be read. */
	notAsked?: Failure;
}

/** `by`: the title of the run; `processed`: whether it has documents processed, by default as before; `forgetLost`: losses are taken note of. */
interface MemoryOptions {
	signal?: AbortSignal;
	clock?: Clock;
	by?: string;
	processed?: boolean;
	forgetLost?: boolean;
}

/** The memory of a source, kept in its knowledgebase: what earlier runs stored. It survives crashes. */
export class SourceMemory {
	/** The source's documents in the knowledgebase, as far as they are known. */
	readonly known = new Fingerprints();
	readonly names: Names;
	readonly troubles: MemoryTroubles = {};
	/** Whether, by the notes, no run has stored anything: the source is new, or its notes are gone. */
	isNew = false;
	/** Whether anything is remembered: Send Everything only goes on with a memory that is there. */
	isKept = true;
	/** Whether the last run stored documents without having them processed. */
	onlyStored = false;
	/** Documents known when the run began. */
	knownBefore = 0;
	/** Set if another run holds the lease, or has crashed before a mere reading: then nothing may be sent. */
	holder?: Holder;
	private readonly notes: NotesOnServer;
	private readonly journal: Journal;
	private readonly lease: Lease;
	private readonly unmergedJournal: UnmergedJournal;
	/** The content of the root, and whether it must be written before anything is sent. */
	private root: Pick<MemoryNote, 'run' | 'pieces' | 'names' | 'lost' | 'processed'> = { run: 0 };
	private isStale = false;
	/** Pieces that could not be read, and must be rewritten. */
	private readonly unreadablePieces = new Set<number>();
	/** Packed IDs of documents that no earlier run stored. */
	private readonly newIds = new Set<string>();
	/** Serializes the writing of notes. */
	private queue: Promise<unknown> = Promise.resolve();

	/** Empty until it is opened. */
	constructor(
		place: MemoryPlace,
		routes: MemoryRoutes,
		private readonly options: MemoryOptions = {},
	) {
		const { signal, clock = systemClock, by = '' } = options;
		this.notes = new NotesOnServer(place, routes);
		this.names = new Names(this.notes);
		this.journal = new Journal(this.notes);
		this.unmergedJournal = new UnmergedJournal(this.notes);
		const since = new Date(clock.now()).toISOString();
		this.lease = new Lease(this.notes, clock, signal, { by, since });
	}

	/** Reads what earlier runs stored. Failures are in `refusal` and `troubles`. After `to send`, always call `close`. */
	async open(mode: 'to send' | 'to read' | 'if kept' = 'to send'): Promise<this> {
		const { known, lease } = this;
		const failed = await orFailure(async () => {
			if (mode !== 'to read') return await this.begin(mode);
			await this.read();
			this.holder = lease.holderBefore;
		}).catch(async (error: unknown) => {
			await lease.release();
			throw error;
		});
		const { missing, status } = failed?.failure ?? {};
		// Without the route, or the right to read it, no run has noted anything.
		if (mode === 'if kept' && (missing === 'route' || status === 403)) this.isKept = false;
		else if (missing === 'route') this.troubles.noRoute = true;
		else lease.refusal ??= failed?.failure;
		this.knownBefore = known.size;
		return this;
	}

	/** A note that is certainly on the server: an answer without it does not count. */
	get requiredId(): string | undefined {
		return this.notes.requiredId;
	}

	/** Whether this run can be remembered. */
	get isUsable(): boolean {
		return !this.troubles.noRoute && !this.refusal;
	}

	/** Why nothing may be sent, as far as is known. */
	get refusal(): Failure | undefined {
		return this.lease.refusal;
	}

	/** After a long silence, makes sure that no other run has taken the lease. @returns why nothing may be sent */
	async check(): Promise<Failure | undefined> {
		return (await orFailure(async () => await this.lease.check()))?.failure;
	}

	/** Records documents before a change other than storing them whole. @returns why they must not be changed */
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
	 * Records documents in the request that stores them. @param hashes content hashes by ID
	 * @returns the journal's rows, or why nothing may be sent; `undefined` if the server does not support the memory
	 */
	async journalBatch(
		hashes: Map<string, string>,
	): Promise<JournaledBatch | { failure: Failure } | undefined> {
		if (this.troubles.noRoute) return undefined;
		return await this.exclusively(async () => {
			await this.prepareToSend();
			const names = await this.names.collect(SIZES.names);
			if (names.length > 0 && (await orFailure(async () => await this.notes.write(...names))))
				this.names.lose();
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

	/** Records that the server has accepted a document with this content. */
	recordStored(id: string, contentHash: string, name: DocumentName = {}): void {
		const entry = storedEntry(id, contentHash);
		this.newIds.delete(entry[0]);
		this.names.add(id, name);
		if (this.journal.isCertain(entry)) this.known.set(entry);
	}

	/** Records that the server has rejected a document. A version that an earlier run stored may still exist. */
	recordRejected(id: string): void {
		if (this.newIds.delete(packId(id)) && !this.journal.mayArriveLate(id)) this.known.remove(id);
	}

	/** Records that removed documents may still be found, and how many, if that is known. */
	markLost(count = NaN): void {
		const { lost = { count: 0 } } = this.troubles;
		const all = count + (lost.count ?? NaN);
		const at = new Date((this.options.clock ?? systemClock).now()).toISOString();
		this.troubles.lost = { at, ...(all > 0 && { count: all }) };
		this.isStale = true;
	}

	/** Ends the run: writes the memory and releases the lease, in one request if that takes it. */
	async close(): Promise<void> {
		const { known, lease, options } = this;
		const needsWrite = this.isStale || known.changed.size > 0;
		try {
			if (!needsWrite || !this.isUsable || options.signal?.aborted) return;
			const failed = await this.exclusively(async () => {
				await lease.check();
				// Documents in late pages of a crashed run become unknown.
				for (const [packedId] of await this.unmergedJournal.readLate())
					known.set([packedId, UNKNOWN]);
				await this.write(lease.number, async (notes) => await lease.release(notes));
			});
			this.troubles.notWritten = failed?.failure;
		} finally {
			await lease.release();
		}
	}

	/** Takes the lease and reads the memory. */
	private async begin(mode: 'to send' | 'if kept'): Promise<void> {
		const { journal, lease } = this;
		const [turn, root] = await lease.look([ROOT]);
		this.isKept = mode === 'to send' || lease.wasThere || (turn ?? root) !== undefined;
		if (!this.isKept) return;
		// Few pieces are read with the root.
		const pieces = pieceNames(root);
		const first = [ROOT, ...FIRST_PAGES, ...(pieces.length > SIZES.answer ? [] : pieces)];
		const taken = await orFailure(async () => await lease.take(first));
		if (taken && 'failure' in taken) {
			// If notes cannot be written, unchanged documents can still be recognized.
			const { failure } = taken;
			if (failure.method === 'GET' || failure.missing === 'route') throw new NotesFailed(failure);
			lease.refusal = failure;
			await this.read();
		} else if (Array.isArray(taken)) await this.read(taken);
		else if (taken) this.holder = taken;
		// The server accepts notes but does not return them.
		else this.troubles.noRoute = true;
		const { run: crashed } = this.unmergedJournal;
		lease.raiseCounters({ root: this.root.run, sent: crashed }, crashed);
		journal.run = lease.number;
	}

	/** Merges the journal of a crashed run before this run may write its own. */
	private async prepareToSend(): Promise<void> {
		const { journal, lease } = this;
		await lease.check();
		// The pages of a crashed run are read again at the end, unless they are damaged.
		const { isDamaged, run: crashed } = this.unmergedJournal;
		const last = isDamaged || crashed === 0 ? lease.number : crashed;
		if (this.isStale) await this.write(last - 1);
		lease.counters.root = this.root.run;
		await lease.beginToSend(journal.page(0));
	}

	/**
	 * Reads the memory and merges the journal of a crashed run.
	 *
	 * @param held the root, the first pages and perhaps the pieces, if they were read with the lease
	 */
	private async read(held?: ReadNote[]): Promise<void> {
		const { lease } = this;
		const [root, ...others] = held ?? (await lease.look([ROOT, ...FIRST_PAGES])).slice(1);
		const pages = others.splice(0, FIRST_PAGES.length);
		const { counters } = lease;
		// Without both, only a page or a piece tells that something was remembered.
		const hasNeither = root === undefined && !lease.wasThere;
		const isForgotten =
			hasNeither &&
			[...pages, ...(await this.notes.read(FIRST_PIECES))].some((note) => note !== undefined);
		// A root older than the lease knows was overwritten by a late request, and does not count.
		const isOlder = isReadable(root) && root.run < counters.root;
		const isRootLost =
			isForgotten || isOlder || (!isReadable(root) && (root ?? counters.root) !== 0);
		if (isRootLost) await this.rebuild();
		else if (isReadable(root)) await this.readRoot(root, others);
		const isLeft = pages.some((page) => isLater(this.root.run, page));
		if (isLeft || counters.sent > this.root.run)
			await this.readUnmergedJournal(counters.sent, isRootLost);
		const lastRun = Math.max(this.unmergedJournal.run, counters.root, counters.sent);
		this.isNew = root === undefined && lastRun === 0 && !isForgotten;
		// A document whose outcome no run has learned has no name yet.
		for (const [packedId, fingerprint] of this.known.entries())
			if (fingerprint === UNKNOWN) this.names.unnamed.add(packedId);
	}

	/** Reads the pieces, unless that was done; rebuilds unreadable ones from names. */
	private async readRoot(root: MemoryNote, held: ReadNote[]): Promise<void> {
		const { known, names, notes, unreadablePieces } = this;
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
			if (isReadable(piece)) for (const entry of unpack(piece.body)) known.set(entry);
			else unreadablePieces.add(at);
		known.changed = new Set();
		if (unreadablePieces.size > 0) await this.rebuild();
	}

	/** Rebuilds unreadable pieces from names, or all pieces if the root is unreadable. */
	private async rebuild(): Promise<void> {
		const { known, names, unreadablePieces } = this;
		const { pieces } = this.root;
		let missing = sum([...unreadablePieces].map((at) => pieces?.[at]));
		for (const id of await names.ids(pieces !== undefined)) {
			const isIn = !pieces || unreadablePieces.has(tailOf(packId(id)) % pieces.length);
			if (!isIn || known.knows(id)) continue;
			missing -= 1;
			known.markUnknown(id);
			known.rebuilt.add(id);
		}
		this.isStale = true;
		if (!pieces || !names.counted.areAll) this.markLost(missing > 0 ? missing : NaN);
	}

	/** Reads and merges the journal of a crashed run. */
	private async readUnmergedJournal(sent: number, isRootLost: boolean): Promise<void> {
		const { known, names, root, unmergedJournal: journal } = this;
		for (const entry of await journal.read(root.run)) {
			known.set(entry);
			names.unnamed.add(entry[0]);
		}
		journal.isDamaged ||= isRootLost || Math.max(journal.run, root.run) < sent;
		this.isStale = true;
		if (!journal.isDamaged) return;
		// Lost pages may have changed any document; without a root, pages of older runs are read as well.
		known.forgetContents();
		this.markLost();
	}

	/** Writes the pieces first and the root last: the root makes them count. @throws NotesFailed */
	private async write(
		run: number,
		store = async (notes: WrittenNote[]) => await this.notes.write(...notes),
	): Promise<void> {
		const { known, names, root, unreadablePieces } = this;
		const { lost } = this.troubles;
		const { pieces: sizes = [] } = root;
		const nameNotes = await names.collect();
		const wanted = 2 ** Math.ceil(Math.log2(known.size / SIZES.piece));
		const pieceCount = Math.max(sizes.length, wanted, 1);
		const { changed } = known;
		const dirty = new Set(pieceCount === sizes.length ? unreadablePieces : range(pieceCount));
		for (const tail of changed) dirty.add(tail % pieceCount);
		const idsByPiece = new Map([...dirty].map((at): [number, string[]] => [at, []]));
		let { areAll } = names.counted;
		for (const [packedId] of known.entries()) {
			idsByPiece.get(tailOf(packedId) % pieceCount)?.push(packedId);
			areAll &&= !names.unnamed.has(packedId);
		}
		const pieces = range(pieceCount).map((at) => idsByPiece.get(at)?.length ?? sizes[at] ?? 0);
		const header = {
			run,
			pieces,
			names: { ...names.counted, areAll },
			lost,
			processed: this.options.processed ?? root.processed,
		};
		known.changed = new Set();
		const pieceNotes = [...idsByPiece].map(([at, packedIds]) => ({
			note: pieceName(at, pieceCount),
			header: {},
			entries: known.entries(packedIds),
		}));
		// A rewritten piece no longer shows that part of it was lost, so the root says so first.
		const lostRoot = lost ? [{ note: ROOT, header: { ...root, lost } }] : [];
		const notes = [...nameNotes, ...lostRoot, ...pieceNotes, { note: ROOT, header }];
		const failed = await orFailure(async () => await store(notes));
		if (failed && nameNotes.length > 0) names.lose();
		if (failed) for (const tail of changed) known.changed.add(tail);
		if (failed) throw new NotesFailed(failed.failure);
		this.root = header;
		this.isStale = false;
		unreadablePieces.clear();
	}

	private async exclusively<T>(work: () => Promise<T>): Promise<T | { failure: Failure }> {
		const done = this.queue.then(async () => await orFailure(work));
		this.queue = done.catch(() => undefined);
		return await done;
	}
}
