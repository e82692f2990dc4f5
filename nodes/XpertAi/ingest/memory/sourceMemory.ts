import { randomUUID } from 'crypto';

import { systemClock } from '../../transport/clock';
import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { isRouteMissing } from '../../transport/meaning';
import { Fingerprints, keyOf } from './fingerprints';
import { Journal, ROOM_IN_BATCH } from './journal';
import type { Journaled } from './journal';
import { LEASE, Lease, TURN, mayHaveLeft } from './lease';
import type { Holder } from './lease';
import { FIRST_PAGES, LeftBehind, readLanes } from './leftBehind';
import { Names } from './names';
import type { DocumentName } from './names';
import { takeUp } from './note';
import type { NoteFlaw } from './note';
import { NotesOnServer } from './notesOnServer';
import type { MemoryPlace, MemoryRoutes, NoteName, ReadNote } from './notesOnServer';
import { Pieces } from './pieces';

const MEMORY: NoteName = { name: 'memory', title: 'n8n: what … has stored' };

/** What of remembering did not go as it should. */
export interface MemoryTroubles {
	/** The server does not give back what was stored. */
	noRoute?: boolean;
	/** Why what earlier runs have stored does not count. */
	flaw?: NoteFlaw;
	/** How many documents were in pieces of the memory that cannot be read. */
	lost?: number;
	/** Another run of the source was at work at the same time. */
	overlapped?: boolean;
	/** Why the memory was not written; the journal has what it would hold. */
	notWritten?: Failure;
	/** Why it is not known whether what was stored is still there. */
	notAsked?: Failure;
	/** Why it is not known what was stored before the source had its name. */
	notRecalled?: Failure;
}

/** What is remembered of a source, read and not taken over. */
export type Recalled = Pick<SourceMemory, 'known' | 'witness' | 'troubles' | 'namesOf'>;

/*
 * The protocol. A note is a disabled document that holds a text; the server stores one whole or not at all.
 * 1. `turn` and `lease`: before it reads, a run makes sure that no other one of the source is at work (lease.ts), or
 *    begins beside it where that is wanted: then the one at least sees the other.
 * 2. `memory` and its pieces: what is stored, with contents. Written at the end, by a run that was
 *    alone: pieces first, then `memory`, which names the journals they include. Where that breaks off, old and new
 *    pieces lie side by side, and the journals still count.
 * 3. `journal`: each batch is its own journal. Servers store its rows in order, also of a request that nobody waits for
 *    any more. So a page goes before its documents, saying what they are sent with; behind them goes that the batch was
 *    carried out, and which ones before it. Both stay true however late they come, and no page is written again of
 *    which a row may come late; one that may never have arrived is written by itself before anything more is sent.
 *    What stands behind also says which pages are there, so that one that somebody has deleted is missed.
 *    Each run has a lane of its own, as long as one is free whose journals the memory includes; last of all one in which
 *    a row of an earlier run may still come.
 * 4. A run knows the memory, and over it what the journals say that it does not include: with contents where one
 *    run alone has left them, on this memory; else that the documents may be there in any state.
 * 5. `names`: what documents are called, added to when they are first stored; what was stored by a run that crashed is
 *    named when it is brought again. Read where something is told of documents that no item brings.
 * 6. What cannot be read makes unknown what it may have said: a piece its documents, changes the contents of their
 *    piece, a page of a journal all contents. A note of a later version ends the run before anything is sent.
 */

/** How a run of a source begins. */
interface Beginning {
	signal?: AbortSignal;
	clock?: Clock;
	/** Everything is to be sent again; what was stored is known all the same. */
	fresh?: boolean;
	/** What people know the run by. */
	by?: string;
	/** Whether it begins also while another one is at work. */
	evenIfRunning?: boolean;
}

/**
 * What earlier runs of a source have stored in a knowledgebase, kept in the knowledgebase itself. Whatever a crash
 * leaves behind is known. One run is at work at a time; where two are all the same, the one that finds the other
 * leaves the memory to it, and notes that no content is certain.
 */
export class SourceMemory {
	/** What the knowledgebase holds of the source, as far as it is known by now. */
	readonly known = new Fingerprints();

	/** How many documents were known when the run began. */
	knownBefore = 0;

	readonly troubles: MemoryTroubles = {};

	/** A note that the server has given back: an answer that should list it and does not is none. */
	witness?: string;

	/** The run that is at work, where this one may not begin. */
	holder?: Holder;

	/** Whether anything is remembered at all. */
	private works = true;

	/** Why nothing may be sent: what is not remembered makes the memory wrong. */
	private blocked?: Failure;

	/** The memory as it lies on the server. */
	private pieces = new Pieces();

	private mark?: string;

	private left = new LeftBehind([], {});

	private readonly journal: Journal;

	private readonly lease: Lease;

	private readonly names: Names;

	/** The keys of documents that are known without their names; none where that holds for all. */
	private unnamed?: Set<string>;

	private readonly signal?: AbortSignal;

	/** Whether no content in the written memory is certain. */
	private uncertain = false;

	/** Whether the memory is to be written though nothing has changed: what lies there is old, or damaged. */
	private isStale = false;

	/** Whether the memory holds all that earlier runs have noted. */
	private holdsEarlier = false;

	/** Documents that no run has stored before this one. */
	private readonly added = new Set<string>();

	/** Notes are written one after another. */
	private lastWork: Promise<unknown> = Promise.resolve();

	private constructor(
		private readonly notes: NotesOnServer,
		{ signal, clock = systemClock, by = '' }: Beginning = {},
	) {
		this.signal = signal;
		this.journal = new Journal(notes, this.known);
		this.names = new Names(notes, this.known, notes.owner);
		this.lease = new Lease(notes, this.known, this.journal.run, { clock, signal, by });
	}

	/**
	 * Reads what earlier runs have stored, and notes that this one has begun. `close` has to follow.
	 *
	 * @returns with a `holder` where another run is at work: then nothing may be sent
	 */
	static async open(
		place: MemoryPlace,
		routes: MemoryRoutes,
		beginning: Beginning = {},
	): Promise<SourceMemory> {
		const memory = new SourceMemory(new NotesOnServer(place, routes), beginning);
		await memory.begin(beginning);
		if (beginning.fresh) memory.known.forgetContents();
		memory.knownBefore = memory.known.size;
		return memory;
	}

	/**
	 * What a source has stored, for another that takes its place or for a run that changes nothing; nothing is noted.
	 *
	 * @param witness a document that is certainly there
	 */
	static async recall(
		place: MemoryPlace,
		routes: MemoryRoutes,
		{ witness }: { witness?: string } = {},
	): Promise<Recalled | { failure: Failure }> {
		const memory = new SourceMemory(new NotesOnServer(place, routes));
		const read = await memory.read(witness);
		return 'failure' in read ? read : memory;
	}

	/** Bytes to keep free for what `around` gives: in each batch, and for each document. */
	get roomInBatch(): { once: number; each: number } | undefined {
		return this.works ? ROOM_IN_BATCH : undefined;
	}

	/** Whether what is stored can be remembered. */
	get isKept(): boolean {
		return this.works && !this.refusal && !this.troubles.overlapped;
	}

	/** Why nothing may be sent, as far as it is known by now. */
	get refusal(): Failure | undefined {
		return this.blocked ?? this.lease.lost;
	}

	/**
	 * Notes documents before they are changed in another way than by storing them whole.
	 *
	 * @returns why they must not be: the server did not take the note
	 */
	async expect(ids: string[]): Promise<Failure | undefined> {
		if (!this.works) return this.blocked;
		return await this.inTurn(async () => {
			const failure = await this.mayNotSend();
			return failure ?? (await this.journal.write(ids, this.runFacts));
		});
	}

	/**
	 * Notes documents in the request that stores them.
	 *
	 * @param contents by the ids of the documents
	 * @returns what goes around them; nothing where nothing is remembered; or why they must not be sent
	 */
	async around(
		contents: Map<string, string>,
	): Promise<Journaled | { failure: Failure } | undefined> {
		if (!this.works) return this.blocked && { failure: this.blocked };
		return await this.inTurn(async () => {
			const failure = await this.mayNotSend();
			if (failure) return { failure };
			if (this.names.isFull) await this.names.write();
			for (const id of contents.keys()) if (!this.known.knows(id)) this.added.add(id.toLowerCase());
			return await this.journal.around(contents, this.runFacts);
		});
	}

	private async mayNotSend(): Promise<Failure | undefined> {
		return this.blocked ?? (await this.lease.makeSure());
	}

	/** The server has accepted a document with this content. */
	stored(id: string, content: string, called: DocumentName = {}): void {
		const isNew = this.added.delete(id.toLowerCase());
		if (isNew || this.isUnnamed(id)) this.names.add(id, called);
		if (this.journal.isCertain(id, content)) this.known.record(id, content);
		else this.known.expect(id);
	}

	/** A document is as it was stored. */
	unchanged(id: string, called: DocumentName): void {
		if (this.isUnnamed(id)) this.names.add(id, called);
	}

	/** What some documents are called, as far as that is known; ids are in lower case. */
	async namesOf(ids: Iterable<string>): Promise<Map<string, DocumentName>> {
		return await this.names.of(ids, this.witness);
	}

	private isUnnamed(id: string): boolean {
		return this.unnamed === undefined || this.unnamed.has(keyOf(id));
	}

	/** The server has not taken a document; what an earlier run has stored of it may be there. */
	refused(id: string): void {
		if (this.added.delete(id.toLowerCase())) this.gone(id);
		else this.known.forget(id);
	}

	/** A document is not, or no longer, to be found; unless a request may still bring it. */
	gone(id: string): void {
		if (this.journal.mayCome(id)) this.known.expect(id);
		else this.known.drop(id);
	}

	/** Writes what has changed, unless the execution is stopped: then the journal has it. */
	async save(): Promise<void> {
		await this.inTurn(async () => await this.write());
	}

	/** The last of a run: writes what has changed, and lets the next one begin. */
	async close(): Promise<void> {
		await this.save();
		await this.lease.giveBack(!this.isWritten);
	}

	/** Whether the memory holds all that was noted. */
	private get isWritten(): boolean {
		return this.holdsEarlier && this.journal.isIncluded;
	}

	/** Whether no other run of the source has been at work since this one began; or why that is not known. */
	async standing(): Promise<{ alone: boolean } | { failure: Failure }> {
		const standing = await this.lease.standing();
		if ('alone' in standing && !standing.alone) this.troubles.overlapped = true;
		return this.troubles.overlapped ? { alone: false } : standing;
	}

	/**
	 * Makes sure that this run is the only one, or sees who works beside it, and reads. Only a server that does not
	 * have the route, by its own words, remembers nothing; any other failure may pass.
	 */
	private async begin({ evenIfRunning = false }: Beginning): Promise<void> {
		const begun = await (evenIfRunning ? this.lease.beginBeside() : this.lease.take());
		if ('holder' in begun) {
			this.holder = begun.holder;
			this.blocked = atWork(begun.holder);
			return;
		}
		if ('failure' in begun) {
			if (isRouteMissing(begun.failure)) return this.doWithout();
			this.blocked = begun.failure;
			// Where a note is not taken, what is unchanged can be told all the same; what is not given is not asked for again.
			if (begun.failure.method === 'GET') return;
		}
		const written = 'version' in begun ? this.notes.idOf(TURN) : undefined;
		const read = await this.read(written);
		if ('failure' in read) {
			this.blocked ??= read.failure;
			return;
		}
		const { turn, left } = read;
		// A server that takes notes and does not give them back.
		if (written !== undefined && typeof turn !== 'object') this.doWithout();
		this.journal.begin(left.free, 'version' in begun ? begun.version : 0);
		// What a crash has left is in the memory before another one may leave more.
		if (!left.isEmpty && !this.uncertain) await this.save();
	}

	private doWithout(): void {
		this.troubles.noRoute = true;
		this.works = false;
	}

	/** Reads the memory and, over it, what the journals hold beyond it. */
	private async read(
		witness?: string,
	): Promise<{ turn: ReadNote; left: LeftBehind } | { failure: Failure }> {
		const first = await this.notes.read([TURN, LEASE, MEMORY, ...FIRST_PAGES], witness);
		if ('failure' in first) return first;
		const [turn, lease, memory, ...pages] = first.notes;
		const before = this.lease.before ?? { turn, lease };
		const seen = turn === undefined ? memory && MEMORY : TURN;
		this.witness = seen && this.notes.idOf(seen);
		const root = typeof memory === 'object' ? memory : undefined;
		const included = root ?? {};
		const mayBeLost = mayHaveLeft(before);
		const journals = await readLanes(this.notes, pages, { included, witness, mayBeLost });
		if ('failure' in journals) return journals;
		const { lanes } = journals;
		const all = [turn, memory, ...lanes.flatMap(({ pages }) => pages)];
		if (all.includes('of a later version')) return { failure: LATER };
		if (typeof memory === 'string') this.troubles.flaw = memory;
		if (root) takeUp(root, this.known);
		this.isStale = root?.isOld === true;
		if (!this.isStale) this.known.changed = new Set();
		if (root?.pieces) {
			const read = await this.pieces.read(this.notes, root.pieces, { known: this.known, witness });
			if ('failure' in read) return read;
			if (read.lost > 0) this.troubles.lost = read.lost;
		}
		const left = new LeftBehind(lanes, included);
		this.left = left;
		this.holdsEarlier = left.isEmpty && left.damaged.length === 0;
		this.mark = root?.mark;
		this.uncertain = left.isUncertain;
		this.isStale ||= left.isOver || left.damaged.length > 0 || this.troubles.lost !== undefined;
		left.takeUp(this.known, memory);
		this.names.lies = root?.names ?? this.names.lies;
		if (root?.names) this.unnamed = new Set(this.known.changed);
		if (this.uncertain) this.known.forgetContents();
		return { turn, left };
	}

	private async write(): Promise<void> {
		const { known } = this;
		if (!this.isKept || this.signal?.aborted) return;
		if (known.changed.size === 0 && !this.isStale && !this.names.isDue) return;
		const standing = await this.standing();
		if ('failure' in standing) this.troubles.notWritten = standing.failure;
		else if (standing.alone) this.troubles.notWritten = await this.writeMemory();
		// That it is not alone, so that no content of it counts.
		else this.troubles.notWritten = await this.journal.write([], this.runFacts);
	}

	/** The pieces first: until the memory says that it includes the journals, these count. */
	private async writeMemory(): Promise<Failure | undefined> {
		const { known, names, notes, journal, left } = this;
		const { changed } = known;
		const plan = this.pieces.plan(known);
		const pieces = plan.done();
		const keys = pieces.isWhole ? [...known.keys()] : [];
		known.changed = new Set();
		const mark = randomUUID();
		const { includes, closed, unsettled } = left.included;
		if (names.isDue) await names.write();
		const facts = {
			mark,
			includes,
			closed: [...closed, ...journal.included.closed],
			unsettled: [...unsettled, ...journal.included.unsettled],
			pieces: pieces.sizes,
			names: names.lies,
		};
		const written =
			(await notes.writeMany(plan.notes, known)) ??
			(await notes.write({ note: MEMORY, facts, keys }, known));
		if ('failure' in written) {
			for (const key of changed) known.changed.add(key);
			return written.failure;
		}
		this.pieces = pieces;
		this.mark = mark;
		this.uncertain = false;
		this.isStale = false;
		this.holdsEarlier = true;
		journal.startOver();
		return await this.mend();
	}

	/** Pages that cannot be read would make all contents uncertain once more; the memory includes what they may have said. */
	private async mend(): Promise<Failure | undefined> {
		const { damaged } = this.left;
		if (damaged.length === 0) return undefined;
		const facts = { mark: `${this.journal.run}:0` };
		const rows = damaged.map((note) => ({ note, facts }));
		const mended = await this.notes.writeMany(rows, this.known);
		if (!mended) this.left.damaged.length = 0;
		return mended?.failure;
	}

	/** What a page of the journal says of this run. */
	private get runFacts() {
		const overlapped = this.uncertain || this.troubles.overlapped === true;
		return { after: this.mark, ...(overlapped && { overlapped }) };
	}

	private async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
		const done = this.lastWork.then(work, work);
		this.lastWork = done;
		return await done;
	}
}

/** Why a run may not begin. */
function atWork({ by, since }: Holder): Failure {
	return {
		kind: 'unsuccessful',
		reason: `Another run of this source is at work: ${by}, since ${since}`,
		path: '',
		method: 'GET',
	};
}

const LATER: Failure = {
	kind: 'unreadable',
	status: 200,
	reason:
		'what this source has stored was noted by a later version of this node, which has to be installed here as well',
	path: '',
	method: 'GET',
};
