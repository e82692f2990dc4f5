import chunk from 'lodash/chunk';
import range from 'lodash/range';

import { UNKNOWN, keyOf, storedAs, unpack } from './fingerprints';
import type { Entry } from './fingerprints';
import { SIZES, isRead } from './notes';
import type { MemoryNote, NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

/** Bytes that the notes of a batch may take: in each, and for each document. */
export const ROOM_IN_BATCH = { once: 8 * 1024, each: 60 };

/** Runs write in two places by turns, so that a late row of a crashed run does not overwrite the next run's pages. */
export const PLACES = 2;

const pageName = (run: number, at: number): NoteName => ({
	name: `journal ${run % PLACES}.${at}`,
	title: `what … is storing, ${(run % PLACES) + 1}.${at + 1}`,
});

const endName = (run: number, at: number): NoteName => ({
	name: `journal ${run % PLACES} end ${at % SIZES.ends}`,
	title: `how far … has come, ${(run % PLACES) + 1}.${(at % SIZES.ends) + 1}`,
});

/** The notes that say how many pages there are, of both places. */
export const endNames = () =>
	range(PLACES).flatMap((place) => range(SIZES.ends).map((at) => endName(place, at)));

/** How the request of a batch ended: it was carried out, certainly nothing of it was, or that is not known. */
export type BatchEnd = 'done' | 'nothing' | 'unclear';

/** The rows that go around the documents of a batch in the same request, as JSON, and their IDs. */
export interface Journaled {
	rows: [before: string, behind: string];
	ids: string[];
	/** To be told how the request ended, and whether a try of it may still be carried out. */
	ended: (end: BatchEnd, late?: boolean) => void;
}

/** What a run notes while it is at work, a page for each batch, so that a crash leaves nothing unknown. */
export class Journal {
	/** The number of the run. */
	run = 0;

	private count = 0;
	/** Pages on their way. */
	private readonly open = new Set<number>();
	/** Pages that may not have arrived, with their keys. */
	private readonly unclear = new Map<number, string[]>();
	/** What requests that may still be carried out bring, by key; nothing where two of them differ. */
	private readonly late = new Map<string, string>();

	constructor(private readonly notes: NotesOnServer) {}

	/** The note that has to be there before the first page. */
	get beginning(): WrittenNote {
		return { note: endName(this.run, 0), facts: { run: this.run, pages: 0 } };
	}

	/** Whether a request may still be carried out that brings a document. */
	mayCome(id: string): boolean {
		return this.late.has(keyOf(id));
	}

	/** Whether a document keeps what it is sent with: no request that may still be carried out brings it otherwise. */
	isCertain(id: string, content: string): boolean {
		return (this.late.get(keyOf(id)) ?? storedAs(content)) === storedAs(content);
	}

	/** Notes documents in a page of its own, with nothing of their contents. */
	async write(ids: string[]): Promise<void> {
		this.unclear.set(this.count++, ids.map(keyOf));
		await this.writeUnclear();
	}

	/** Notes documents in the request that stores them, with their contents by their IDs. */
	async around(contents: Map<string, string>): Promise<Journaled> {
		await this.writeUnclear();
		const at = this.count++;
		this.open.add(at);
		const sent = [...contents].map(([id, content]): Entry => [keyOf(id), storedAs(content)]);
		const keys = sent.map(([key]) => key);
		const isCertain = [...contents].every(([id, content]) => this.isCertain(id, content));
		const notes = [...this.page(at, keys), { ...this.note(at, isCertain), entries: sent }];
		const rows = notes.map((note) => this.notes.row(note));
		const [page, end, behind = ''] = rows.map((row) => JSON.stringify(row));
		return {
			rows: [`${page},${end}`, behind],
			ids: rows.map(({ id }) => id),
			ended: (how, late = how === 'unclear') => {
				this.open.delete(at);
				if (late)
					for (const [id, content] of contents)
						this.late.set(keyOf(id), this.isCertain(id, content) ? storedAs(content) : UNKNOWN);
				if (how === 'nothing' && at === this.count - 1) this.count -= 1;
				else if (how !== 'done') this.unclear.set(at, how === 'nothing' ? [] : keys);
			},
		};
	}

	private async writeUnclear(): Promise<void> {
		const pages = [...this.unclear];
		if (pages.length === 0) return;
		await this.notes.write(...pages.flatMap(([at, keys]) => this.page(at, keys)));
		for (const [at] of pages) this.unclear.delete(at);
	}

	/** A page whose batch is not carried out yet, and how many there are with it. */
	private page(at: number, keys: string[]): WrittenNote[] {
		return [
			{ ...this.note(at, false), entries: keys.map((key): Entry => [key, UNKNOWN]) },
			{ note: endName(this.run, at), facts: { run: this.run, pages: at + 1 } },
		];
	}

	private note(at: number, done: boolean): WrittenNote {
		const open = [...this.open, ...this.unclear.keys()];
		return { note: pageName(this.run, at), facts: { run: this.run, page: { at, done, open } } };
	}
}

/** The journal that a crashed run has left: its number, or 0, its pages, and whether some are gone. */
export interface LeftJournal {
	run: number;
	pages: MemoryNote[];
	isDamaged: boolean;
}

/** Reads what runs have left after the last one that the memory holds, with the notes that say how many pages there are. */
export async function readJournals(
	notes: NotesOnServer,
	after: number,
	allEnds: ReadNote[],
): Promise<LeftJournal> {
	const left: LeftJournal = { run: 0, pages: [], isDamaged: false };
	for (const [place, part] of chunk(allEnds, SIZES.ends).entries()) {
		const ends = laterOf(part, after);
		const pages = await readPages(notes, place, after, countOf(ends));
		left.pages.push(...pages.filter(isRead));
		left.isDamaged ||= isDamaged(pages, ends);
		left.run = Math.max(left.run, latestRun([...pages, ...ends]));
	}
	left.pages.sort((one, other) => (one.run ?? 0) - (other.run ?? 0));
	return left;
}

/** Reads the pages in the place of a run, at least so many. */
export async function readPages(
	notes: NotesOnServer,
	run: number,
	after: number,
	count = 0,
): Promise<ReadNote[]> {
	const pages: ReadNote[] = [];
	for (let isMore = true; isMore; ) {
		const next = range(pages.length, pages.length + SIZES.pages);
		const later = laterOf(await notes.read(next.map((at) => pageName(run, at))), after);
		pages.push(...later);
		isMore = later.some((note) => note !== undefined) || pages.length < count;
	}
	return pages;
}

/** Leaves out notes of runs that are in the memory. */
export const laterOf = (notes: ReadNote[], after: number) =>
	notes.map((note) => (isRead(note) && (note.run ?? 0) <= after ? undefined : note));

/** The last run that has written some notes, or 0. */
export const latestRun = (notes: ReadNote[]) =>
	Math.max(0, ...notes.filter(isRead).map(({ run = 0 }) => run));

const countOf = (ends: ReadNote[]) =>
	Math.max(0, ...ends.filter(isRead).map(({ pages = 0 }) => pages));

/**
 * Whether pages are gone. One that is missing was never there if its end is not there either, and all later ones say that
 * it may not have arrived; one behind all ends that cannot be read is of an earlier run.
 */
function isDamaged(pages: ReadNote[], ends: ReadNote[]): boolean {
	const count = countOf(ends);
	const isEndKnown = ends.slice(0, count || 1).every(isRead);
	return range(Math.max(count, pages.length)).some((at) => {
		if (pages[at] !== undefined) return !isRead(pages[at]) && !(isEndKnown && at >= count);
		const end = ends[at % SIZES.ends];
		const behind = pages.slice(at + 1).filter(isRead);
		const wasThere = isRead(end) && end.pages === at + 1;
		return wasThere || behind.some(({ page }) => !page?.open.includes(at));
	});
}

/** What pages say of documents; only a batch that was carried out gives certain contents. */
export function* entriesIn(pages: MemoryNote[]): Generator<Entry> {
	for (const note of pages)
		for (const [key, content] of unpack(note)) yield [key, note.page?.done ? content : UNKNOWN];
}
