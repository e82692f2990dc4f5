import { randomUUID } from 'crypto';

import { MINUTE_MS } from '../transport/clock';
import type { Clock } from '../transport/clock';
import type { Failure } from '../transport/failure';
import { isRouteMissing, isTooLarge } from '../transport/meaning';
import { Fingerprints } from './fingerprints';
import type { MemoryNote, NoteFlaw } from './memoryNote';
import { NotesOnServer } from './notesOnServer';
import type { MemoryPlace, MemoryRoutes, NoteName } from './notesOnServer';

/** How old the written memory may become while documents are stored. */
const WRITTEN_EVERY_MS = MINUTE_MS;

const JOURNALS: NoteName[] = ['journal 0', 'journal 1'];

const ALL_NOTES: NoteName[] = ['turn', 'memory', ...JOURNALS];

/** What of remembering did not go as it should. */
export interface MemoryTroubles {
	/** The server does not give back what was stored. */
	noRoute?: boolean;
	/** Why what earlier runs have stored does not count. */
	flaw?: NoteFlaw;
	/** Another run of the source was at work at the same time. */
	overlapped?: boolean;
	notWritten?: Failure;
	/** Why it is not known whether what was stored is still there. */
	notAsked?: Failure;
	/** Why it is not known what was stored before the source had its name. */
	notRecalled?: Failure;
}

/** What is remembered of a source, read and not taken over. */
export type Recalled = Pick<SourceMemory, 'known' | 'witness' | 'troubles'>;

/**
 * What earlier runs of a source have stored in a knowledgebase, kept in the knowledgebase itself. The memory
 * is written about once a minute and at the end. A journal is written before each batch, with the documents
 * that may be on the server since: whatever a crash leaves behind is known, and is sent again. A run that
 * finds another one to have begun since leaves the memory to it, and notes that no content is certain.
 */
export class SourceMemory {
	/** What the knowledgebase holds of the source, as far as it is known by now. */
	known = new Fingerprints();

	/** How many documents were known when the run began. */
	knownBefore = 0;

	readonly troubles: MemoryTroubles = {};

	/** A note that the server has given back: an answer that should list it and does not is none. */
	witness?: string;

	/** Whether anything is remembered at all. */
	private works = true;

	/** Why nothing may be sent: what is not remembered makes the memory wrong. */
	private blocked?: Failure;

	/** Documents that may be on the server otherwise than the written memory has them. */
	private journal = new Fingerprints();

	/** Whether no content in the written memory is certain. */
	private uncertain = false;

	/** Documents that no run has stored before this one. */
	private readonly added = new Set<string>();

	/** The marks of both journals: what they hold is in the memory when it is written next. */
	private readonly marks = ['', ''];

	private ownJournal = 0;

	/** Told from other runs by this. */
	private readonly run = randomUUID();

	private writtenAt: number;

	private writtenChanges = 0;

	/** Notes are written one after another. */
	private lastWork: Promise<unknown> = Promise.resolve();

	private constructor(
		private readonly notes: NotesOnServer,
		private readonly clock: Clock,
		private readonly signal?: AbortSignal,
	) {
		this.writtenAt = clock.now();
	}

	/**
	 * Reads what earlier runs have stored, and notes that this one has begun.
	 *
	 * @param options `fresh`: everything is to be sent again; what was stored is known all the same
	 */
	static async open(
		place: MemoryPlace,
		routes: MemoryRoutes,
		{ clock, signal, fresh = false }: { clock: Clock; signal?: AbortSignal; fresh?: boolean },
	): Promise<SourceMemory> {
		const memory = new SourceMemory(new NotesOnServer(place, routes), clock, signal);
		await memory.begin();
		if (fresh) memory.known.forgetContents();
		memory.knownBefore = memory.known.size;
		memory.writtenChanges = memory.known.changes;
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
		{ clock, witness }: { clock: Clock; witness?: string },
	): Promise<Recalled | { failure: Failure }> {
		const memory = new SourceMemory(new NotesOnServer(place, routes), clock);
		const kept = await memory.notes.read(ALL_NOTES, witness);
		if ('failure' in kept) return kept;
		memory.receive(kept.notes);
		return memory;
	}

	/** Whether what is stored can be remembered. */
	get isKept(): boolean {
		return this.works && !this.blocked && !this.troubles.overlapped;
	}

	/**
	 * Notes documents before they are sent or taken out of answers.
	 *
	 * @returns why they must not be: the server did not take the note
	 */
	async expect(ids: string[]): Promise<Failure | undefined> {
		return await this.inTurn(async () => {
			if (!this.works || this.blocked) return this.blocked;
			if (this.clock.now() - this.writtenAt >= WRITTEN_EVERY_MS) await this.write();
			for (const id of ids) {
				if (!this.known.knows(id)) this.added.add(id.toLowerCase());
				this.known.expect(id);
				this.journal.expect(id);
			}
			return await this.writeJournal();
		});
	}

	/** The server has accepted a document with this content. */
	stored(id: string, content: string): void {
		this.added.delete(id.toLowerCase());
		this.known.record(id, content);
	}

	/** The server has not taken a document; what an earlier run has stored of it may be there. */
	refused(id: string): void {
		if (!this.added.delete(id.toLowerCase())) return this.known.forget(id);
		this.known.drop(id);
		this.journal.drop(id);
	}

	/** Writes what has changed, unless the execution is stopped: then the journal has it. */
	async save(): Promise<void> {
		await this.inTurn(async () => await this.write());
	}

	/** Whether no other run of the source has begun since; or why that is not known. */
	async standing(): Promise<{ alone: boolean } | { failure: Failure }> {
		const turn = await this.notes.read(['turn'], this.notes.idOf('turn'));
		if ('failure' in turn) return turn;
		if (markOf(turn.notes[0]) !== this.run) this.troubles.overlapped = true;
		return { alone: !this.troubles.overlapped };
	}

	/**
	 * Says that this run has begun before it reads, so that of two runs one at least sees the other. Only a
	 * server that does not have the route, by its own words, remembers nothing; any other failure may pass.
	 */
	private async begin(): Promise<void> {
		const before = await this.notes.read(['turn']);
		if ('failure' in before) {
			if (isRouteMissing(before.failure)) this.doWithout();
			else this.blocked = before.failure;
			return;
		}
		const begun = await this.notes.write('turn', { mark: this.run, known: new Fingerprints() });
		// What is unchanged can be told all the same.
		if ('failure' in begun) this.blocked = begun.failure;
		// Two runs that begin one after the other, or at once, have different journals.
		else this.ownJournal = begun.version % JOURNALS.length;
		const written = 'version' in begun ? this.notes.idOf('turn') : undefined;
		const kept = await this.notes.read(ALL_NOTES, written);
		if ('failure' in kept) {
			this.blocked = kept.failure;
			return;
		}
		this.receive(kept.notes);
		// A server that takes notes and does not give them back.
		if (written !== undefined && this.witness === undefined) this.doWithout();
	}

	/** What all notes say. */
	private receive([turn, ...others]: Array<MemoryNote | NoteFlaw | undefined>): void {
		const seen = ALL_NOTES.find((_, index) => [turn, ...others][index] !== undefined);
		this.witness = seen && this.notes.idOf(seen);
		this.take(others);
	}

	private doWithout(): void {
		this.troubles.noRoute = true;
		this.works = false;
	}

	/** What is remembered, with what journals hold beyond it. */
	private take([memory, ...journals]: Array<MemoryNote | NoteFlaw | undefined>): void {
		if (typeof memory === 'string') this.troubles.flaw = memory;
		const kept = typeof memory === 'object' ? memory : undefined;
		this.known = kept?.known ?? this.known;
		journals.forEach((journal, index) => {
			const mark = markOf(journal) ?? '';
			this.marks[index] = mark;
			if (!journal || kept?.includes?.includes(mark)) return;
			if (typeof journal === 'string' || journal.overlapped) this.uncertain = true;
			if (typeof journal === 'object')
				for (const id of journal.known.ids()) this.journal.expect(id);
		});
		if (this.uncertain) this.known.forgetContents();
		for (const id of this.journal.ids()) this.known.expect(id);
	}

	private async write(): Promise<void> {
		const { known, clock } = this;
		if (!this.isKept || this.signal?.aborted || known.changes === this.writtenChanges) return;
		this.writtenAt = clock.now();
		const standing = await this.standing();
		const isAlone = 'alone' in standing && standing.alone;
		if (!isAlone) {
			this.troubles.notWritten =
				'failure' in standing ? standing.failure : await this.writeJournal();
			return;
		}
		const { changes } = known;
		const includes = this.marks.filter(Boolean);
		const written = await this.notes.write('memory', { mark: randomUUID(), includes, known });
		this.troubles.notWritten = 'failure' in written ? written.failure : undefined;
		if ('failure' in written) return;
		this.writtenChanges = changes;
		this.journal = new Fingerprints();
		this.uncertain = false;
	}

	/**
	 * What is in a journal that is too large for a proxy is written with the memory; where that does not go
	 * either, an empty journal makes all contents uncertain.
	 */
	private async writeJournal(): Promise<Failure | undefined> {
		const failure = await this.tryJournal();
		if (!failure || !isTooLarge(failure)) return failure;
		await this.write();
		if (this.journal.size === 0) return undefined;
		this.troubles.notWritten = failure;
		this.journal = new Fingerprints();
		this.uncertain = true;
		this.works = false;
		this.blocked = await this.tryJournal();
		return this.blocked;
	}

	private async tryJournal(): Promise<Failure | undefined> {
		const mark = randomUUID();
		const written = await this.notes.write(JOURNALS[this.ownJournal] ?? 'journal 0', {
			mark,
			overlapped: this.uncertain || this.troubles.overlapped === true,
			known: this.journal,
		});
		if ('failure' in written) return written.failure;
		this.marks[this.ownJournal] = mark;
		return undefined;
	}

	private async inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
		const done = this.lastWork.then(work, work);
		this.lastWork = done;
		return await done;
	}
}

function markOf(note: MemoryNote | NoteFlaw | undefined): string | undefined {
	return typeof note === 'object' ? note.mark : undefined;
}
