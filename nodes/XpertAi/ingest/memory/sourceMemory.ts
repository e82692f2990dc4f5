import { systemClock } from '../../transport/clock';
import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { isRouteMissing } from '../../transport/meaning';
import { Fingerprints } from './fingerprints';
import { Journal, ROOM_IN_BATCH } from './journal';
import type { Journaled } from './journal';
import { Lease, TURN } from './lease';
import type { Holder, Looked } from './lease';
import { Names } from './names';
import type { DocumentName } from './names';
import { NotesOnServer } from './notesOnServer';
import type { MemoryPlace, MemoryRoutes } from './notesOnServer';
import { StoredMemory } from './storedMemory';
import type { MemoryLoss } from './storedMemory';

/** What of remembering did not go as it should. */
export interface MemoryTroubles extends MemoryLoss {
	/** The server does not give back what was stored. */
	noRoute?: boolean;
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
export type Recalled = Pick<SourceMemory, 'known' | 'troubles' | 'namesOf'> &
	Partial<Pick<SourceMemory, 'witness'>>;

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

	/** The run that is at work, where this one may not begin. */
	holder?: Holder;

	/** Whether anything is remembered at all. */
	private works = true;

	/** Why nothing may be sent: what is not remembered makes the memory wrong. */
	private blocked?: Failure;

	private readonly journal: Journal;

	private readonly lease: Lease;

	private readonly names: Names;

	private readonly memory: StoredMemory;

	private readonly signal?: AbortSignal;

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
		this.memory = new StoredMemory(notes, this.known, this.names);
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

	/** A note that the server has given back: an answer that should list it and does not is none. */
	get witness(): string | undefined {
		return this.memory.witness;
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
		if (!this.works) return undefined;
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
		if (!this.works) return undefined;
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
		if (isNew || this.memory.isUnnamed(id)) this.names.add(id, called);
		if (this.journal.isCertain(id, content)) this.known.record(id, content);
		else this.known.expect(id);
	}

	/** A document is as it was stored. */
	unchanged(id: string, called: DocumentName): void {
		if (this.memory.isUnnamed(id)) this.names.add(id, called);
	}

	/** What some documents are called, as far as that is known; ids are in lower case. */
	async namesOf(ids: Iterable<string>): Promise<Map<string, DocumentName>> {
		return await this.names.of(ids, this.witness);
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
		return this.memory.holdsEarlier && this.journal.isIncluded;
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
		const read = await this.read(written, this.lease.before);
		if ('failure' in read) {
			this.blocked ??= read.failure;
			return;
		}
		const { turn, left } = read;
		// A server that takes notes and does not give them back.
		if (written !== undefined && typeof turn !== 'object') this.doWithout();
		this.journal.begin(left.free, 'version' in begun ? begun.version : 0);
		// What a crash has left is in the memory before another one may leave more.
		if (!left.isEmpty && !this.memory.isUncertain) await this.save();
	}

	private doWithout(): void {
		this.troubles.noRoute = true;
		this.works = false;
	}

	private async read(witness?: string, before?: Looked) {
		const read = await this.memory.read(witness, before);
		if ('loss' in read) Object.assign(this.troubles, read.loss);
		return read;
	}

	private async write(): Promise<void> {
		const { known } = this;
		if (!this.isKept || this.signal?.aborted) return;
		if (known.changed.size === 0 && !this.memory.isStale && !this.names.isDue) return;
		const standing = await this.standing();
		if ('failure' in standing) this.troubles.notWritten = standing.failure;
		else if (standing.alone) this.troubles.notWritten = await this.memory.write(this.journal);
		// That it is not alone, so that no content of it counts.
		else this.troubles.notWritten = await this.journal.write([], this.runFacts);
	}

	/** What a page of the journal says of this run. */
	private get runFacts() {
		const overlapped = this.memory.isUncertain || this.troubles.overlapped === true;
		return { after: this.memory.mark, ...(overlapped && { overlapped }) };
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
