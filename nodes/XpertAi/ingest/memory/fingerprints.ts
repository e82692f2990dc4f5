import { lowerFirst, sumBy, times, upperFirst } from 'lodash';

const ID_BYTES = 16;
/** Length of a fingerprint in bytes. A fingerprint is the beginning of a comparison hash. */
export const FINGERPRINT_BYTES = 7;

/**
 * A mark is the first character of a comparison hash. The mark shows what was hashed: the content or the version of a
 * document. In a fingerprint, a capital mark means that the document is processed, or needs no processing.
 */
export const HASH_KIND_MARKS = { content: 'c', version: 'v' };
/** The fingerprint of a document whose content is unknown. The next run sends this document. */
export const UNKNOWN_CONTENT = '?';

export type FingerprintEntry = [packedId: string, fingerprint: string];

/** Joins entries to the body of a note (see `unpackEntries`). */
export const packEntries = (all: Iterable<FingerprintEntry>) =>
	Buffer.from([...all].flat().join(''), 'latin1');

/** Yields the entries in the body of a note. An entry with unknown content has only one byte after the ID. */
export function* unpackEntries(body: Buffer): Generator<FingerprintEntry> {
	for (let at = 0; at < body.length; ) {
		const packedId = body.toString('latin1', at, (at += ID_BYTES));
		const isKnown = body.toString('latin1', at, at + 1) !== UNKNOWN_CONTENT;
		const length = isKnown ? FINGERPRINT_BYTES : 1;
		yield [packedId, body.toString('latin1', at, (at += length))];
	}
}

/** Number of ID tails (see `tailOf`). */
const TAIL_COUNT = 2 ** 16;

/** Length of an entry in `Fingerprints`, in characters. Shorter entries are padded. */
const ENTRY_LENGTH = ID_BYTES + FINGERPRINT_BYTES;

/** The document entries of a source. To save RAM, entries with the same ID tail (see `tailOf`) share one string. */
export class Fingerprints {
	/** Tails (see `tailOf`) of the IDs whose entries have changed. Reset when the memory is written. */
	changedTails = new Set<number>();
	/** IDs that `StoredPieces.rebuild` derived from keys. Some of these documents may already be disabled. */
	readonly rebuilt = new Set<string>();
	private readonly byTail = new Map<number, string>();

	get size(): number {
		return sumBy([...this.byTail.values()], 'length') / ENTRY_LENGTH;
	}

	/** Counts the entries of each piece (see `entries`). */
	countByPiece(pieces: number): number[] {
		const counts = times(pieces, () => 0);
		for (const [tail, entries] of this.byTail)
			counts[tail % pieces] = (counts[tail % pieces] ?? 0) + entries.length / ENTRY_LENGTH;
		return counts;
	}

	/** Whether a document has an entry. */
	knows(id: string): boolean {
		return this.find(packId(id)).at >= 0;
	}

	/** Whether a document was stored with exactly this content. */
	hasSameContent(id: string, comparisonHash: string): boolean {
		return lowerFirst(this.fingerprintOf(id)) === newStoredEntry(id, comparisonHash)[1];
	}

	/** Whether the fingerprint of a document begins with this mark (see `HASH_KIND_MARKS`). */
	hasMark(id: string, mark: string): boolean {
		return lowerFirst(this.fingerprintOf(id)).startsWith(mark);
	}

	/** Whether the stored content of a document is known. */
	isContentKnown(id: string): boolean {
		return this.fingerprintOf(id) !== UNKNOWN_CONTENT;
	}

	/** Whether the stored content of a document is known, and the document is processed or needs no processing. */
	isProcessed(id: string): boolean {
		return this.isContentKnown(id) && hasCapitalMark(this.fingerprintOf(id));
	}

	/** Records that a document is processed, or needs no processing. Ignores a document with unknown content. */
	markProcessed(id: string): void {
		if (!this.isContentKnown(id) || this.isProcessed(id)) return;
		this.set([packId(id), upperFirst(this.fingerprintOf(id))]);
	}

	/** Records that a document may be on the server, with unknown content. */
	markUnknown(id: string): void {
		this.set([packId(id), UNKNOWN_CONTENT]);
	}

	/** Marks the content of a document as unknown, if the document has an entry. */
	forgetContent(id: string): void {
		if (this.knows(id)) this.markUnknown(id);
	}

	/** Removes the entry of a document. */
	remove(id: string): void {
		if (this.knows(id)) this.set([packId(id), '']);
	}

	/** Adds the entries of a piece that was read from the server. Does not record them as changed. */
	addPieceEntries(body: Buffer): void {
		for (const entry of unpackEntries(body)) this.put(entry);
	}

	/** Adds or replaces an entry, and records it as changed. An empty fingerprint removes the entry. */
	set(entry: FingerprintEntry): void {
		this.put(entry);
		this.changedTails.add(tailOf(entry[0]));
	}

	/** Yields the IDs of all documents, except those that `excluded` contains. */
	*ids(excluded?: { has: (id: string) => boolean }): Generator<string> {
		for (const [packedId] of this.entries()) {
			const id = unpackId(packedId);
			if (!excluded?.has(id)) yield id;
		}
	}

	/** Yields the entries of one piece of the memory. By default, there is one piece with all entries. */
	*entries(piece = 0, pieces = 1): Generator<FingerprintEntry> {
		for (let tail = piece; tail < TAIL_COUNT; tail += pieces) {
			const entries = this.byTail.get(tail) ?? '';
			for (let at = 0; at < entries.length; at += ENTRY_LENGTH)
				yield [entries.slice(at, at + ID_BYTES), fingerprintAt(entries, at)];
		}
	}

	private fingerprintOf(id: string): string {
		const { entries, at } = this.find(packId(id));
		return at < 0 ? UNKNOWN_CONTENT : fingerprintAt(entries, at);
	}

	/** Finds the entry of an ID. `at` is the position of the entry in the string `entries`, or -1. */
	private find(packedId: string) {
		const entries = this.byTail.get(tailOf(packedId)) ?? '';
		let at = entries.indexOf(packedId);
		while (at % ENTRY_LENGTH > 0) at = entries.indexOf(packedId, at + 1);
		return { entries, at };
	}

	/** Adds an entry, or replaces the entry with the same ID. An empty fingerprint removes the entry. */
	private put([packedId, fingerprint]: FingerprintEntry): void {
		const { entries, at } = this.find(packedId);
		const others = at < 0 ? [entries] : [entries.slice(0, at), entries.slice(at + ENTRY_LENGTH)];
		const entry = fingerprint && packedId + fingerprint.padEnd(FINGERPRINT_BYTES);
		// Use `join` instead of `+`, because `+` would keep the old strings in memory.
		this.byTail.set(tailOf(packedId), [...others, entry].join(''));
	}
}

/** Whether the mark of a known fingerprint is a capital letter (see `HASH_KIND_MARKS`). Capital letters come before `a`. */
const hasCapitalMark = (fingerprint: string) => fingerprint < 'a';

const fingerprintAt = (text: string, at: number) =>
	text.startsWith(UNKNOWN_CONTENT, at + ID_BYTES)
		? UNKNOWN_CONTENT
		: text.slice(at + ID_BYTES, at + ENTRY_LENGTH);

/** Returns the entry of a stored document that is not yet processed. */
export function newStoredEntry(id: string, comparisonHash: string): FingerprintEntry {
	return [packId(id), comparisonHash.slice(0, FINGERPRINT_BYTES)];
}

let lastPacked = { id: '', packedId: '' };
const scratch = Buffer.alloc(ID_BYTES);

/**
 * Converts a UUID to 16 characters, one per byte. Upper and lower case give the same result. Keeps the last result,
 * because callers often convert the same ID several times in a row.
 */
export function packId(id: string): string {
	if (id === lastPacked.id) return lastPacked.packedId;
	const length = scratch.write(id.replaceAll('-', ''), 'hex');
	lastPacked = { id, packedId: scratch.toString('latin1', 0, length) };
	return lastPacked.packedId;
}

/**
 * Returns the tail of a packed ID: the last two bytes, as a number. The tail decides which piece contains the ID. The
 * first bytes are less random, because they may be a timestamp.
 */
export const tailOf = (packedId: string) =>
	packedId.charCodeAt(ID_BYTES - 1) + 256 * packedId.charCodeAt(ID_BYTES - 2);

/** Converts a packed ID to a UUID in lower case. */
export function unpackId(packedId: string): string {
	const hex = Buffer.from(packedId, 'latin1').toString('hex');
	return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
