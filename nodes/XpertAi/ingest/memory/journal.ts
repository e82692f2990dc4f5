import { randomUUID } from 'crypto';

import without from 'lodash/without';

import type { Failure } from '../../transport/failure';
import { keyOf } from './fingerprints';
import type { Fingerprints } from './fingerprints';
import type { NoteFacts } from './note';
import type { NoteName, NotesOnServer, WrittenNote } from './notesOnServer';
import { SIZES } from './sizes';

/** So many runs may leave a journal each that the memory does not hold yet. */
export const LANES = 8;

/** So many notes say what of a run was carried out, in turn: more than there are batches on their way at once. */
export const DONE_NOTES = 24;

/** So many requests of a run that were not carried out are told apart from those that were. */
const MOST_OPEN = 100;

/** Bytes that a page and what stands behind the documents may take in a batch: in each, and for each document. */
export const ROOM_IN_BATCH = { once: 8 * 1024, each: 30 };

/** A page of the journal of a lane; both count from 0. */
export const pageOf = (lane: number, page: number): NoteName => ({
	name: page === 0 ? `journal ${lane}` : `journal ${lane}.${page}`,
	title: `n8n: what … is storing, ${lane + 1}.${page + 1}`,
});

/** What says which batches of the run in a lane were carried out. */
export const doneOf = (lane: number, at: number): NoteName => ({
	name: `journal ${lane} done ${at}`,
	title: `n8n: what … has sent, ${lane + 1}.${at + 1}`,
});

/** A page that a run writes. */
interface Page {
	at: number;
	/** The keys of its documents. */
	keys: Set<string>;
	/** Whether the server certainly has it. */
	isThere: boolean;
}

/** How the request of a batch ended: it was carried out, certainly nothing of it was, or that is not known. */
export type BatchEnd = 'done' | 'nothing' | 'unclear';

/** What goes around the documents of a batch, in the same request. */
export interface Journaled {
	/** The rows before and behind the documents, as JSON. */
	rows: string[];
	/** The ids of these rows. */
	ids: string[];
	/**
	 * To be told how the request ended.
	 *
	 * @param late whether a try of it that nobody waits for any more may still be carried out
	 */
	ended: (end: BatchEnd, late: boolean) => void;
}

/** What a page says of the run. */
type RunFacts = Pick<NoteFacts, 'after' | 'overlapped'>;

/** What a run notes while it is at work, in pages of a lane: whatever a crash leaves behind is known. */
export class Journal {
	/** Told from other runs by this. */
	readonly run = randomUUID();

	private lane = 0;

	/** How many pages there are. */
	private count = 0;

	/** Pages with room for more documents. */
	private roomy: Page[] = [];

	/** Pages that are to be written by themselves: too many that are missing would hide those behind them. */
	private missing: Page[] = [];

	/** The numbers of pages that are not certainly on the server; such as are taken anew are noted anew. */
	private readonly absent = new Set<number>();

	/** While the first page is on its way, which leads to all others. */
	private opening?: Promise<void>;

	private writings = 0;

	/** Writings of pages whose batches are not known to be carried out. */
	private readonly open = new Set<number>();

	/** What documents were sent with in requests that may still be carried out, by key; '' where that were several. */
	private readonly late = new Map<string, string>();

	constructor(
		private readonly notes: NotesOnServer,
		private readonly known: Fingerprints,
	) {}

	/**
	 * Chooses the lane: runs that begin one after the other, or at once, have different ones.
	 *
	 * @param free the lanes in which it may write
	 * @param version tells this run from others that chose from the same lanes
	 */
	begin(free: number[], version: number): void {
		this.lane = free[version % free.length] ?? version % LANES;
		// Where no lane is free, what was left in this one is noted once more.
		if (free.length === 0) this.missing.push(this.newPage(this.known.changed));
	}

	/** What of it the memory holds as soon as it is written. */
	get included(): Required<Pick<NoteFacts, 'closed' | 'unsettled'>> {
		const { run, writings } = this;
		return { closed: [[run, writings]], unsettled: this.late.size > 0 ? [run] : [] };
	}

	/** Whether it holds nothing but what the memory holds as well. */
	get isIncluded(): boolean {
		return this.count === 0;
	}

	/** Whether a request may still be carried out that brings a document. */
	mayCome(id: string): boolean {
		return this.late.has(keyOf(id));
	}

	/** Whether a document keeps what it is sent with: no request that may still be carried out brings it otherwise. */
	isCertain(id: string, content: string): boolean {
		return (this.late.get(keyOf(id)) ?? content) === content;
	}

	/** Notes documents by themselves, with nothing of their contents. */
	async write(ids: string[], facts: RunFacts): Promise<Failure | undefined> {
		const failure = await this.writeMissing(facts);
		if (failure) return failure;
		const page = this.pageFor(ids.map(keyOf));
		for (const id of ids) this.known.expect(id);
		this.missing.push(page);
		const notWritten = await this.writeMissing(facts);
		if (!notWritten) this.keep(page);
		return notWritten;
	}

	/**
	 * Notes documents in a page that goes before them in their request, with what they are sent with. Behind them goes
	 * that the request was carried out. Each says what stays true, however late it arrives.
	 *
	 * @param contents by the ids of the documents
	 */
	async around(
		contents: Map<string, string>,
		facts: RunFacts,
	): Promise<Journaled | { failure: Failure }> {
		const failure = await this.writeMissing(facts);
		if (failure) return { failure };
		const { known, notes } = this;
		const keys = [...contents.keys()].map(keyOf);
		const page = this.pageFor(keys);
		for (const [id, content] of contents)
			known.expect(id, this.isCertain(id, content) ? content : undefined);
		const { writing, notes: pageAndDone } = this.nextWriting(page, facts, keys);
		this.open.add(writing);
		const rows = pageAndDone.map((row) => notes.row(row, known));
		let opened: (() => void) | undefined;
		if (!page.isThere && page.at === 0)
			this.opening = new Promise<void>((resolve) => (opened = resolve));
		return {
			rows: rows.map((row) => JSON.stringify(row)),
			ids: rows.map(({ id }) => id),
			ended: (end, late) => {
				if (late) this.addLate(contents);
				if (end === 'done') this.open.delete(writing);
				this.end(page, keys, end, late);
				opened?.();
			},
		};
	}

	/** Begins anew, as the memory holds what was noted so far. */
	startOver(): void {
		this.count = 0;
		this.roomy = [];
		this.missing = [];
	}

	private end(page: Page, keys: string[], end: BatchEnd, late: boolean): void {
		if (end === 'done') this.arrived(page);
		if (end === 'nothing') for (const key of keys) page.keys.delete(key);
		const isUnused = end === 'nothing' && !late && !page.isThere && page.at === this.count - 1;
		if (isUnused) this.count -= 1;
		else if (!page.isThere) this.missing.push(page);
		// A row that comes late may take back what is added to a page.
		else if (!late) this.keep(page);
	}

	private addLate(contents: Map<string, string>): void {
		for (const [id, content] of contents)
			this.late.set(keyOf(id), this.isCertain(id, content) ? content : '');
	}

	/**
	 * A page as it is now, and what follows it: which requests were carried out and which pages are there, this one with them.
	 *
	 * @param sent the keys of the documents between the two
	 */
	private nextWriting(
		page: Page,
		facts: RunFacts,
		sent?: string[],
	): { writing: number; notes: WrittenNote[] } {
		const { lane, run } = this;
		const writing = ++this.writings;
		const mark = `${run}:${writing}`;
		const but = [...this.open].slice(-MOST_OPEN);
		const from = this.open.size > MOST_OPEN ? (but[0] ?? 0) : 0;
		const done = { from, to: writing, but };
		const pages = { to: this.count, but: without([...this.absent], page.at) };
		return {
			writing,
			notes: [
				{
					note: pageOf(lane, page.at),
					facts: { mark, ...facts },
					keys: page.keys,
					sent: new Set(sent),
				},
				{ note: doneOf(lane, writing % DONE_NOTES), facts: { mark, done, pages } },
			],
		};
	}

	private async writeMissing(facts: RunFacts): Promise<Failure | undefined> {
		await this.opening;
		for (let page = this.missing[0]; page; page = this.missing[0]) {
			const { notes } = this.nextWriting(page, facts);
			const notWritten = await this.notes.writeMany(notes, this.known);
			if (notWritten) return notWritten.failure;
			this.arrived(page);
			this.missing.shift();
		}
		return undefined;
	}

	/** A page for some documents. What this run has noted before comes into a new one: the last page counts. */
	private pageFor(keys: string[]): Page {
		const isNoted = keys.some((key) => this.known.changed.has(key));
		const page = (isNoted ? undefined : this.roomy.pop()) ?? this.newPage();
		for (const key of keys) page.keys.add(key);
		return page;
	}

	private newPage(keys: Iterable<string> = []): Page {
		this.absent.add(this.count);
		return { at: this.count++, keys: new Set(keys), isThere: false };
	}

	private arrived(page: Page): void {
		page.isThere = true;
		this.absent.delete(page.at);
	}

	private keep(page: Page): void {
		if (this.known.bytes(page.keys) < SIZES.page) this.roomy.push(page);
	}
}
