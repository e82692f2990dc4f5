import { hash } from 'crypto';
import { range } from 'lodash';

import { derivedId } from '../../payloads/ids';
import { packId } from './fingerprints';
import {
	isReadable,
	type MemoryNote,
	NotesOnServer,
	orFailure,
	SIZES,
	type WrittenNote,
} from './notes';

/** The displayed name of a document, and the key from which its ID is derived. Both are optional. */
export type DocumentName = Partial<Record<'name' | 'key', string>>;

/** A document in a name note. If the document has no key, `idHash` identifies it. */
type NamedDocument = [key: string | null, name: string | null, idHash?: string];

const namesNote = (at: number) => [`names ${at}`, `what * calls its documents, ${at + 1}`] as const;

/** Keeps names and keys of documents. Reports show the names. Lost document IDs are rebuilt from the keys. */
export class Names {
	/** The field `names` of the root note. */
	counted: NonNullable<MemoryNote['names']> = { notes: 0, hasRoom: false, areAll: true };
	/** Packed IDs of documents whose names may be missing from the notes. */
	readonly unnamed = new Set<string>();
	/** Names that are not written yet, as JSON with commas in between. */
	private added = '';

	constructor(private readonly notes: NotesOnServer) {}

	/** Adds the name of a document, if the document is in `unnamed`. */
	add(id: string, { name, key }: DocumentName): void {
		if (!this.unnamed.delete(packId(id))) return;
		if (key === undefined) this.counted.areAll = false;
		const named = key === undefined ? [null, name ?? null, shortHash(id)] : [key, name ?? key];
		this.added += (this.added && ',') + JSON.stringify(named);
	}

	/** Makes a name note from `added`. Makes no note if these names have fewer than `minLength` characters in total. */
	async collect(minLength = 0): Promise<WrittenNote[]> {
		const { added, counted } = this;
		if (added === '' || added.length < minLength) return [];
		const [last = []] = counted.hasRoom ? await this.read([counted.notes - 1]) : [];
		const at = last.length > 0 ? counted.notes - 1 : counted.notes;
		const text = `[${[...last.map((one) => JSON.stringify(one)), this.added].join(',')}]`;
		this.added = '';
		const body = await pipeThrough(Buffer.from(text), new CompressionStream('deflate-raw'));
		this.counted = { ...this.counted, notes: at + 1, hasRoom: text.length < SIZES.names / 2 };
		return [{ note: namesNote(at), header: {}, body }];
	}

	/**
	 * Returns the known names of documents, by ID.
	 *
	 * @param ids IDs in lower case
	 */
	async of(ids: Iterable<string>): Promise<Map<string, DocumentName>> {
		const byHash = new Map([...ids].map((id) => [shortHash(id), id]));
		const names = new Map<string, DocumentName>();
		const all = byHash.size > 0 ? range(this.counted.notes) : [];
		const read = await orFailure(async () => await this.read(all));
		for (const [key, name, idHash] of 'failure' in read ? [] : read.flat()) {
			const id = byHash.get(idHash ?? shortHash(derivedId(this.notes.place.owner, key ?? '')));
			if (id !== undefined) names.set(id, { ...(name && { name }), ...(key && { key }) });
		}
		return names;
	}

	/**
	 * Derives document IDs from the keys in the name notes. Sets `counted.areAll` to false if a name note may be
	 * missing.
	 *
	 * @param isCounted whether the number of name notes is known from the root note
	 * @throws NotesFailed
	 */
	async ids(isCounted: boolean): Promise<string[]> {
		const all = isCounted ? await this.read(range(this.counted.notes)) : [];
		for (let isMore = !isCounted; isMore; ) {
			const read = await this.read(range(all.length, all.length + SIZES.answer));
			isMore = read.some((names) => names.length > 0);
			if (isMore) all.push(...read);
		}
		const isWhole = isCounted && all.every((names) => names.length > 0);
		if (!isWhole) this.counted = { notes: all.length, hasRoom: false, areAll: false };
		const keys = all.flat().flatMap(([key]) => key ?? []);
		return keys.map((key) => derivedId(this.notes.place.owner, key));
	}

	/** Reads name notes by number. A missing or unreadable note gives an empty array. */
	private async read(at: number[]): Promise<NamedDocument[][]> {
		const notes = await this.notes.read(at.map(namesNote), SIZES.answer);
		const names = notes.map(async (note) => {
			if (!isReadable(note)) return [];
			const text = await pipeThrough(note.body, new DecompressionStream('deflate-raw'));
			return JSON.parse(String(text)) as NamedDocument[];
		});
		return await Promise.all(names);
	}
}

/** A hash of an ID, shortened to 60 bits to save space. */
const shortHash = (id: string) => hash('sha1', id.toLowerCase(), 'base64url').slice(0, 10);

type Deflating = CompressionStream | DecompressionStream;

/** Compresses or decompresses bytes. Uses web streams, because n8n's rules allow no compression module. */
async function pipeThrough(bytes: Buffer, stream: Deflating): Promise<Buffer> {
	const output = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(stream);
	return Buffer.from(await new Response(output).arrayBuffer());
}
