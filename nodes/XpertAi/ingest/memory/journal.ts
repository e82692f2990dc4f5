import { chunk, range, sortBy } from 'lodash';

import {
	FINGERPRINT_BYTES,
	type FingerprintEntry,
	packId,
	UNKNOWN_CONTENT,
	unpackEntries,
} from './fingerprints';
import {
	isReadable,
	NOTE_LIMITS,
	type NoteNameAndTitle,
	type NoteReadResult,
	type NotesOnServer,
	type NoteToWrite,
} from './notes';

/**
 * Number of slots. A slot holds the journal pages of one run. Consecutive runs use different slots, so that a late
 * request of one run cannot overwrite pages of the next run.
 */
export const SLOT_COUNT = 2;

const NOTES_PER_PAGE = 2;

/**
 * Names of the two notes of a journal page: one note with document IDs, one note with fingerprints. With two notes, the
 * loss of one note is noticed.
 */
function pageNoteNames(
	run: number,
	at: number,
): [documents: NoteNameAndTitle, end: NoteNameAndTitle] {
	const slot = run % SLOT_COUNT;
	const place = `${slot + 1}.${at + 1}`;
	return [
		[`journal ${slot}.${at} documents`, `what * is storing, ${place}`],
		[`journal ${slot}.${at} end`, `how far * has come, ${place}`],
	];
}

/** Names of the notes of the first journal page. Each slot has its own. */
export const FIRST_PAGE_NOTE_NAMES = range(SLOT_COUNT).flatMap((slot) => pageNoteNames(slot, 0));

/** Bytes to reserve for journal rows in the request of a batch. */
export const RESERVED_JOURNAL_BYTES = { perBatch: 8 * 1024, perDocument: 60 };

/** The journal rows of a batch, and what to call when its request has ended (see `Journal.makeBatchRows`). */
export type BatchJournalRows = Awaited<ReturnType<Journal['makeBatchRows']>>;

/**
 * Records which documents a run sends, with one page per batch. If the run crashes, the next run reads these pages.
 *
 * "Late request" in this class: a failed request that the server may still process.
 */
export class Journal {
	run = 0;
	/** Number of the last crashed run, or 0. Set by `readUnmerged`. */
	crashedRun = 0;
	/** Whether pages of crashed runs may be missing or unreadable. */
	isDamaged = false;
	/** The pages that `readUnmerged` found: two notes each, or an empty array for a page of a merged run. */
	private unmerged: NoteReadResult[][] = [];
	private pageCount = 1;
	/** Numbers of the pages whose batches are being sent. */
	private readonly inFlight = new Set<number>();
	/**
	 * Pages that the server may not have stored. They are written before the next batch. Maps page numbers to packed
	 * document IDs.
	 */
	private readonly failedPages = new Map<number, string[]>();
	/**
	 * Content that late requests may still store. Maps packed document IDs to the fingerprint of this content, or to
	 * `UNKNOWN_CONTENT` if two late requests contain different versions of the document.
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
	 * @throws NotesError
	 */
	async writePage(ids: string[]): Promise<void> {
		this.failedPages.set(this.pageCount++, ids.map(packId));
		await this.writeFailedPages();
	}

	/**
	 * Makes the journal rows for the request of a batch. Before that, writes the pages of earlier batches that failed.
	 *
	 * @param entries the documents of the batch, each with the fingerprint that it gets when it is stored
	 * @returns an object:
	 * - `before` and `after`: JSON of the rows before and after the documents.
	 * - `ids`: IDs of these rows.
	 * - `onEnded`: function to call when the request has ended.
	 * @throws NotesError
	 */
	async makeBatchRows(entries: FingerprintEntry[]) {
		await this.writeFailedPages();
		const at = this.pageCount++;
		this.inFlight.add(at);
		const packedIds = entries.map(([packedId]) => packedId);
		const [idsNote, end] = this.page(at, packedIds);
		// If a late request may still change a document of the batch, this page gets no fingerprints.
		const areCertain = entries.every((entry) => this.isCertain(entry));
		const filledEnd = areCertain ? { ...end, body: packedFingerprints(entries) } : end;
		// The note `end` is sent twice, before and after the documents of the batch. The later row replaces the earlier one.
		const rows = [idsNote, end, filledEnd].map((note) => this.notes.row(note));
		const [idsRow, endRow, filledEndRow] = rows.map((row) => JSON.stringify(row));
		return {
			before: `${idsRow},${endRow}`,
			after: filledEndRow,
			ids: rows.map(({ id }) => id),
			/** @param mayBeDone whether the server may have processed, or may still process, a failed attempt */
			onEnded: (isStored: boolean, mayBeDone: boolean) => {
				this.inFlight.delete(at);
				if (!isStored) this.failedPages.set(at, packedIds);
				if (mayBeDone) this.recordLateRequest(entries);
			},
		};
	}

	/** Records the content that a late request may still store. */
	private recordLateRequest(entries: FingerprintEntry[]): void {
		for (const entry of entries) {
			const [packedId, fingerprint] = entry;
			this.lateFingerprints.set(packedId, this.isCertain(entry) ? fingerprint : UNKNOWN_CONTENT);
		}
	}

	/**
	 * Reads the pages of all crashed runs.
	 *
	 * @param after number of the last run that is merged into the memory
	 * @returns the entries of the pages
	 */
	async readUnmerged(after: number): Promise<Iterable<FingerprintEntry>> {
		const slots: NoteReadResult[][][] = [];
		for (const slot of range(SLOT_COUNT)) slots.push(await readPages(this.notes, slot, after));
		this.unmerged = sortBy(slots.flat(), runOf);
		this.crashedRun = runOf(this.unmerged.at(-1) ?? []);
		this.isDamaged = slots.some((slot) => slot.some(isDamagedPage));
		return entriesIn(this.unmerged);
	}

	/**
	 * Reads the pages of the last crashed run a second time.
	 *
	 * @returns the entries of the pages that the server stored after `readUnmerged`
	 */
	async readLatePages(): Promise<Iterable<FingerprintEntry>> {
		const { crashedRun, notes } = this;
		const merged = new Set(this.unmerged.map(pageVersionKey));
		const now = crashedRun > 0 ? await readPages(notes, crashedRun, crashedRun - 1) : [];
		return entriesIn(now.filter((page) => !merged.has(pageVersionKey(page))));
	}

	private async writeFailedPages(): Promise<void> {
		const pages = [...this.failedPages];
		if (pages.length === 0) return;
		await this.notes.write(...pages.flatMap(([at, packedIds]) => this.page(at, packedIds)));
		for (const [at] of pages) this.failedPages.delete(at);
	}

	/** Makes the two notes of a page, without fingerprints. Page 0 has no documents. */
	page(at: number, packedIds: string[] = []): [documents: NoteToWrite, end: NoteToWrite] {
		const header = { run: this.run, open: [...this.inFlight, ...this.failedPages.keys()] };
		const [documents, end] = pageNoteNames(this.run, at);
		const entries = packedIds.map((packedId): FingerprintEntry => [packedId, UNKNOWN_CONTENT]);
		return [
			{ nameAndTitle: documents, header, entries },
			{ nameAndTitle: end, header },
		];
	}
}

const packedFingerprints = (entries: FingerprintEntry[]) =>
	Buffer.from(entries.map(([, fingerprint]) => fingerprint).join(''), 'latin1');

const runOf = (page: NoteReadResult[]) => page.find(isReadable)?.run ?? 0;

/** Returns a text that differs between two versions of a page. */
const pageVersionKey = (page: NoteReadResult[]) =>
	JSON.stringify(page.map((note) => isReadable(note) && [note.run, note.open, note.body.length]));

/**
 * Reads the pages in a slot, in blocks of `NOTE_LIMITS.pages` pages. Stops after a block in which all notes are missing or
 * belong to merged runs.
 *
 * @param run number of any run that uses the slot
 * @param after number of the last run that is merged into the memory
 * @returns the pages. The index is the page number. Pages of merged runs are empty arrays.
 */
async function readPages(
	notes: NotesOnServer,
	run: number,
	after: number,
): Promise<NoteReadResult[][]> {
	const isMerged = (note: NoteReadResult) => isReadable(note) && !isFromLaterRun(after, note);
	const pages: NoteReadResult[][] = [];
	let block: NoteReadResult[][] = [];
	do {
		const numbers = range(pages.length, pages.length + NOTE_LIMITS.pages);
		const read = await notes.read(numbers.flatMap((at) => pageNoteNames(run, at)));
		// The server stores both notes of a page first, and then the documents of the batch. So if one note is still
		// from a merged run, the server stored no document of the batch, and the page is ignored.
		block = chunk(read, NOTES_PER_PAGE).map((page) => (page.some(isMerged) ? [] : page));
		pages.push(...block);
	} while (block.some((page) => page.some((note) => note !== undefined)));
	return pages;
}

/** Whether a run with a higher number than `after` wrote the note. */
export const isFromLaterRun = (after: number, note: NoteReadResult) =>
	isReadable(note) && note.run > after;

/**
 * Whether the server stored a page, but its document IDs are lost. The page counts as stored if the note `end` exists,
 * or if a note of a later page does not list the page in `open`.
 */
function isDamagedPage(
	[documents, end]: NoteReadResult[],
	at: number,
	pages: NoteReadResult[][],
): boolean {
	// Page 0 has no documents.
	if (at === 0 || isReadable(documents)) return false;
	const laterNotes = pages
		.slice(at + 1)
		.flat()
		.filter(isReadable);
	return end !== undefined || laterNotes.some(({ open }) => !open?.includes(at));
}

/** Yields one entry for each document of these pages. A missing fingerprint becomes `UNKNOWN_CONTENT`. */
function* entriesIn(pages: NoteReadResult[][]): Generator<FingerprintEntry> {
	for (const [documents, end] of pages) {
		const ids = isReadable(documents) ? [...unpackEntries(documents.body)] : [];
		const fingerprints = isReadable(end) ? end.body.toString('latin1') : '';
		for (const [at, [packedId]] of ids.entries()) {
			const start = at * FINGERPRINT_BYTES;
			yield [packedId, fingerprints.slice(start, start + FINGERPRINT_BYTES) || UNKNOWN_CONTENT];
		}
	}
}
