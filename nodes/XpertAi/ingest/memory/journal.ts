import { chunk, range, sortBy } from 'lodash';

import { type Entry, FINGERPRINT_BYTES, UNKNOWN, packId, unpack } from './fingerprints';
import { SIZES, isReadable } from './notes';
import type { NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

/**
 * Runs alternate between two slots, because a request of a crashed run may arrive late: it must not overwrite pages of
 * the next run.
 */
export const SLOTS = 2;

/**
 * The names of the two notes of a page: one for the IDs of the documents in a batch, one for their fingerprints. With
 * two notes, the loss of one is noticed.
 */
function pageNames(run: number, at: number): [documents: NoteName, end: NoteName] {
	const slot = run % SLOTS;
	const place = `${slot + 1}.${at + 1}`;
	return [
		[`journal ${slot}.${at} documents`, `what … is storing, ${place}`],
		[`journal ${slot}.${at} end`, `how far … has come, ${place}`],
	];
}

/** The first page of each slot. A run writes its first page before all others. */
export const FIRST_PAGES = range(SLOTS).flatMap((slot) => pageNames(slot, 0));

/** Bytes to reserve for the journal in the request of a batch: once, and for each document. */
export const ROOM_IN_BATCH = { once: 8 * 1024, each: 60 };

/**
 * The journal of a run, with a page for each batch, so that later runs know what a crashed run may have stored. Also
 * reads the pages of crashed runs. A request is late if an attempt had no answer from the server, which may still
 * process it.
 */
export class Journal {
	run = 0;
	/** Number of the last run with pages that are not merged into the memory; 0 if there is no such run. */
	crashed = 0;
	/** Whether pages of crashed runs may be missing or unreadable. */
	isDamaged = false;
	/** The pages of crashed runs, as they were first read, each with two notes. */
	private unmerged: ReadNote[][] = [];
	private pageCount = 1;
	/** Pages that are being sent with their batches. */
	private readonly open = new Set<number>();
	/**
	 * Pages that must still be written alone, mostly because their batches failed, with the packed IDs of the
	 * documents.
	 */
	private readonly unclear = new Map<number, string[]>();
	/**
	 * Fingerprints that late requests may still write, by packed ID; `UNKNOWN` if two late requests would write
	 * different ones.
	 */
	private readonly lateFingerprints = new Map<string, string>();

	constructor(private readonly notes: NotesOnServer) {}

	/**
	 * Whether the state of a document is certain. It is not certain if a late request could still store the document with
	 * another fingerprint than this; an empty fingerprint means that the document is not stored.
	 */
	isCertain([packedId, fingerprint]: Entry): boolean {
		return (this.lateFingerprints.get(packedId) ?? fingerprint) === fingerprint;
	}

	/**
	 * Writes a page, without fingerprints, for documents that are not in a batch.
	 *
	 * @throws NotesFailed
	 */
	async writePage(ids: string[]): Promise<void> {
		this.unclear.set(this.pageCount++, ids.map(packId));
		await this.writeUnclear();
	}

	/**
	 * Makes the rows of a page, which are sent in the request that stores the documents. First writes the pages of
	 * batches that have failed.
	 *
	 * @returns `rows`: the JSON to send before and after the documents. `ids`: the IDs of all rows. `onEnded`: to be
	 * called when the request has ended, with whether it has stored the documents and whether it may be late
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
	 * @param after number of the last run that the memory has merged
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
	 * Reads the pages of the last crashed run once more.
	 *
	 * @returns the entries of pages that have arrived or changed since `readUnmerged`
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

	/**
	 * The two notes of a page as they are until its batch is stored: without fingerprints. Page 0 belongs to no batch,
	 * and is written before all others.
	 */
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

/** Identifies the version of a page, to notice that it was written again. */
const versionOf = (page: ReadNote[]) =>
	JSON.stringify(page.map((note) => isReadable(note) && [note.run, note.open, note.body.length]));

/**
 * Reads the pages in the slot of a run. Pages that a merged run wrote are empty in the result.
 *
 * @param run number of the run, or of the slot
 * @param after number of the last merged run
 */
async function readPages(notes: NotesOnServer, run: number, after: number) {
	const pages: ReadNote[][] = [];
	for (let at = 0, isMore = true; isMore; at += SIZES.pages) {
		const names = range(at, at + SIZES.pages).flatMap((page) => pageNames(run, page));
		// Rows are stored in order: if one of the two notes is from a merged run, the request with the other note ended
		// before its documents were stored.
		const isOlder = (note: ReadNote) => isReadable(note) && !isLater(after, note);
		const read = chunk(await notes.read(names), 2);
		pages.push(...read.map((page) => (page.some(isOlder) ? [] : page)));
		isMore = pages.slice(at).some((page) => page.some((note) => note !== undefined));
	}
	return pages;
}

/** Whether a note was written by a run after `after`, the last run that is merged into the memory. */
export const isLater = (after: number, note: ReadNote) => isReadable(note) && note.run > after;

/**
 * Whether the IDs in a page are lost. If both notes are missing, the page may never have arrived on the server: it is
 * lost only if a later page does not list it as open.
 */
function isDamagedPage([documents, end]: ReadNote[], at: number, pages: ReadNote[][]): boolean {
	const behind = pages.slice(at + 1).flat();
	const isMissed = (note: ReadNote) => isReadable(note) && !note.open?.includes(at);
	// The first page has no documents.
	return at > 0 && !isReadable(documents) && (end !== undefined || behind.some(isMissed));
}

/** The entries in pages. Documents of a batch that was not stored have the fingerprint `UNKNOWN`. */
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
