import { hash } from 'crypto';

/** Bytes of an id, of what is kept of a content, and of what notes of earlier versions keep of it. */
export const ID_BYTES = 16;
export const CONTENT_BYTES = 6;
export const OLD_CONTENT_BYTES = 8;

/**
 * What is known of a document: nothing of its content, or its content and whether the server has processed it;
 * `gone`: an earlier note knew it, and it is not to be found any more; `sent`: it is on its way, and has its content
 * only if that request was carried out.
 */
export type Standing = 'settled' | 'pending' | 'unknown' | 'gone' | 'sent';

/** Stands before a content, so that it is told from one that is still pending. */
const SETTLED = '+';
const PENDING = '-';
const SENT = '>';

/** A document of which only the id is known: whatever is on the server, it is sent again. */
const UNKNOWN = '';

/** What stands before a content that is read; what was on its way has arrived where it counts. */
const MARKS: Record<Standing, string> = {
	settled: SETTLED,
	pending: PENDING,
	sent: PENDING,
	unknown: UNKNOWN,
	gone: UNKNOWN,
};

/**
 * The documents of a source that a knowledgebase holds: of each the id, 48 bits of its content, and whether
 * the server has processed it. Kept as short texts of one byte a character, which take a fraction of the
 * memory that objects do.
 */
export class Fingerprints {
	private readonly contentById = new Map<string, string>();

	/** The keys of documents that are not as the pieces on the server have them. */
	changed = new Set<string>();

	/** How many documents are known. */
	get size(): number {
		return this.contentById.size;
	}

	/** Whether a document may be on the server. */
	knows(id: string): boolean {
		return this.contentById.has(keyOf(id));
	}

	/** Whether a document was stored with this very content. */
	has(id: string, content: string): boolean {
		const known = this.contentOf(id);
		return known !== UNKNOWN && known.slice(1) === hashOf(content);
	}

	/**
	 * Whether a document was stored with a content that is known.
	 *
	 * @param processed whether the server has to have processed it as well
	 */
	isDone(id: string, processed: boolean): boolean {
		const known = this.contentOf(id);
		return processed ? known.startsWith(SETTLED) : known !== UNKNOWN;
	}

	/** Notes what the server has accepted; it is pending from now on. */
	record(id: string, content: string): void {
		this.set(keyOf(id), PENDING + hashOf(content));
	}

	/** Notes that the server has processed what was recorded, or never will. */
	settle(id: string): void {
		const key = keyOf(id);
		const known = this.contentById.get(key);
		if (known?.startsWith(PENDING)) this.set(key, SETTLED + known.slice(1));
	}

	/**
	 * Notes that a document may be on the server, and nothing of its content.
	 *
	 * @param sent what it is sent with: it has that as soon as its request was carried out
	 */
	expect(id: string, sent?: string): void {
		this.set(keyOf(id), sent === undefined ? UNKNOWN : SENT + hashOf(sent));
	}

	/** Forgets the content of a document whose state on the server is not known. */
	forget(id: string): void {
		if (this.knows(id)) this.expect(id);
	}

	/** Forgets the contents of all documents, or of some; what was stored is still known. */
	forgetContents(keys: Iterable<string> = this.contentById.keys()): void {
		for (const key of keys) this.set(key, UNKNOWN);
	}

	/** Forgets a document that is not, or no longer, to be found on the server. */
	drop(id: string): void {
		this.remove(keyOf(id));
	}

	/** The ids of all known documents. */
	*ids(): Generator<string> {
		for (const key of this.contentById.keys()) yield idOf(key);
	}

	/** The keys of all known documents. */
	keys(): IterableIterator<string> {
		return this.contentById.keys();
	}

	/** How many bytes some documents take. */
	bytes(keys: Iterable<string>): number {
		let sum = 0;
		for (const key of keys) sum += bytesEach(this.standingOf(key));
		return sum;
	}

	/**
	 * Those of some documents that have a standing: their ids and, where they are known, their contents, one after another.
	 *
	 * @param sent the keys of those that go with the note; of others that are on their way nothing is certain
	 */
	bytesOf(standing: Standing, keys: Iterable<string>, sent?: Set<string>): Buffer {
		const standingOf = (key: string) => {
			const own = this.standingOf(key);
			return own === 'sent' && !sent?.has(key) ? 'unknown' : own;
		};
		const all = [...keys].filter((key) => standingOf(key) === standing);
		const each = bytesEach(standing);
		const bytes = Buffer.alloc(all.length * each);
		for (const [index, key] of all.entries()) {
			const at = index * each;
			bytes.write(key, at, 'latin1');
			if (each > ID_BYTES)
				bytes.write(this.contentById.get(key)?.slice(1) ?? '', at + ID_BYTES, 'latin1');
		}
		return bytes;
	}

	/**
	 * Takes up what `bytesOf` gave.
	 *
	 * @param certain whether contents count; if not, each document may be on the server in any state
	 * @param each bytes of a document
	 */
	add(standing: Standing, bytes: Buffer, certain: boolean, each = bytesEach(standing)): void {
		const mark = MARKS[standing];
		for (let at = 0; at + each <= bytes.length; at += each) {
			const key = bytes.toString('latin1', at, at + ID_BYTES);
			const end = Math.min(at + each, at + ID_BYTES + CONTENT_BYTES);
			const content = mark + bytes.toString('latin1', at + ID_BYTES, end);
			if (standing === 'gone' && certain) this.remove(key);
			else this.set(key, certain ? content : UNKNOWN);
		}
	}

	private standingOf(key: string): Standing {
		const content = this.contentById.get(key);
		if (content === undefined) return 'gone';
		if (content === UNKNOWN) return 'unknown';
		if (content.startsWith(SENT)) return 'sent';
		return content.startsWith(SETTLED) ? 'settled' : 'pending';
	}

	/** What a document was stored with; what is on its way is not stored. */
	private contentOf(id: string): string {
		const known = this.contentById.get(keyOf(id)) ?? UNKNOWN;
		return known.startsWith(SENT) ? UNKNOWN : known;
	}

	private set(key: string, content: string): void {
		this.contentById.set(key, content);
		this.changed.add(key);
	}

	private remove(key: string): void {
		if (this.contentById.delete(key)) this.changed.add(key);
	}
}

/**
 * Bytes that a document of a standing takes.
 *
 * @param contentBytes of those whose content is known
 */
export function bytesEach(standing: Standing, contentBytes = CONTENT_BYTES): number {
	return standing === 'unknown' || standing === 'gone' ? ID_BYTES : ID_BYTES + contentBytes;
}

/** The id that was asked for last, and its key: each document is asked after several times in a row. */
let last = { id: '', key: '' };

/** A UUID in its 16 bytes; either case is the same, as on servers. */
export function keyOf(id: string): string {
	if (last.id !== id)
		last = { id, key: Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1') };
	return last.key;
}

function idOf(key: string): string {
	const hex = Buffer.from(key, 'latin1').toString('hex');
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function hashOf(content: string): string {
	return hash('sha1', content, 'binary').slice(0, CONTENT_BYTES);
}
