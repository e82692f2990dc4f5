import { createHash } from 'crypto';

/** Bytes of an id, and of what is kept of a content. */
export const ID_BYTES = 16;
export const CONTENT_BYTES = 8;

/** What is known of a document: nothing of its content, or its content and whether the server has processed it. */
export type Standing = 'settled' | 'pending' | 'unknown';

/** Stands before a content, so that it is told from one that is still pending. */
const SETTLED = '+';
const PENDING = '-';

/** A document of which only the id is known: whatever is on the server, it is sent again. */
const UNKNOWN = '';

/**
 * The documents of a source that a knowledgebase holds: of each the id, 64 bits of its content, and whether
 * the server has processed it. Kept as short texts of one byte a character, which take a fraction of the
 * memory that objects do.
 */
export class Fingerprints {
	private readonly contentById = new Map<string, string>();

	/** Grows with each change, to tell whether there was one. */
	changes = 0;

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
		return this.contentById.get(keyOf(id))?.slice(1) === hashOf(content);
	}

	/**
	 * Whether a document was stored with a content that is known.
	 *
	 * @param processed whether the server has to have processed it as well
	 */
	isDone(id: string, processed: boolean): boolean {
		const known = this.contentById.get(keyOf(id)) ?? UNKNOWN;
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

	/** Notes that a document may be on the server, and nothing of its content. */
	expect(id: string): void {
		this.set(keyOf(id), UNKNOWN);
	}

	/** Forgets the content of a document whose state on the server is not known. */
	forget(id: string): void {
		if (this.knows(id)) this.expect(id);
	}

	/** Forgets the contents of all documents; what was stored is still known. */
	forgetContents(): void {
		for (const key of this.contentById.keys()) this.set(key, UNKNOWN);
	}

	/** Forgets a document that is not, or no longer, to be found on the server. */
	drop(id: string): void {
		if (this.contentById.delete(keyOf(id))) this.changes += 1;
	}

	/** The ids of all known documents. */
	*ids(): Generator<string> {
		for (const key of this.contentById.keys()) yield idOf(key);
	}

	/** The documents of a standing: their ids and, where they are known, their contents, one after another. */
	bytesOf(standing: Standing): Buffer {
		const all = [...this.contentById].filter(([, content]) => standingOf(content) === standing);
		const bytes = Buffer.alloc(all.length * bytesEach(standing));
		let at = 0;
		for (const [key, content] of all) {
			at += bytes.write(key, at, 'latin1');
			at += bytes.write(content.slice(1), at, 'latin1');
		}
		return bytes;
	}

	/** Reads what `bytesOf` gave. */
	add(standing: Standing, bytes: Buffer): void {
		const each = bytesEach(standing);
		const mark = { settled: SETTLED, pending: PENDING, unknown: UNKNOWN }[standing];
		for (let at = 0; at + each <= bytes.length; at += each) {
			const key = bytes.toString('latin1', at, at + ID_BYTES);
			this.set(key, mark + bytes.toString('latin1', at + ID_BYTES, at + each));
		}
	}

	private set(key: string, content: string): void {
		this.contentById.set(key, content);
		this.changes += 1;
	}
}

/** Bytes that a document of a standing takes. */
export function bytesEach(standing: Standing): number {
	return standing === 'unknown' ? ID_BYTES : ID_BYTES + CONTENT_BYTES;
}

function standingOf(content: string): Standing {
	if (content === UNKNOWN) return 'unknown';
	return content.startsWith(SETTLED) ? 'settled' : 'pending';
}

/** A UUID in its 16 bytes; either case is the same, as on servers. */
function keyOf(id: string): string {
	return Buffer.from(id.replace(/-/g, ''), 'hex').toString('latin1');
}

function idOf(key: string): string {
	const hex = Buffer.from(key, 'latin1').toString('hex');
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

function hashOf(content: string): string {
	return createHash('sha1').update(content).digest().toString('latin1', 0, CONTENT_BYTES);
}
