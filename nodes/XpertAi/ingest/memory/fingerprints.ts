import { lowerFirst, sumBy, upperFirst } from 'lodash';

const ID_BYTES = 16;
/** Length of a fingerprint, in bytes: a mark, and the beginning of a hash. */
export const FINGERPRINT_BYTES = 7;

/**
 * A content hash begins with a mark. The mark says whether the content or the version was hashed. In a fingerprint, a
 * capital mark means that the document needs no more processing.
 */
export const MARKS = { content: 'c', version: 'v' };
/** The fingerprint of unknown content. It matches no content, so the next run sends the document again. */
export const UNKNOWN = '?';

export type Entry = [packedId: string, fingerprint: string];

export const pack = (entries: Iterable<Entry>) =>
	Buffer.from([...entries].flat().join(''), 'latin1');

export function* unpack(body: Buffer): Generator<Entry> {
	for (let at = 0; at < body.length; ) {
		const packedId = body.toString('latin1', at, (at += ID_BYTES));
		const isKnown = body.toString('latin1', at, at + 1) !== UNKNOWN;
		const length = isKnown ? FINGERPRINT_BYTES : 1;
		yield [packedId, body.toString('latin1', at, (at += length))];
	}
}

/** Length of an entry in bytes. `Fingerprints` pads `UNKNOWN` to the length of a fingerprint. */
const ENTRY_BYTES = ID_BYTES + FINGERPRINT_BYTES;

/**
 * The entries of a source's documents, grouped by the tail of the ID (`tailOf`). Each group is one string, with one
 * character per byte. One string per document would take four times the memory.
 */
export class Fingerprints {
	/** Tails of entries that changed since the memory was last read or written. */
	changed = new Set<number>();
	/** IDs that were derived from keys because their entries were lost. Their documents may be disabled. */
	readonly rebuilt = new Set<string>();
	private readonly byTail = new Map<number, string>();

	get size(): number {
		return sumBy([...this.byTail.values()], 'length') / ENTRY_BYTES;
	}

	/** Whether a document has an entry, and so may be on the server. */
	knows(id: string): boolean {
		return this.find(packId(id)).at >= 0;
	}

	/** Whether a document was stored with exactly this content. */
	has(id: string, contentHash: string): boolean {
		return lowerFirst(this.fingerprintOf(id)) === storedEntry(id, contentHash)[1];
	}

	/** Whether the fingerprint of a document has this mark. */
	isOf(id: string, mark: string): boolean {
		return lowerFirst(this.fingerprintOf(id)).startsWith(mark);
	}

	/** Whether a document was stored with known content. With `processed`, the document must also be processed. */
	isDone(id: string, processed: boolean): boolean {
		const fingerprint = this.fingerprintOf(id);
		return fingerprint !== UNKNOWN && (!processed || fingerprint < 'a');
	}

	/** Records that a document needs no more processing. Does nothing if its content is unknown. */
	markProcessed(id: string): void {
		const fingerprint = this.fingerprintOf(id);
		if (fingerprint >= 'a') this.set([packId(id), upperFirst(fingerprint)]);
	}

	/** Records that a document may be on the server, with unknown content. */
	markUnknown(id: string): void {
		this.set([packId(id), UNKNOWN]);
	}

	/** Marks the content of a document as unknown, if the document has an entry. */
	forget(id: string): void {
		if (this.knows(id)) this.markUnknown(id);
	}

	/** Removes a document that is not on the server, or is disabled there. */
	remove(id: string): void {
		if (this.knows(id)) this.set([packId(id), '']);
	}

	/** Adds entries from the server, which do not count as changed. */
	add(body: Buffer): void {
		for (const entry of unpack(body)) this.put(entry);
	}

	set(entry: Entry): void {
		this.put(entry);
		this.changed.add(tailOf(entry[0]));
	}

	/** Yields the IDs of all documents except those in `others`. */
	*ids(others = new Fingerprints()): Generator<string> {
		for (const [packedId] of this.entries())
			if (others.find(packedId).at < 0) yield unpackId(packedId);
	}

	/** Yields the entries of one piece of the memory: the tail modulo `pieces` is `piece`. Default: all entries. */
	*entries(piece = 0, pieces = 1): Generator<Entry> {
		for (const [tail, entries] of this.byTail)
			for (let at = 0; at < entries.length && tail % pieces === piece; at += ENTRY_BYTES)
				yield [entries.slice(at, at + ID_BYTES), fingerprintAt(entries, at)];
	}

	private fingerprintOf(id: string): string {
		const { entries, at } = this.find(packId(id));
		return at < 0 ? UNKNOWN : fingerprintAt(entries, at);
	}

	/** Returns all entries with the tail of an ID, and the position `at` of the ID's own entry (-1: no entry). */
	private find(packedId: string) {
		const entries = this.byTail.get(tailOf(packedId)) ?? '';
		let at = entries.indexOf(packedId);
		while (at % ENTRY_BYTES > 0) at = entries.indexOf(packedId, at + 1);
		return { entries, at };
	}

	/** Adds an entry, or replaces the entry with the same ID. An empty fingerprint removes the entry. */
	private put([packedId, fingerprint]: Entry): void {
		const { entries, at } = this.find(packedId);
		const others = at < 0 ? [entries] : [entries.slice(0, at), entries.slice(at + ENTRY_BYTES)];
		const entry = fingerprint && packedId + fingerprint.padEnd(FINGERPRINT_BYTES);
		// `join` copies the parts. A string made with `+` would keep the old strings in memory.
		this.byTail.set(tailOf(packedId), [...others, entry].join(''));
	}
}

const fingerprintAt = (entries: string, at: number) =>
	entries.startsWith(UNKNOWN, at + ID_BYTES)
		? UNKNOWN
		: entries.slice(at + ID_BYTES, at + ENTRY_BYTES);

/** Returns the entry of a stored document that is not yet processed. */
export const storedEntry = (id: string, contentHash: string): Entry => [
	packId(id),
	contentHash.slice(0, FINGERPRINT_BYTES),
];

/** Packs a UUID into 16 characters, one per byte. Drops the case, which servers ignore. */
export const packId = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1');

/**
 * Returns the last two bytes of a packed ID as a number, to select a piece of the memory. The first bytes would give
 * pieces of unequal size, because some UUIDs begin with the time.
 */
export const tailOf = (packedId: string) =>
	packedId.charCodeAt(ID_BYTES - 1) + 256 * packedId.charCodeAt(ID_BYTES - 2);

/** Converts a packed ID to a UUID in lower case. */
export function unpackId(packedId: string): string {
	const hex = Buffer.from(packedId, 'latin1').toString('hex');
	return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
