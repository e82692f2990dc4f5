import { lowerFirst, sumBy, upperFirst } from 'lodash';

/** Length of a packed ID, in bytes. */
const ID_BYTES = 16;
/** Length of a fingerprint, in bytes: a mark, and the beginning of a hash. */
export const FINGERPRINT_BYTES = 7;

/**
 * A content hash begins with a mark, which says what was hashed: the content or the version. In a fingerprint, a
 * capital mark means that the document is processed or need not be.
 */
export const MARKS = { content: 'c', version: 'v' };
/** The fingerprint of a document whose content is not known. No content matches it, so the document is sent again. */
export const UNKNOWN = '?';

/** A document: its ID in 16 bytes, and its fingerprint. */
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

/** Bytes of an entry in `Fingerprints`, in which `UNKNOWN` is padded to the length of a fingerprint. */
const ENTRY_BYTES = ID_BYTES + FINGERPRINT_BYTES;

/**
 * The entries of a source's documents, grouped by the tail of the ID (`tailOf`). The entries of a group are one string
 * with a character per byte: one string for each document would take four times the memory.
 */
export class Fingerprints {
	/** Tails of the entries that have changed since they were read from the server, or last written. */
	changed = new Set<number>();
	/** IDs that were rebuilt from keys. Their documents may have been disabled long ago. */
	readonly rebuilt = new Set<string>();
	private readonly byTail = new Map<number, string>();

	get size(): number {
		return sumBy([...this.byTail.values()], 'length') / ENTRY_BYTES;
	}

	/** Whether a document has an entry: it may then be on the server. */
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

	/** Whether a document was stored with known content and, if `processed` is true, was also processed. */
	isDone(id: string, processed: boolean): boolean {
		const fingerprint = this.fingerprintOf(id);
		return fingerprint !== UNKNOWN && (!processed || fingerprint < 'a');
	}

	/** Records that a document is processed, or need not be. Does nothing if its content is not known. */
	markProcessed(id: string): void {
		const fingerprint = this.fingerprintOf(id);
		if (fingerprint >= 'a') this.set([packId(id), upperFirst(fingerprint)]);
	}

	/** Records that a document may be on the server, with unknown content. */
	markUnknown(id: string): void {
		this.set([packId(id), UNKNOWN]);
	}

	/** Forgets the content of a document, but not its ID, because its state on the server is not known. */
	forget(id: string): void {
		if (this.knows(id)) this.markUnknown(id);
	}

	/** Removes a document that is not on the server, or is disabled there. */
	remove(id: string): void {
		if (this.knows(id)) this.set([packId(id), '']);
	}

	/** Adds the entries of a piece that was read from the server. They do not count as changed. */
	add(body: Buffer): void {
		for (const entry of unpack(body)) this.put(entry);
	}

	set(entry: Entry): void {
		this.put(entry);
		this.changed.add(tailOf(entry[0]));
	}

	/** The IDs of all documents but those that `others` knows. */
	*ids(others = new Fingerprints()): Generator<string> {
		for (const [packedId] of this.entries())
			if (others.find(packedId).at < 0) yield unpackId(packedId);
	}

	/** The entries of one of `pieces` pieces: those whose tail modulo `pieces` is `piece`. By default, all entries. */
	*entries(piece = 0, pieces = 1): Generator<Entry> {
		for (const [tail, entries] of this.byTail)
			for (let at = 0; at < entries.length && tail % pieces === piece; at += ENTRY_BYTES)
				yield [entries.slice(at, at + ID_BYTES), fingerprintAt(entries, at)];
	}

	private fingerprintOf(id: string): string {
		const { entries, at } = this.find(packId(id));
		return at < 0 ? UNKNOWN : fingerprintAt(entries, at);
	}

	/**
	 * All entries with the tail of this ID, and the position `at` of the entry of this ID, which is -1 if there is
	 * none.
	 */
	private find(packedId: string) {
		const entries = this.byTail.get(tailOf(packedId)) ?? '';
		let at = entries.indexOf(packedId);
		while (at % ENTRY_BYTES > 0) at = entries.indexOf(packedId, at + 1);
		return { entries, at };
	}

	/** Adds an entry, and removes the earlier entry with the same ID. An empty fingerprint only removes. */
	private put([packedId, fingerprint]: Entry): void {
		const { entries, at } = this.find(packedId);
		const others = at < 0 ? [entries] : [entries.slice(0, at), entries.slice(at + ENTRY_BYTES)];
		const entry = fingerprint && packedId + fingerprint.padEnd(FINGERPRINT_BYTES);
		// `join` copies the parts. A string made with `+` would refer to them, and so keep them in memory.
		this.byTail.set(tailOf(packedId), [...others, entry].join(''));
	}
}

const fingerprintAt = (entries: string, at: number) =>
	entries.startsWith(UNKNOWN, at + ID_BYTES)
		? UNKNOWN
		: entries.slice(at + ID_BYTES, at + ENTRY_BYTES);

/** The entry of a document that was stored with this content hash and is not yet processed. */
export const storedEntry = (id: string, contentHash: string): Entry => [
	packId(id),
	contentHash.slice(0, FINGERPRINT_BYTES),
];

/** A UUID as a string with 16 characters, one per byte. Case is lost, because servers ignore the case of IDs. */
export const packId = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1');

/**
 * The last two bytes of a packed ID as a number, which decides to which piece the ID belongs. The first bytes would
 * make pieces of unequal size, because some kinds of UUID begin with the time.
 */
export const tailOf = (packedId: string) =>
	packedId.charCodeAt(ID_BYTES - 1) + 256 * packedId.charCodeAt(ID_BYTES - 2);

/** Unpacks an ID, in lower case. */
export function unpackId(packedId: string): string {
	const hex = Buffer.from(packedId, 'latin1').toString('hex');
	return hex.replace(/(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
}
