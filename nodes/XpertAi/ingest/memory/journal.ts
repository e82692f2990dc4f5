import { chunk, range, sortBy } from 'lodash';

import { type FingerprintEntry, FINGERPRINT_BYTES, UNKNOWN, packId, unpack } from './fingerprints';
import { SIZES, isReadable } from './notes';
import type { NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

/**
 * Number of slots. A slot holds the journal pages of one run. Consecutive runs use different slots, so that a late
 * request of one run cannot overwrite pages of the next run.
 */
export const SLOTS = 2;

/**
 * Names of the two notes of a journal page: one note with document IDs, one note with fingerprints. With two notes, the
 * loss of one note is noticed.
 */
function pageNames(run: number, at: number): [documents: NoteName, end: NoteName] {
	const slot = run % SLOTS;
	const place = `${slot + 1}.${at + 1}`;
	return [
		[`journal ${slot}.${at} documents`, `what * is storing, ${place}`],
		[`journal ${slot}.${at} end`, `how far * has come, ${place}`],
	];
}

/** Names of the notes of the first journal page. Each slot has its own. */
export const FIRST_PAGES = range(SLOTS).flatMap((slot) => pageNames(slot, 0));

/** Bytes to reserve for journal rows in the request of a batch: `once`, plus `each` per document. */
export const JOURNAL_BYTES = { perBatch: 8 * 1024, perDocument: 60 };

/**
 * Records which documents a run sends, with one page per batch. If the run crashes, the next run reads these pages.
 *
 * "Late request" in this class: a failed request that the server may still process.
 */
export class Journal {
	run = 0;
	/** Number of the last crashed run, or 0. Set by `readUnmerged`. */
	crashed = 0;
	/** Whether pages of crashed runs may be missing or unreadable. */
	isDamaged = false;
	/** The pages that `readUnmerged` found. Each page consists of two notes. */
	private unmerged: ReadNote[][] = [];
	private pageCount = 1;
	/** Numbers of the pages whose batches are being sent. */
	private readonly open = new Set<number>();
	/** Pages to write before the next batch is sent. Maps page numbers to packed document IDs. */
	private readonly unclear = new Map<number, string[]>();
	/**
	 * Content that late requests may still store. Maps packed document IDs to the fingerprint of this content, or to
	 * `UNKNOWN` if two late requests contain different versions of the document.
	 */
	private readonly lateFingerprints = new Map<string, string>();

	constructor(private readonly notes: NotesOnServer) {}

	/**
	 * Whether a fingerprint is certain. False if a late request may still store other content. For a document that is
	 * not on the server, pass an empty fingerprint.
	 */
	isCertain([packedId, fingerprint]: FingerprintEntry): boolean {
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
	 * Writes the pages in `unclear`. Then makes the journal rows for the request of a batch.
	 *
	 * @returns an object:
	 * - `rows`: JSON to send before and after the documents
	 * - `ids`: IDs of these rows
	 * - `onEnded`: function to call when the request has ended. `late` says that the server may still process it.
	 * @throws NotesFailed
	 */
	async makeBatchRows(entries: FingerprintEntry[]) {
		await this.writeUnclear();
		const at = this.pageCount++;
		this.open.add(at);
		const packedIds = entries.map(([packedId]) => packedId);
		const isCertain = entries.every((entry) => this.isCertain(entry));
		const body = Buffer.from(entries.map(([, fingerprint]) => fingerprint).join(''), 'latin1');
		const [documents, end] = this.page(at, packedIds);
		// `end` is sent twice: first without fingerprints, then behind the documents, where it replaces the first.
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
	async readUnmerged(after: number): Promise<Iterable<FingerprintEntry>> {
		const slots: ReadNote[][][] = [];
		for (const slot of range(SLOTS)) slots.push(await readPages(this.notes, slot, after));
		this.unmerged = sortBy(slots.flat(), runOf);
		this.crashed = runOf(this.unmerged.at(-1) ?? []);
		this.isDamaged = slots.some((slot) => slot.some(isDamagedPage));
		return entriesIn(this.unmerged);
	}

	/**
	 * Reads the pages of the last crashed run a second time.
	 *
	 * @returns the entries of the pages that the server stored after `readUnmerged`
	 */
	async readLate(): Promise<Iterable<FingerprintEntry>> {
		const { crashed, notes } = this;
		const merged = new Set(this.unmerged.map(journalVersionOf));
		const now = crashed > 0 ? await readPages(notes, crashed, crashed - 1) : [];
		return entriesIn(now.filter((page) => !merged.has(journalVersionOf(page))));
	}

	private async writeUnclear(): Promise<void> {
		const pages = [...this.unclear];
		if (pages.length === 0) return;
		await this.notes.write(...pages.flatMap(([at, packedIds]) => this.page(at, packedIds)));
		for (const [at] of pages) this.unclear.delete(at);
	}

	/** Makes the two notes of a page, without fingerprints. Page 0 has no documents. */
	page(at: number, packedIds: string[] = []): [documents: WrittenNote, end: WrittenNote] {
		const open = [...this.open, ...this.unclear.keys()];
		const header = { run: this.run, open };
		const [documents, end] = pageNames(this.run, at);
		const entries = packedIds.map((packedId): FingerprintEntry => [packedId, UNKNOWN]);
		return [
			{ note: documents, header, entries },
			{ note: end, header },
		];
	}
}

const runOf = (page: ReadNote[]) => page.find(isReadable)?.run ?? 0;

const journalVersionOf = (page: ReadNote[]) =>
	JSON.stringify(page.map((note) => isReadable(note) && [note.run, note.open, note.body.length]));

/**
 * Reads the pages in a slot. The index in the result is the page number. Pages of merged runs become empty arrays. Reads
 * blocks of `SIZES.pages` pages, until a block has neither a note of a later run nor a damaged note.
 *
 * @param run number of any run that uses the slot
 * @param after number of the last run that is merged into the memory
 */
async function readPages(notes: NotesOnServer, run: number, after: number) {
	const pages: ReadNote[][] = [];
	for (let at = 0, isMore = true; isMore; at += SIZES.pages) {
		const names = range(at, at + SIZES.pages).flatMap((page) => pageNames(run, page));
		// The server stores both notes of a page first, and then the documents of the batch. So if one note is still
		// from an older run, the server stored no document of the batch, and the page is ignored.
		const isOlder = (note: ReadNote) => isReadable(note) && !isLater(after, note);
		const read = chunk(await notes.read(names), 2);
		pages.push(...read.map((page) => (page.some(isOlder) ? [] : page)));
		isMore = pages.slice(at).some((page) => page.some((note) => note !== undefined));
	}
	return pages;
}

/** Whether a run with a higher number than `after` wrote the note. */
export const isLater = (after: number, note: ReadNote) => isReadable(note) && note.run > after;

/**
 * Whether the server stored a page, but its document IDs are lost. The page counts as stored if the note `end` exists,
 * or if a note of a later page does not list the page in `open`.
 */
function isDamagedPage([documents, end]: ReadNote[], at: number, pages: ReadNote[][]): boolean {
	const behind = pages.slice(at + 1).flat();
	const isMissed = (note: ReadNote) => isReadable(note) && !note.open?.includes(at);
	// The first page has no documents.
	return at > 0 && !isReadable(documents) && (end !== undefined || behind.some(isMissed));
}

/** Yields one entry for each document of these pages. A missing fingerprint becomes `UNKNOWN`. */
function* entriesIn(pages: ReadNote[][]): Generator<FingerprintEntry> {
	for (const [documents, end] of pages) {
		const fingerprints = isReadable(end) ? end.body.toString('latin1') : '';
		const entries = isReadable(documents) ? [...unpack(documents.body)] : [];
		for (const [at, [packedId]] of entries.entries()) {
			const start = at * FINGERPRINT_BYTES;
			yield [packedId, fingerprints.slice(start, start + FINGERPRINT_BYTES) || UNKNOWN];
		}
	}
}
