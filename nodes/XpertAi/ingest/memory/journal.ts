import chunk from 'lodash/chunk';
import range from 'lodash/range';
import sortBy from 'lodash/sortBy';

import { FINGERPRINT_BYTES, UNKNOWN, packId, unpack, type Entry } from './fingerprints';
import { SIZES, isReadable } from './notes';
import type { NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

/** Runs alternate between two slots: a late write of a crashed run must not overwrite pages of the next run. */
export const SLOTS = 2;

/** A page is two notes, so that the loss of one is noticed: the IDs of the batch's documents, and their contents. */
function pageNames(run: number, at: number): [documents: NoteName, end: NoteName] {
	const slot = run % SLOTS;
	const place = `${slot + 1}.${at + 1}`;
	return [
		[`journal ${slot}.${at} documents`, `what … is storing, ${place}`],
		[`journal ${slot}.${at} end`, `how far … has come, ${place}`],
	];
}

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
	private pageCount = 1;
	/** Pages whose requests are in flight. */
	private readonly open = new Set<number>();
	/** Pages that may not be on the server, with the packed IDs of their documents. */
	private readonly unclear = new Map<number, string[]>();
	/** Fingerprints that late requests may still write, by packed ID; `UNKNOWN` where two of them differ. */
	private readonly lateFingerprints = new Map<string, string>();

	constructor(private readonly notes: NotesOnServer) {}

	/** Whether a late request may still store this document. */
	mayArriveLate(id: string): boolean {
		return this.lateFingerprints.has(packId(id));
	}

	/** Whether a document keeps this content: no late request may overwrite it with another. */
	isCertain([packedId, fingerprint]: Entry): boolean {
		return (this.lateFingerprints.get(packedId) ?? fingerprint) === fingerprint;
	}

	/** Writes a page of its own for documents, without their contents. */
	async writePage(ids: string[]): Promise<void> {
		this.unclear.set(this.pageCount++, ids.map(packId));
		await this.writeUnclear();
	}

	/** Makes the rows that record documents within the request that stores them. */
	async rowsFor(entries: Entry[]): Promise<JournaledBatch> {
		await this.writeUnclear();
		const at = this.pageCount++;
		this.open.add(at);
		const packedIds = entries.map(([packedId]) => packedId);
		const isCertain = entries.every((entry) => this.isCertain(entry));
		const body = Buffer.from(entries.map(([, fingerprint]) => fingerprint).join(''), 'latin1');
		const [documents, end] = this.page(at, packedIds);
		const notes = [documents, end, { ...end, ...(isCertain && { body }) }];
		const rows = notes.map((note) => this.notes.row(note));
		const [before, endPlaceholder, behind = ''] = rows.map((row) => JSON.stringify(row));
		return {
			rows: [`${before},${endPlaceholder}`, behind],
			ids: rows.map(({ id }) => id),
			onEnded: (end, late) => {
				this.open.delete(at);
				for (const entry of late ? entries : []) {
					const [packedId, fingerprint] = entry;
					this.lateFingerprints.set(packedId, this.isCertain(entry) ? fingerprint : UNKNOWN);
				}
				if (end === 'nothing' && at === this.pageCount - 1) this.pageCount -= 1;
				else if (end !== 'done') this.unclear.set(at, end === 'nothing' ? [] : packedIds);
			},
		};
	}

	private async writeUnclear(): Promise<void> {
		const pages = [...this.unclear];
		if (pages.length === 0) return;
		await this.notes.write(...pages.flatMap(([at, packedIds]) => this.page(at, packedIds)));
		for (const [at] of pages) this.unclear.delete(at);
	}

	/** A page whose batch is not carried out yet. Page 0 belongs to no batch, and must exist before all others. */
	page(at: number, packedIds: string[] = []): [documents: WrittenNote, end: WrittenNote] {
		const open = [...this.open, ...this.unclear.keys()];
		const header = { run: this.run, page: { at, open } };
		const [documents, end] = pageNames(this.run, at);
		const entries = packedIds.map((packedId): Entry => [packedId, UNKNOWN]);
		return [
			{ note: documents, header, entries },
			{ note: end, header },
		];
	}
}

/** The journals of crashed runs, until the memory has merged them. */
export class UnmergedJournal {
	/** The last run that wrote a page. */
	run = 0;
	/** Whether pages are missing. */
	isDamaged = false;
	/** Pages of two notes. */
	private pages: ReadNote[][] = [];

	constructor(private readonly notes: NotesOnServer) {}

	/** Reads the pages of runs after the last one that the memory has merged. */
	async read(after: number): Promise<Iterable<Entry>> {
		const slots: ReadNote[][][] = [];
		for (const slot of range(SLOTS)) slots.push(await readPages(this.notes, slot, after));
		this.pages = sortBy(slots.flat(), runOf);
		this.run = runOf(this.pages.at(-1) ?? []);
		this.isDamaged = slots.some((slot) => slot.some(isDamagedPage));
		return entriesIn(this.pages);
	}

	/** Reads the pages of the last run once more. @returns the entries of those that arrived later */
	async readLate(): Promise<Iterable<Entry>> {
		const merged = new Set(this.pages.map(versionOf));
		const now = this.run > 0 ? await readPages(this.notes, this.run, this.run - 1) : [];
		return entriesIn(now.filter((page) => !merged.has(versionOf(page))));
	}
}

const runOf = (page: ReadNote[]) => page.find(isReadable)?.run ?? 0;

/** Identifies what a page holds. */
const versionOf = (page: ReadNote[]) =>
	JSON.stringify(page.map((note) => isReadable(note) && [note.run, note.page, note.body.length]));

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
function isDamagedPage([documents, end]: ReadNote[], at: number, pages: ReadNote[][]): boolean {
	const behind = pages.slice(at + 1).flat();
	const isMissed = (note: ReadNote) => isReadable(note) && !note.page?.open.includes(at);
	// The first page has no documents.
	return at > 0 && !isReadable(documents) && (end !== undefined || behind.some(isMissed));
}

/** The entries in pages. Contents are known only for batches that were carried out. */
function* entriesIn(pages: ReadNote[][]): Generator<Entry> {
	for (const [documents, end] of pages) {
		const fingerprints = isReadable(end) ? end.body.toString('latin1') : '';
		const entries = isReadable(documents) ? [...unpack(documents.body)] : [];
		for (const [at, [packedId]] of entries.entries()) {
			const start = at * FINGERPRINT_BYTES;
			yield [packedId, fingerprints.slice(start, start + FINGERPRINT_BYTES) || UNKNOWN];
		}
	}
}
