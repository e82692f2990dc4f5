import { hash } from 'crypto';

/** Bytes of an ID, and of what is known of a document with its content. */
export const ID_BYTES = 16;
export const KNOWN_BYTES = 7;

/** What is known of a document: its content, processed or only stored. */
const PROCESSED = '+';
const STORED = '-';
/** Only its ID is known: whatever the server has of it, it is sent again. */
export const UNKNOWN = '?';
/** Only in `by hand`. */
export const DISABLED = '0';

/** What is known of a document, by its key. */
export type Entry = [key: string, known: string];

/** Puts entries into bytes: 16 for an ID, one for what is known, 6 for a content. */
export const pack = (entries: Iterable<Entry>) =>
	Buffer.from([...entries].flat().join(''), 'latin1');

/** The entries that `pack` was given. */
export function* unpack(body: Buffer): Generator<Entry> {
	for (let at = 0; at < body.length; ) {
		const key = body.toString('latin1', at, (at += ID_BYTES));
		const mark = body.toString('latin1', at, (at += 1));
		const hasContent = mark === PROCESSED || mark === STORED;
		yield [key, mark + (hasContent ? body.toString('latin1', at, (at += KNOWN_BYTES - 1)) : '')];
	}
}

/**
 * The documents of a source that a knowledgebase holds: of each the ID, 48 bits of its content, and whether the server
 * has processed it. Kept as texts of one byte a character, which take a fraction of the memory that objects do.
 */
export class Fingerprints {
	/** The keys of documents that are not as the notes on the server have them. */
	changed = new Set<string>();
	/** IDs of documents that are not missed where the source does not bring them: rebuilt, or changed by hand. */
	readonly uncertain = new Map<string, 'disabled' | 'unknown'>();
	private readonly contentByKey = new Map<string, string>();

	/** How many documents are known. */
	get size(): number {
		return this.contentByKey.size;
	}

	/** Whether a document may be on the server. */
	knows(id: string): boolean {
		return this.contentByKey.has(packId(id));
	}

	/** Whether a document was stored with this very content. */
	has(id: string, content: string): boolean {
		return this.contentOf(id).slice(1) === hashOf(content);
	}

	/** Whether a document was stored with a content that is known and, if it has to be, processed. */
	isDone(id: string, processed: boolean): boolean {
		const known = this.contentOf(id);
		return processed ? known.startsWith(PROCESSED) : known !== UNKNOWN;
	}

	/** Notes what the server has accepted; it is not processed yet. */
	record(id: string, content: string): void {
		this.set([packId(id), storedAs(content)]);
	}

	/** Notes that the server has processed what was recorded, or never will. */
	markProcessed(id: string): void {
		const known = this.contentOf(id);
		if (known.startsWith(STORED)) this.set([packId(id), PROCESSED + known.slice(1)]);
	}

	/** Notes that a document may be on the server, and nothing of its content. */
	markUnknown(id: string): void {
		this.set([packId(id), UNKNOWN]);
	}

	/** Forgets the content of a document whose state on the server is not known. */
	forget(id: string): void {
		if (this.knows(id)) this.markUnknown(id);
	}

	/** Forgets the contents of all documents; what was stored is still known. */
	forgetContents(): void {
		for (const key of this.contentByKey.keys()) this.set([key, UNKNOWN]);
	}

	/** Forgets a document that is not, or no longer, to be found on the server. */
	remove(id: string): void {
		if (this.contentByKey.delete(packId(id))) this.changed.add(packId(id));
	}

	/** Takes over what a note says of a document. */
	set([key, known]: Entry): void {
		this.contentByKey.set(key, known);
		this.changed.add(key);
	}

	/** The IDs of all known documents. */
	*ids(): Generator<string> {
		for (const key of this.contentByKey.keys()) yield unpackId(key);
	}

	/** What is known of all documents, or of some. */
	*entries(keys: Iterable<string> = this.contentByKey.keys()): Generator<Entry> {
		for (const key of keys) yield [key, this.contentByKey.get(key) ?? UNKNOWN];
	}

	private contentOf(id: string): string {
		return this.contentByKey.get(packId(id)) ?? UNKNOWN;
	}
}

/** What an entry says of a document that was stored with a content. */
export const storedAs = (content: string) => STORED + hashOf(content);

/** A UUID in its 16 bytes; either case is the same, as on servers. */
export const packId = (id: string) => Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1');

/** The ID, in lower case, that a key stands for. */
export function unpackId(key: string): string {
	const hex = Buffer.from(key, 'latin1').toString('hex');
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const hashOf = (content: string) => hash('sha1', content, 'binary').slice(0, KNOWN_BYTES - 1);
