import chunk from 'lodash/chunk';
import range from 'lodash/range';
import sortBy from 'lodash/sortBy';

import { KNOWN_BYTES, UNKNOWN, packId, storedAs, unpack } from './fingerprints';
import type { Entry } from './fingerprints';
import { SIZES, isReadable } from './notes';
import type { NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

/** Runs alternate between two slots: a late write of a crashed run must not overwrite pages of the next run. */
export const SLOTS = 2;

/** A page is two notes, so that the loss of one is noticed: the IDs of the batch's documents, and their contents. */
const TITLES = { documents: 'what … is storing', end: 'how far … has come' };

const halfName = (run: number, at: number, half: keyof typeof TITLES): NoteName => [
	`journal ${run % SLOTS}.${at} ${half}`,
	`${TITLES[half]}, ${(run % SLOTS) + 1}.${at + 1}`,
];

const pageNames = (run: number, at: number) =>
	(['documents', 'end'] as const).map((half) => halfName(run, at, half));

/** The first page of each slot, which exists before all others. */
export const firstPages = () => range(SLOTS).flatMap((slot) => pageNames(slot, 0));

/** How the request of a batch ended: carried out, certainly not carried out, or unknown. */
export type BatchEnd = 'done' | 'nothing' | 'unclear';

/** Bytes that the journal may take in a batch: once, and for each document. */
export const ROOM_IN_BATCH = { once: 8 * 1024, each: 60 };

/** The journal rows that go around the documents in the request of a batch, as JSON, and their IDs. */
export interface JournaledBatch {
	rows: [before: string, behind: string];
	ids: string[];
	/** Must be called when the request has ended. `late`: an attempt of it may still be carried out. */
	onEnded: (end: BatchEnd, late: boolean) => void;
}

/** The journal of a run: a page for each batch, so that a crash leaves nothing unrecorded. */
export class Journal {
	run = 0;
	private count = 1;
	/** Pages whose requests are in flight. */
	private readonly open = new Set<number>();
	/** Pages that may not be on the server, with the keys of their documents. */
	private readonly unclear = new Map<number, string[]>();
	/** Contents that late requests may still write, by key; `UNKNOWN` where two of them differ. */
	private readonly lateContents = new Map<string, string>();

	constructor(private readonly notes: NotesOnServer) {}

	/** The page that must exist before all others. */
	get firstPage(): WrittenNote[] {
		return this.page(0, []);
	}

	/** Whether a late request may still store this document. */
	mayArriveLate(id: string): boolean {
		return this.lateContents.has(packId(id));
	}

	/** Whether a document keeps this content: no late request may overwrite it with another. */
	isCertain(id: string, content: string): boolean {
		return (this.lateContents.get(packId(id)) ?? storedAs(content)) === storedAs(content);
	}

	/** Writes a page of its own for documents, without their contents. */
	async writePage(ids: string[]): Promise<void> {
		this.unclear.set(this.count++, ids.map(packId));
		await this.writeUnclear();
	}

	/** Makes the rows that record documents within the request that stores them. @param contents contents by ID */
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
			onEnded: (end, late) => {
				this.open.delete(at);
				if (late)
					for (const [id, content] of contents)
						this.lateContents.set(
							packId(id),
							this.isCertain(id, content) ? storedAs(content) : UNKNOWN,
						);
				if (end === 'nothing' && at === this.count - 1) this.count -= 1;
				else if (end !== 'done') this.unclear.set(at, end === 'nothing' ? [] : keys);
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
		return { note: halfName(this.run, at, half), header: { run: this.run, page: { at, open } } };
	}
}

/** The journal of a crashed run, not yet merged: its number, its pages of two notes, and whether some are missing. */
export const emptyJournal = () => ({ run: 0, pages: [] as ReadNote[][], isDamaged: false });

/** Reads the journals of runs after the last one that the memory has merged. */
export async function readJournals(notes: NotesOnServer, after: number) {
	const journal = emptyJournal();
	for (const slot of range(SLOTS)) {
		const pages = await readPages(notes, slot, after);
		journal.isDamaged ||= pages.some(isDamaged);
		journal.pages.push(...pages);
	}
	journal.pages = sortBy(journal.pages, runOf);
	journal.run = runOf(journal.pages.at(-1) ?? []);
	return journal;
}

const runOf = (page: ReadNote[]) => page.find(isReadable)?.run ?? 0;

/** Reads the pages in the slot of a run, without those of runs that are already merged. */
async function readPages(notes: NotesOnServer, run: number, after: number) {
	const pages: ReadNote[][] = [];
	for (let at = 0, isMore = true; isMore; at += SIZES.pages) {
		const names = range(at, at + SIZES.pages).flatMap((page) => pageNames(run, page));
		// If one note of a page is of an older run, the request of the other stored no document.
		const isOlder = (note: ReadNote) => isReadable(note) && !isLater(after, note);
		const read = chunk(await notes.read(names), 2);
		pages.push(...read.map((page) => (page.some(isOlder) ? [] : page)));
		isMore = pages.slice(at).some((page) => page.some((note) => note !== undefined));
	}
	return pages;
}

/** Whether a note was written by a run that is not merged into the memory. */
export const isLater = (after: number, note: ReadNote) => isReadable(note) && note.run > after;

/** Whether the documents of a page are lost. A page without any note may never have arrived: later pages say so. */
function isDamaged([documents, end]: ReadNote[], at: number, pages: ReadNote[][]): boolean {
	const behind = pages.slice(at + 1).flat();
	const isMissed = (note: ReadNote) => isReadable(note) && !note.page?.open.includes(at);
	// The first page has no documents.
	return at > 0 && !isReadable(documents) && (end !== undefined || behind.some(isMissed));
}

/** The entries in pages. Contents are known only for batches that were carried out. */
export function* entriesIn(pages: ReadNote[][]): Generator<Entry> {
	for (const [documents, end] of pages) {
		const contents = isReadable(end) ? end.body.toString('latin1') : '';
		const keys = isReadable(documents) ? [...unpack(documents.body)] : [];
		for (const [at, [key]] of keys.entries())
			yield [key, contents.slice(at * KNOWN_BYTES, (at + 1) * KNOWN_BYTES) || UNKNOWN];
	}
}

/** The entries in pages of a crashed run that arrived after its journal was read. */
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
