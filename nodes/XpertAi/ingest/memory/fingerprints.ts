import { hash } from 'crypto';

/** Bytes of an ID, and of a mark with a content hash. */
export const ID_BYTES = 16;
export const KNOWN_BYTES = 7;

/** Marks: the content is known, and the document is processed or only stored. */
const PROCESSED = '+';
const STORED = '-';
/** Only the ID is known: the document is sent again, whatever the server has. */
export const UNKNOWN = '?';
/** The document was disabled by hand. Only in the notes `by hand`. */
export const DISABLED = '0';

/** The mark and content hash of a document, by its key: the ID in 16 bytes. */
export type Entry = [key: string, known: string];

/** Packs entries into bytes: 16 for the ID, one for the mark, 6 for the content hash. */
export const pack = (entries: Iterable<Entry>) =>
	Buffer.from([...entries].flat().join(''), 'latin1');

export function* unpack(body: Buffer): Generator<Entry> {
	for (let at = 0; at < body.length; ) {
		const key = body.toString('latin1', at, (at += ID_BYTES));
		const mark = body.toString('latin1', at, (at += 1));
		const hasContent = mark === PROCESSED || mark === STORED;
		yield [key, mark + (hasContent ? body.toString('latin1', at, (at += KNOWN_BYTES - 1)) : '')];
	}
}

/** The entries of a source's documents, as strings of one byte per character: objects would take far more memory. */
export class Fingerprints {
	/** Keys of documents that differ from the notes on the server. */
	changed = new Set<string>();
	/** IDs that never count as missing from the source: they were rebuilt from names, or changed by hand. */
	readonly uncertain = new Map<string, 'disabled' | 'unknown'>();
	private readonly contentByKey = new Map<string, string>();

	get size(): number {
		return this.contentByKey.size;
	}

	/** Whether a document may be on the server. */
	knows(id: string): boolean {
		return this.contentByKey.has(packId(id));
	}

	/** Whether a document was stored with exactly this content. */
	has(id: string, content: string): boolean {
		return this.contentOf(id).slice(1) === hashOf(content);
	}

	/** Whether a document was stored with known content and, if `processed`, was also processed. */
	isDone(id: string, processed: boolean): boolean {
		const known = this.contentOf(id);
		return processed ? known.startsWith(PROCESSED) : known !== UNKNOWN;
	}

	/** Records content that the server has accepted and not yet processed. */
	record(id: string, content: string): void {
		this.set([packId(id), storedAs(content)]);
	}

	/** Records that the server has processed a document, or never will. */
	markProcessed(id: string): void {
		const known = this.contentOf(id);
		if (known.startsWith(STORED)) this.set([packId(id), PROCESSED + known.slice(1)]);
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
		for (const key of this.contentByKey.keys()) this.set([key, UNKNOWN]);
	}

	/** Removes a document that is not on the server, or cannot be found any more. */
	remove(id: string): void {
		if (this.contentByKey.delete(packId(id))) this.changed.add(packId(id));
	}

	set([key, known]: Entry): void {
		this.contentByKey.set(key, known);
		this.changed.add(key);
	}

	*ids(): Generator<string> {
		for (const key of this.contentByKey.keys()) yield unpackId(key);
	}

	*entries(keys: Iterable<string> = this.contentByKey.keys()): Generator<Entry> {
		for (const key of keys) yield [key, this.contentByKey.get(key) ?? UNKNOWN];
	}

	private contentOf(id: string): string {
		return this.contentByKey.get(packId(id)) ?? UNKNOWN;
	}
}

/** The value of an entry for a document stored with this content. */
export const storedAs = (content: string) => STORED + hashOf(content);

/** A UUID as its 16 bytes. Case is ignored, as on servers. */
export const packId = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1');

/** The ID of a key, in lower case. */
export function unpackId(key: string): string {
	const hex = Buffer.from(key, 'latin1').toString('hex');
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const hashOf = (content: string) => hash('sha1', content, 'binary').slice(0, KNOWN_BYTES - 1);
