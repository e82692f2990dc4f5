import { hash } from 'crypto';

/** Bytes of an ID, and of what is kept of a content. */
export const ID_BYTES = 16;
const CONTENT_BYTES = 6;

/** Stands before the content of a document: it is processed, or only stored. */
const PROCESSED = '+';
const STORED = '-';

/** A document of which only the ID is known: whatever the server has of it, it is sent again. */
export const UNKNOWN = '';

/** What is known of a document, by its key; `undefined`: that it was disabled. */
export type Entry = [key: string, content: string | undefined];

/** In a note, entries are ordered by what is known of them. */
const GROUPS: Array<{ bytes: number; mark: string | undefined }> = [
	{ bytes: ID_BYTES + CONTENT_BYTES, mark: PROCESSED },
	{ bytes: ID_BYTES + CONTENT_BYTES, mark: STORED },
	{ bytes: ID_BYTES, mark: UNKNOWN },
	{ bytes: ID_BYTES, mark: undefined },
];

/** Puts entries into bytes, 16 for an ID, 6 for a content, and counts those of each group. */
export function pack(entries: Iterable<Entry>): { counts: number[]; body: Buffer } {
	const groups: string[][] = GROUPS.map(() => []);
	for (const [key, content] of entries) {
		const group = GROUPS.findIndex(({ mark }) => mark === content?.slice(0, 1));
		groups[group]?.push(key + (content?.slice(1) ?? ''));
	}
	const body = Buffer.from(groups.flat().join(''), 'latin1');
	return { counts: groups.map(({ length }) => length), body };
}

/** The entries that `pack` was given. */
export function* unpack({ counts, body }: ReturnType<typeof pack>): Generator<Entry> {
	let at = 0;
	for (const [index, { bytes, mark }] of GROUPS.entries())
		for (let left = counts[index] ?? 0; left > 0; left -= 1) {
			const text = body.toString('latin1', at, (at += bytes));
			const content = mark === undefined ? undefined : mark + text.slice(ID_BYTES);
			yield [text.slice(0, ID_BYTES), content];
		}
}

/**
 * The documents of a source that a knowledgebase holds: of each the ID, 48 bits of its content, and whether the server
 * has processed it. Kept as texts of one byte a character, which take a fraction of the memory that objects do.
 */
export class Fingerprints {
	/** The keys of documents that are not as the notes on the server have them. */
	changed = new Set<string>();

	private readonly contentByKey = new Map<string, string>();

	/** How many documents are known. */
	get size(): number {
		return this.contentByKey.size;
	}

	/** Whether a document may be on the server. */
	knows(id: string): boolean {
		return this.contentByKey.has(keyOf(id));
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
		this.take([keyOf(id), storedAs(content)]);
	}

	/** Notes that the server has processed what was recorded, or never will. */
	settle(id: string): void {
		const known = this.contentOf(id);
		if (known.startsWith(STORED)) this.take([keyOf(id), PROCESSED + known.slice(1)]);
	}

	/** Notes that a document may be on the server, and nothing of its content. */
	expect(id: string): void {
		this.take([keyOf(id), UNKNOWN]);
	}

	/** Forgets the content of a document whose state on the server is not known. */
	forget(id: string): void {
		if (this.knows(id)) this.expect(id);
	}

	/** Forgets the contents of all documents; what was stored is still known. */
	forgetContents(): void {
		for (const key of this.contentByKey.keys()) this.take([key, UNKNOWN]);
	}

	/** Forgets a document that is not, or no longer, to be found on the server. */
	drop(id: string): void {
		if (this.contentByKey.delete(keyOf(id))) this.changed.add(keyOf(id));
	}

	/** Takes over what a note says of a document. */
	take([key, content = UNKNOWN]: Entry): void {
		this.contentByKey.set(key, content);
		this.changed.add(key);
	}

	/** The IDs of all known documents. */
	*ids(): Generator<string> {
		for (const key of this.contentByKey.keys()) yield idOf(key);
	}

	/** What is known of all documents, or of some. */
	*entries(keys: Iterable<string> = this.contentByKey.keys()): Generator<Entry> {
		for (const key of keys) yield [key, this.contentByKey.get(key)];
	}

	private contentOf(id: string): string {
		return this.contentByKey.get(keyOf(id)) ?? UNKNOWN;
	}
}

/** What an entry says of a document that was stored with a content. */
export const storedAs = (content: string) => STORED + hashOf(content);

/** Each document is asked after several times in a row. */
let last = { id: '', key: '' };

/** A UUID in its 16 bytes; either case is the same, as on servers. */
export function keyOf(id: string): string {
	if (last.id !== id)
		last = { id, key: Buffer.from(id.replaceAll('-', ''), 'hex').toString('latin1') };
	return last.key;
}

/** The ID, in lower case, that a key stands for. */
export function idOf(key: string): string {
	const hex = Buffer.from(key, 'latin1').toString('hex');
	return hex.replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/, '$1-$2-$3-$4-$5');
}

const hashOf = (content: string) => hash('sha1', content, 'binary').slice(0, CONTENT_BYTES);
