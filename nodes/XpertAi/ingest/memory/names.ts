import { hash } from 'crypto';

import range from 'lodash/range';
import { z } from 'zod';

import { derivedId } from '../../payloads/derivedId';
import { packId } from './fingerprints';
import { SIZES, isReadable, orFailure } from './notes';
import type { MemoryNote, NoteName, NotesOnServer, ReadNote, WrittenNote } from './notes';

/** The name of a document for people, and the key that its ID is derived from; no key if it has an ID of its own. */
export type DocumentName = Partial<Record<'name' | 'key', string>>;

/** Documents, each with its key, its name and, if its ID is not derived from the key, a hash of the ID. */
const nameList = z.array(z.tuple([z.string().nullable(), z.string().nullable()]).rest(z.string()));

type NamedDocument = z.infer<typeof nameList>[number];

const namesNote = (at: number): NoteName => [
	`names ${at}`,
	`what … calls its documents, ${at + 1}`,
];

/** Names and keys of documents. Reports show the names; lost pieces are rebuilt from the keys, which give the IDs. */
export class Names {
	/** The name notes that the root counts. */
	counted: NonNullable<MemoryNote['names']> = { notes: 0, hasRoom: false, areAll: true };
	/** Packed IDs of documents whose names are not known. */
	readonly unnamed = new Set<string>();
	private added: NamedDocument[] = [];
	private addedLength = 0;

	constructor(private readonly notes: NotesOnServer) {}

	/** Adds the name of a document, if it is not known. */
	add(id: string, { name, key }: DocumentName): void {
		if (!this.unnamed.delete(packId(id))) return;
		if (key === undefined) this.counted = { ...this.counted, areAll: false };
		const label = name ?? key ?? null;
		const entry: NamedDocument = key === undefined ? [null, label, shortHash(id)] : [key, label];
		this.added.push(entry);
		this.addedLength += JSON.stringify(entry).length;
	}

	/** The note with the new names, if they total `minLength` characters. */
	async collect(minLength = 1): Promise<WrittenNote[]> {
		const { added, counted } = this;
		if (this.addedLength < minLength) return [];
		this.added = [];
		this.addedLength = 0;
		const all = counted.hasRoom ? [counted.notes - 1] : [];
		const read = await orFailure(async () => await this.read(all));
		const [last = []] = 'failure' in read ? [] : read;
		const at = last.length > 0 ? counted.notes - 1 : counted.notes;
		const text = JSON.stringify([...last, ...added]);
		const body = await pipeThrough(Buffer.from(text), new CompressionStream('deflate-raw'));
		this.counted = { ...this.counted, notes: at + 1, hasRoom: text.length < SIZES.names / 2 };
		return [{ note: namesNote(at), header: {}, body }];
	}

	/** Records that a note was not written: reports show its documents by ID. */
	lose(): void {
		this.counted = { ...this.counted, areAll: false };
	}

	/** The names of some documents, as far as they are known. @param ids in lower case */
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
	 * The IDs of all named documents that have a key.
	 * @param isCounted whether the root counts the notes; otherwise they are read until some are missing
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

	/** The names in some notes; empty for a note that is missing or unreadable. */
	private async read(at: number[]): Promise<NamedDocument[][]> {
		const notes = await this.notes.read(at.map(namesNote), SIZES.answer);
		return await Promise.all(notes.map(namesIn));
	}
}

/** A hash of an ID in a third of its length: 60 bits, enough to be unique. */
const shortHash = (id: string) => hash('sha1', id.toLowerCase(), 'base64url').slice(0, 10);

async function namesIn(note: ReadNote): Promise<NamedDocument[]> {
	if (!isReadable(note)) return [];
	const text = await pipeThrough(note.body, new DecompressionStream('deflate-raw'));
	return nameList.parse(JSON.parse(String(text)));
}

/** n8n's rules allow no compression module; Node.js has the web streams. */
async function pipeThrough(
	bytes: Buffer,
	stream: CompressionStream | DecompressionStream,
): Promise<Buffer> {
	const output = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(stream);
	return Buffer.from(await new Response(output).arrayBuffer());
}
