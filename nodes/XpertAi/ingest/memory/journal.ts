import chunk from 'lodash/chunk';
import range from 'lodash/range';
import sortBy from 'lodash/sortBy';

import { KNOWN_BYTES, UNKNOWN, packId, storedAs, unpack } from './fingerprints';
import type { Entry } from './fingerprints';
import { SIZES, isReadable } from './notes';
import type { NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

/** Runs write in two places by turns, so that a late row of a crashed run does not overwrite the next run's pages. */
export const SLOTS = 2;

/** A page is two notes, so that one that is gone is missed: which documents its batch has, and what they were sent with. */
const TITLES = { documents: 'what … is storing', end: 'how far … has come' };

const halfName = (run: number, at: number, half: keyof typeof TITLES): NoteName => [
	`journal ${run % SLOTS}.${at} ${half}`,
	`${TITLES[half]}, ${(run % SLOTS) + 1}.${at + 1}`,
];

const pageNames = (run: number, at: number) =>
	(['documents', 'end'] as const).map((half) => halfName(run, at, half));

/** The first page of each place, which is there before all others. */
export const firstPages = () => range(SLOTS).flatMap((place) => pageNames(place, 0));

/** How the request of a batch ended: it was carried out, certainly nothing of it was, or that is not known. */
export type BatchEnd = 'done' | 'nothing' | 'unclear';

/** Bytes that the notes of a batch may take: in each, and for each document. */
export const ROOM_IN_BATCH = { once: 8 * 1024, each: 60 };

/** The rows that go around the documents of a batch in the same request, as JSON, and their IDs. */
export interface JournaledBatch {
	rows: [before: string, behind: string];
	ids: string[];
	/** To be told how the request ended, and whether a try of it may still be carried out. */
	onEnded: (end: BatchEnd, late: boolean) => void;
}

/** What a run notes while it is at work, a page for each batch, so that a crash leaves nothing unknown. */
export class Journal {
	/** The number of the run. */
	run = 0;
	private count = 1;
	/** Pages on their way. */
	private readonly open = new Set<number>();
	/** Pages that may not have arrived, with their keys. */
	private readonly unclear = new Map<number, string[]>();
	/** What requests that may still be carried out bring, by key; nothing where two of them differ. */
	private readonly lateContents = new Map<string, string>();

	constructor(private readonly notes: NotesOnServer) {}

	/** The page that has to be there before all others. */
	get firstPage(): WrittenNote[] {
		return this.page(0, []);
	}

	/** Whether a request may still be carried out that brings a document. */
	mayArriveLate(id: string): boolean {
		return this.lateContents.has(packId(id));
	}

	/** Whether a document keeps what it is sent with: no request that may still be carried out brings it otherwise. */
	isCertain(id: string, content: string): boolean {
		return (this.lateContents.get(packId(id)) ?? storedAs(content)) === storedAs(content);
	}

	/** Notes documents in a page of its own, with nothing of their contents. */
	async writePage(ids: string[]): Promise<void> {
		this.unclear.set(this.count++, ids.map(packId));
		await this.writeUnclear();
	}

	/** Notes documents in the request that stores them, with their contents by their IDs. */
	async rowsFor(contents: Map<string, string>): Promise<JournaledBatch> {
		await this.writeUnclear();
		const at = this.count++;
		this.open.add(at);
		const entries = [...contents].map(([id, content]): Entry => [packId(id), storedAs(content)]);
		const keys = entries.map(([key]) => key);
		const isCertain = [...contents].every(([id, content]) => this.isCertain(id, content));
		const body = Buffer.from(entries.map(([, known]) => known).join(''), 'latin1');
		const endNote = { ...this.half(at, 'end'), ...(isCertain && { body }) };
		const rows = [...this.page(at, keys), endNote].map((note) => this.notes.row(note));
		const [before, endPlaceholder, behind = ''] = rows.map((row) => JSON.stringify(row));
		return {
			rows: [`${before},${endPlaceholder}`, behind],
			ids: rows.map(({ id }) => id),
			onEnded: (how, late) => {
				this.open.delete(at);
				if (late)
					for (const [id, content] of contents)
						this.lateContents.set(packId(id), this.isCertain(id, content) ? storedAs(content) : UNKNOWN);
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

	/** A page whose batch is not carried out yet. */
	private page(at: number, keys: string[]): WrittenNote[] {
		const entries = keys.map((key): Entry => [key, UNKNOWN]);
		return [{ ...this.half(at, 'documents'), entries }, this.half(at, 'end')];
	}

	private half(at: number, half: keyof typeof TITLES): WrittenNote {
		const open = [...this.open, ...this.unclear.keys()];
		return {
			note: halfName(this.run, at, half),
			header: { run: this.run, page: { at, open } },
		};
	}
}

/** The journal that a crashed run has left: its number, its pages, both notes of each, and whether some are gone. */
export const emptyJournal = () => ({ run: 0, pages: [] as ReadNote[][], isDamaged: false });

/** Reads what runs have left after the last one that the memory holds. */
export async function readJournals(notes: NotesOnServer, after: number) {
	const journal = emptyJournal();
	for (const place of range(SLOTS)) {
		const pages = await readPages(notes, place, after);
		journal.isDamaged ||= pages.some(isDamaged);
		journal.pages.push(...pages);
	}
	journal.pages = sortBy(journal.pages, runOf);
	journal.run = runOf(journal.pages.at(-1) ?? []);
	return journal;
}

const runOf = (page: ReadNote[]) => page.find(isReadable)?.run ?? 0;

/** Reads the pages in the place of a run, without those of runs that the memory holds. */
async function readPages(notes: NotesOnServer, run: number, after: number) {
	const pages: ReadNote[][] = [];
	for (let at = 0, isMore = true; isMore; at += SIZES.pages) {
		const names = range(at, at + SIZES.pages).flatMap((page) => pageNames(run, page));
		// Where a half is of an earlier run, the request of the other one has stored no document.
		const isOlder = (note: ReadNote) => isReadable(note) && !isLater(after, note);
		const read = chunk(await notes.read(names), 2);
		pages.push(...read.map((page) => (page.some(isOlder) ? [] : page)));
		isMore = pages.slice(at).some((page) => page.some((note) => note !== undefined));
	}
	return pages;
}

/** Whether a note was written by a run that is not in the memory. */
export const isLater = (after: number, note: ReadNote) => isReadable(note) && note.run > after;

/** Whether documents of a page are not known any more. One of which nothing is there may not have arrived: later ones say so. */
function isDamaged([documents, end]: ReadNote[], at: number, pages: ReadNote[][]): boolean {
	const behind = pages.slice(at + 1).flat();
	const isMissed = (note: ReadNote) => isReadable(note) && !note.page?.open.includes(at);
	// The first page has none.
	return at > 0 && !isReadable(documents) && (end !== undefined || behind.some(isMissed));
}

/** What pages say of documents; only a batch that was carried out gives certain contents. */
export function* entriesIn(pages: ReadNote[][]): Generator<Entry> {
	for (const [documents, end] of pages) {
		const contents = isReadable(end) ? end.body.toString('latin1') : '';
		const keys = isReadable(documents) ? [...unpack(documents.body)] : [];
		for (const [at, [key]] of keys.entries())
			yield [key, contents.slice(at * KNOWN_BYTES, (at + 1) * KNOWN_BYTES) || UNKNOWN];
	}
}

/** What has come late of a crashed run's pages, after they were read. */
export async function lateEntries(
	notes: NotesOnServer,
	{ run, pages }: ReturnType<typeof emptyJournal>,
): Promise<Entry[]> {
	const version = (page: ReadNote[]) =>
		JSON.stringify(page.map((note) => isReadable(note) && [note.run, note.page, note.body.length]));
	const known = new Set(pages.map(version));
	const now = run > 0 ? await readPages(notes, run, run - 1) : [];
	return [...entriesIn(now.filter((page) => !known.has(version(page))))];
}
