/** Bytes of a packed ID, and of a fingerprint: its mark, and the beginning of a hash. */
const ID_BYTES = 16;
export const FINGERPRINT_BYTES = 7;

/** The mark of a content hash says what the hash was made of; a capital in a fingerprint, that the document is processed. */
export const MARKS = { content: 'c', version: 'v' };
/** Only the ID is known: the document is sent again, whatever the server has. */
export const UNKNOWN = '?';

/** A document: its ID in 16 bytes, and its fingerprint. */
export type Entry = [packedId: string, fingerprint: string];

/** Packs entries into bytes. */
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

/** The entries of a source's documents, as strings of one byte per character: objects would take far more memory. */
export class Fingerprints {
	/** Tails of the packed IDs of documents that differ from the notes on the server. */
	changed = new Set<number>();
	/** IDs that were rebuilt from names: these may be of documents that were disabled long ago. */
	readonly rebuilt = new Set<string>();
	private readonly byPackedId = new Map<string, string>();

	get size(): number {
		return this.byPackedId.size;
	}

	/** Whether a document may be on the server. */
	knows(id: string): boolean {
		return this.byPackedId.has(packId(id));
	}

	/** Whether a document was stored with exactly this content. */
	has(id: string, contentHash: string): boolean {
		const fingerprint = this.fingerprintOf(id);
		return fingerprint.charAt(0).toLowerCase() + fingerprint.slice(1) === keptOf(contentHash);
	}

	/** Whether the fingerprint of a document has this mark. */
	isOf(id: string, mark: string): boolean {
		return this.fingerprintOf(id).charAt(0).toLowerCase() === mark;
	}

	/** Whether a document was stored with known content and, if `processed`, was also processed. */
	isDone(id: string, processed: boolean): boolean {
		const fingerprint = this.fingerprintOf(id);
		return fingerprint !== UNKNOWN && (!processed || fingerprint < 'a');
	}

	/** Records that the server has processed a document, or never will. */
	markProcessed(id: string): void {
		const fingerprint = this.fingerprintOf(id);
		if (fingerprint >= 'a')
			this.set([packId(id), fingerprint.charAt(0).toUpperCase() + fingerprint.slice(1)]);
	}

	/** Records that a document may be on the server, with unknown content. */
	markUnknown(id: string): void {
		this.set([packId(id), UNKNOWN]);
	}

	/** Forgets the content of a document whose state on the server is not known. */
	forget(id: string): void {
		if (this.knows(id)) this.markUnknown(id);
	}

	/** Forgets the contents of all documents, but not that they were stored. */
	forgetContents(): void {
		for (const packedId of this.byPackedId.keys()) this.set([packedId, UNKNOWN]);
	}

	/** Removes a document that is not on the server, or cannot be found any more. */
	remove(id: string): void {
		if (this.byPackedId.delete(packId(id))) this.changed.add(tailOf(packId(id)));
	}

	set([packedId, fingerprint]: Entry): void {
		this.byPackedId.set(packedId, fingerprint);
		this.changed.add(tailOf(packedId));
	}

	*ids(): Generator<string> {
		for (const packedId of this.byPackedId.keys()) yield unpackId(packedId);
	}

	*entries(packedIds: Iterable<string> = this.byPackedId.keys()): Generator<Entry> {
		for (const packedId of packedIds) yield [packedId, this.byPackedId.get(packedId) ?? UNKNOWN];
	}

	private fingerprintOf(id: string): string {
		return this.byPackedId.get(packId(id)) ?? UNKNOWN;
	}
}

/** What a fingerprint keeps of a content hash, whose bytes are characters. */
const keptOf = (contentHash: string) => contentHash.slice(0, FINGERPRINT_BYTES);

/** The entry of a document stored with this content, and not yet processed. @param hash the content hash */
export const storedEntry = (id: string, hash: string): Entry => [packId(id), keptOf(hash)];

/** The ID that was packed last: an ID is often needed several times in a row. */
let lastPacked: [id: string, packedId: string] = ['', ''];

/** A UUID as its 16 bytes. Case is ignored, as on servers. */
export function packId(id: string): string {
	if (id !== lastPacked[0])
		lastPacked = [id, Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1')];
	return lastPacked[1];
}

/** The last two bytes of a packed ID as a number. They decide on its piece; some IDs begin with the time. */
export const tailOf = (packedId: string) =>
	packedId.charCodeAt(ID_BYTES - 1) + 256 * packedId.charCodeAt(ID_BYTES - 2);

/** The ID in lower case. */
export function unpackId(packedId: string): string {
	const hex = Buffer.from(packedId, 'latin1').toString('hex');
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}
