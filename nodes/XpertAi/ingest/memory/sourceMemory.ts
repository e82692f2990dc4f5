import { systemClock } from '../../transport/clock';
import type { Clock } from '../../transport/clock';
import type { Failure } from '../../transport/failure';
import { isRouteMissing } from '../../transport/meaning';
import { Fingerprints, keyOf } from './fingerprints';
import { Journal, ROOM_IN_BATCH } from './journal';
import type { Journaled } from './journal';
import { Lease, heldBy } from './lease';
import type { Holder } from './lease';
import { Names } from './names';
import type { DocumentName } from './names';
import { NotesFailed, NotesOnServer, isRead, orFailure } from './notes';
import type { MemoryPlace, MemoryRoutes } from './notes';
import { StoredMemory, noteByHand } from './storedMemory';
import type { LostMemory } from './storedMemory';

/** What went wrong with the memory. */
export interface MemoryTroubles {
	/** The server does not give back what was stored. */
	noRoute?: boolean;
	/** Notes were lost: documents that the source does not bring any more may still be found. */
	lost?: LostMemory;
	/** Why the memory was not written; the journal has what it would hold. */
	notWritten?: Failure;
	/** Why it is not known whether what was stored is still there. */
	notAsked?: Failure;
}

type Read =
	| 'known'
	| 'troubles'
	| 'isUncertain'
	| 'isDisabledByHand'
	| 'isNew'
	| 'lose'
	| 'namesOf';

/** What is remembered of a source, for a run that changes nothing. */
export type Recalled = Pick<SourceMemory, Read> & { witness?: string };

/*
 * The protocol. A note is a disabled document that holds a text; the server stores the rows of a request in order.
 * 1. One run at a time (lease.ts). Runs are numbered: one more than lease, root and pages show.
 * 2. Each batch has a page (journal.ts): the first row of its request, with the IDs of the documents, and the last row
 *    under the same ID, with their contents and `done`. So it says `done` exactly when its batch was carried out. Behind
 *    the first row goes how many pages there are; a page says which others may not have arrived. Any other one that
 *    is missing was deleted. A page whose request was not answered is written by itself before anything more is sent.
 * 3. Runs write their pages in two places by turns. A run that finds pages of a later run than the root's, which has
 *    crashed, writes the memory before it sends anything, and reads these pages once more at its end.
 * 4. The memory: pieces, cut by ID, and a root, written last, that says which run it holds.
 * 5. Names are added to when documents are first stored. A piece that cannot be read is rebuilt from them.
 * 6. What cannot be rebuilt is lost: the root says so until the user has taken note.
 * 7. `by hand`: what Disable and Enable have changed. The next run takes it in, and the root says that it has.
 */

/** How a run begins: what people know it by, whether it sends everything again, and whether the user knows what is lost. */
interface Beginning {
	signal?: AbortSignal;
	clock?: Clock;
	by?: string;
	fresh?: boolean;
	forgetLost?: boolean;
}

/** What earlier runs of a source have stored in a knowledgebase, kept there. Whatever a crash leaves behind is known. */
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
	/** Documents that no run has stored before this one. */
	private readonly added = new Set<string>();
	/** Notes are written one after another. */
	private lastWork: Promise<unknown> = Promise.resolve();

	private constructor(
		private readonly notes: NotesOnServer,
		private readonly beginning: Beginning = {},
	) {
		const { signal, clock = systemClock, by = '' } = beginning;
		this.journal = new Journal(notes);
		this.names = new Names(notes);
		this.memory = new StoredMemory(notes, this.known, this.names, clock);
		this.lease = new Lease(notes, clock, signal, by);
	}

	/** Reads what earlier runs have stored. With a `holder`, nothing may be sent; `close` has to follow in any case. */
	static async open(
		place: MemoryPlace,
		routes: MemoryRoutes,
		beginning?: Beginning,
	): Promise<SourceMemory> {
		const memory = new SourceMemory(new NotesOnServer(place, routes), beginning);
		const begun = await orFailure(async () => await memory.begin());
		if (begun) memory.blocked ??= begun.failure;
		if (beginning?.fresh) memory.known.forgetContents();
		memory.knownBefore = memory.known.size;
		return memory;
	}

	/** What a source has stored, for a run that changes nothing; nothing is noted. */
	static async recall(
		place: MemoryPlace,
		routes: MemoryRoutes,
	): Promise<Recalled | { failure: Failure }> {
		const memory = new SourceMemory(new NotesOnServer(place, routes));
		const read = await orFailure(async () => await memory.memory.read());
		memory.troubles.lost = memory.memory.lost;
		return typeof read === 'object' && 'failure' in read ? read : memory;
	}

	/** Notes, at any time, that documents are disabled or enabled by hand; returns why they must not be. */
	static async noteByHand(
		place: MemoryPlace,
		routes: MemoryRoutes,
		documents: { ids: string[]; disabled: boolean },
	): Promise<Failure | undefined> {
		const notes = new NotesOnServer(place, routes);
		return (await orFailure(async () => await noteByHand(notes, documents)))?.failure;
	}

	/** A note that is certainly on the server: an answer without it does not count. */
	get witness(): string | undefined {
		return this.notes.witness;
	}

	/** Whether no run has stored anything, as far as notes say: the source is new, or its notes are gone. */
	get isNew(): boolean {
		return this.memory.isNew;
	}

	/** Bytes to keep free in each batch, and for each document, for what `around` gives. */
	get roomInBatch(): { once: number; each: number } | undefined {
		return this.works ? ROOM_IN_BATCH : undefined;
	}

	/** Whether what is stored can be remembered. */
	get isKept(): boolean {
		return this.works && !this.refusal;
	}

	/** Why nothing may be sent, as far as it is known by now. */
	get refusal(): Failure | undefined {
		return this.blocked ?? this.lease.lost;
	}

	/** Whether a document is not to be counted as missing: it was changed by hand, or its memory was rebuilt. */
	isUncertain(id: string): boolean {
		return this.memory.uncertain.has(keyOf(id));
	}

	/** Whether somebody has disabled a document since the last run. */
	isDisabledByHand(id: string): boolean {
		return this.memory.uncertain.get(keyOf(id))?.disabled ?? false;
	}

	/** Makes sure, after a long silence, that no other run of the source has taken this one's place. */
	async check(): Promise<Failure | undefined> {
		return this.blocked ?? (await orFailure(async () => await this.lease.check()))?.failure;
	}

	/** Notes that documents of which no note is left may still be found though they are gone. */
	lose(): void {
		this.memory.lose();
		this.troubles.lost = this.memory.lost;
	}

	/** Notes documents before they are changed in another way than by storing them whole; returns why they must not be. */
	async expect(ids: string[]): Promise<Failure | undefined> {
		if (!this.works) return undefined;
		const noted = await this.inTurn(async () => {
			await this.prepare();
			for (const id of ids) this.known.expect(id);
			await this.journal.write(ids);
		});
		return noted?.failure;
	}

	/** What notes documents, by their IDs with their contents, in the request that stores them; or why they must not be sent. */
	async around(
		contents: Map<string, string>,
	): Promise<Journaled | { failure: Failure } | undefined> {
		if (!this.works) return undefined;
		return await this.inTurn(async () => {
			await this.prepare();
			if (this.names.isFull) await this.names.write();
			for (const id of contents.keys()) {
				const sets = this.known.knows(id) ? [] : [this.added, this.names.unnamed];
				for (const keys of sets) keys.add(keyOf(id));
				this.known.expect(id);
			}
			return await this.journal.around(contents);
		});
	}

	/** The server has accepted a document with this content. */
	stored(id: string, content: string, called: DocumentName = {}): void {
		this.added.delete(keyOf(id));
		this.names.note(id, called);
		if (this.journal.isCertain(id, content)) this.known.record(id, content);
	}

	/** A document is as it was stored. */
	unchanged(id: string, called: DocumentName): void {
		this.names.note(id, called);
	}

	/** What some documents are called, as far as that is known; IDs are in lower case. */
	async namesOf(ids: Iterable<string>): Promise<Map<string, DocumentName>> {
		return await this.names.of(ids);
	}

	/** The server has not taken a document; what an earlier run has stored of it may be there. */
	refused(id: string): void {
		if (this.added.delete(keyOf(id)) && !this.journal.mayCome(id)) this.known.drop(id);
	}

	/** The last of a run: writes what has changed, and lets the next one begin. */
	async close(): Promise<void> {
		const { beginning, lease, memory } = this;
		if (this.isKept && !beginning.signal?.aborted && memory.isDue) {
			const written = await this.inTurn(async () => {
				await lease.check();
				await memory.finish(lease.number);
				lease.said.root = memory.run;
			});
			this.troubles.notWritten = written?.failure;
		}
		await lease.giveBack();
	}

	/** Makes sure that this run is the only one, and reads. */
	private async begin(): Promise<void> {
		const { journal, lease, memory, notes } = this;
		const taken = await orFailure(async () => await lease.take());
		if (taken && 'failure' in taken) {
			if (isRouteMissing(taken.failure)) return this.doWithout();
			this.blocked = taken.failure;
			// Where a note is not taken, what is unchanged can be told all the same; what is not given is not asked for again.
			if (taken.failure.method === 'GET') return;
		} else if (taken) {
			this.holder = taken;
			throw new NotesFailed(heldBy(taken, 'is at work'));
		}
		const hasTurn = notes.witness !== undefined;
		const turn = await memory.read(lease.said, this.beginning.forgetLost);
		this.troubles.lost = memory.lost;
		// A server that takes notes and does not give them back.
		if (hasTurn && !isRead(turn)) this.doWithout();
		lease.follow({ root: memory.run, sent: memory.left.run }, memory.left.run);
		journal.run = lease.number;
	}

	private doWithout(): void {
		this.troubles.noRoute = true;
		this.works = false;
	}

	/** What a crash has left is in the memory before another one may leave more. */
	private async prepare(): Promise<void> {
		const { blocked, journal, lease, memory } = this;
		if (blocked) throw new NotesFailed(blocked);
		await lease.check();
		await memory.refresh(lease.number - 1);
		lease.said.root = memory.run;
		await lease.beginToSend(journal.beginning);
	}

	private async inTurn<Result>(
		work: () => Promise<Result>,
	): Promise<Result | { failure: Failure }> {
		const done = this.lastWork.then(async () => await orFailure(work));
		this.lastWork = done.catch(() => undefined);
		return await done;
	}
}
