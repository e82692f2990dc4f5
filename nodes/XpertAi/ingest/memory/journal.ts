import { chunk, range, sortBy } from 'lodash';

import { type Entry, FINGERPRINT_BYTES, UNKNOWN, packId, unpack } from './fingerprints';
import { SIZES, isReadable } from './notes';
import type { NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

/**
 * Runs alternate between two sets of journal pages. So a delayed request of a crashed run cannot overwrite pages of the
 * next run.
 */
export const SLOTS = 2;

/** The names of a page's two notes: one for the document IDs of a batch, one for the documents' fingerprints. */
function pageNames(run: number, at: number): [documents: NoteName, end: NoteName] {
	const slot = run % SLOTS;
	const place = `${slot + 1}.${at + 1}`;
	return [
		[`journal ${slot}.${at} documents`, `what … is storing, ${place}`],
		[`journal ${slot}.${at} end`, `how far … has come, ${place}`],
	];
}

/** The notes of the first page in each slot. */
export const FIRST_PAGES = range(SLOTS).flatMap((slot) => pageNames(slot, 0));

/** Bytes to reserve for the journal in each batch request: a fixed part, and a part per document. */
export const ROOM_IN_BATCH = { once: 8 * 1024, each: 60 };

/**
 * Records which documents a run sends, with one page per batch. If the run crashes, the next run reads these pages.
 *
 * A request is late if the server may still process an unanswered attempt.
 */
export class Journal {
	run = 0;
	/** Number of the last crashed run whose pages are not merged into the memory yet; 0 if there is no such run. */
	crashed = 0;
	/** Whether pages of crashed runs may be missing or unreadable. */
	isDamaged = false;
	/** The pages of crashed runs, as `readUnmerged` read them. Each page consists of two notes. */
	private unmerged: ReadNote[][] = [];
	private pageCount = 1;
	/** Numbers of the pages whose batches are being sent. */
	private readonly open = new Set<number>();
	/**
	 * Pages that need a request of their own, for example after their batch failed. Maps page numbers to packed IDs.
	 */
	private readonly unclear = new Map<number, string[]>();
	/** Fingerprints of documents that late requests may still store, by packed ID. `UNKNOWN` if two requests differ. */
	private readonly lateFingerprints = new Map<string, string>();

	constructor(private readonly notes: NotesOnServer) {}

	/**
	 * Returns false if a late request may still store the document with another fingerprint. An empty fingerprint means
	 * that the document is not stored.
	 */
	isCertain([packedId, fingerprint]: Entry): boolean {
		return (this.lateFingerprints.get(packedId) ?? fingerprint) === fingerprint;
	}

	/**
	 * Writes a page for documents that the node is about to disable.
	 *
	 * @throws NotesFailed
	 */
	async writePage(ids: string[]): Promise<void> {
		this.unclear.set(this.pageCount++, ids.map(packId));
		await this.writeUnclear();
	}

	/**
	 * Makes the journal rows of a batch. The request that stores the batch also contains these rows. First writes the
	 * pages of failed batches.
	 *
	 * @returns `rows`: JSON to send before and after the documents. `ids`: IDs of the rows. `onEnded`: to be called
	 * when the request has ended
	 * @throws NotesFailed
	 */
	async rowsFor(entries: Entry[]) {
		await this.writeUnclear();
		const at = this.pageCount++;
		this.open.add(at);
		const packedIds = entries.map(([packedId]) => packedId);
		const isCertain = entries.every((entry) => this.isCertain(entry));
		const body = Buffer.from(entries.map(([, fingerprint]) => fingerprint).join(''), 'latin1');
		const [documents, end] = this.page(at, packedIds);
		const notes = [documents, end, { ...end, ...(isCertain && { body }) }];
		const rows = notes.map((note) => this.notes.row(note));
		const [before, endPlaceholder, behind] = rows.map((row) => JSON.stringify(row));
		return {
			rows: [`${before},${endPlaceholder}`, behind],
			ids: rows.map(({ id }) => id),
			onEnded: (isStored: boolean, late: boolean) => {
				this.open.delete(at);
				if (!isStored) this.unclear.set(at, packedIds);
				for (const entry of late ? entries : []) {
					const [packedId, fingerprint] = entry;
					this.lateFingerprints.set(packedId, this.isCertain(entry) ? fingerprint : UNKNOWN);
				}
			},
		};
	}

	/**
	 * Reads the pages of all crashed runs.
	 *
	 * @param after number of the last run that is merged into the memory
	 * @returns the entries of the pages
	 */
	async readUnmerged(after: number): Promise<Iterable<Entry>> {
		const slots: ReadNote[][][] = [];
		for (const slot of range(SLOTS)) slots.push(await readPages(this.notes, slot, after));
		this.unmerged = sortBy(slots.flat(), runOf);
		this.crashed = runOf(this.unmerged.at(-1) ?? []);
		this.isDamaged = slots.some((slot) => slot.some(isDamagedPage));
		return entriesIn(this.unmerged);
	}

	/**
	 * Reads the pages of the last crashed run again.
	 *
	 * @returns the entries of pages that are new or changed since `readUnmerged`
	 */
	async readLate(): Promise<Iterable<Entry>> {
		const { crashed, notes } = this;
		const merged = new Set(this.unmerged.map(versionOf));
		const now = crashed > 0 ? await readPages(notes, crashed, crashed - 1) : [];
		return entriesIn(now.filter((page) => !merged.has(versionOf(page))));
	}

	private async writeUnclear(): Promise<void> {
		const pages = [...this.unclear];
		if (pages.length === 0) return;
		await this.notes.write(...pages.flatMap(([at, packedIds]) => this.page(at, packedIds)));
		for (const [at] of pages) this.unclear.delete(at);
	}

	/** Makes the two notes of a page, still without fingerprints. Page 0 belongs to no batch and is written first. */
	page(at: number, packedIds: string[] = []): [documents: WrittenNote, end: WrittenNote] {
		const open = [...this.open, ...this.unclear.keys()];
		const header = { run: this.run, open };
		const [documents, end] = pageNames(this.run, at);
		const entries = packedIds.map((packedId): Entry => [packedId, UNKNOWN]);
		return [
			{ note: documents, header, entries },
			{ note: end, header },
		];
	}
}

const runOf = (page: ReadNote[]) => page.find(isReadable)?.run ?? 0;

/** Identifies a version of a page, so that a rewritten page is noticed. */
const versionOf = (page: ReadNote[]) =>
	JSON.stringify(page.map((note) => isReadable(note) && [note.run, note.open, note.body.length]));

/**
 * Reads the pages in the slot of a run. A page of an already merged run becomes an empty array.
 *
 * @param run number of the run, or of the slot
 * @param after number of the last merged run
 */
async function readPages(notes: NotesOnServer, run: number, after: number) {
	const pages: ReadNote[][] = [];
	for (let at = 0, isMore = true; isMore; at += SIZES.pages) {
		const names = range(at, at + SIZES.pages).flatMap((page) => pageNames(run, page));
		// The server stores the rows of a request in order. If it wrote only one of the two notes, it stored no
		// document.
		const isOlder = (note: ReadNote) => isReadable(note) && !isLater(after, note);
		const read = chunk(await notes.read(names), 2);
		pages.push(...read.map((page) => (page.some(isOlder) ? [] : page)));
		isMore = pages.slice(at).some((page) => page.some((note) => note !== undefined));
	}
	return pages;
}

/** Whether the note is from a run that is not merged yet. `after` is the number of the last merged run. */
export const isLater = (after: number, note: ReadNote) => isReadable(note) && note.run > after;

/**
 * Whether the document IDs of a page are lost. Missing pages that all later pages list as open do not count, because
 * the run may not have written them.
 */
function isDamagedPage([documents, end]: ReadNote[], at: number, pages: ReadNote[][]): boolean {
	const behind = pages.slice(at + 1).flat();
	const isMissed = (note: ReadNote) => isReadable(note) && !note.open?.includes(at);
	// The first page has no documents.
	return at > 0 && !isReadable(documents) && (end !== undefined || behind.some(isMissed));
}

/** The document entries in pages. An entry without a fingerprint on its page gets `UNKNOWN`. */
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
