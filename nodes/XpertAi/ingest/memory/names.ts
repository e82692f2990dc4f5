import { hash } from 'crypto';

import range from 'lodash/range';
import { z } from 'zod';

import { derivedId } from '../../payloads/derivedId';
import { keyOf } from './fingerprints';
import { SIZES, isRead, orFailure } from './notes';
import type { MemoryNote, NoteName, NotesOnServer, ReadNote } from './notes';

/** What people know a document by, and what its ID is derived from; no key where it brings its own. */
export type DocumentName = Partial<Record<'name' | 'key', string>>;

/** A document: its key, its name, and what stands for its ID where that is not derived from the key. */
const entries = z.array(z.tuple([z.string().nullable(), z.string().nullable()]).rest(z.string()));

type NamedDocument = z.infer<typeof entries>[number];

const namesNote = (at: number): NoteName => [
	`names ${at}`,
	`what … calls its documents, ${at + 1}`,
];

/**
 * The names of the documents of a source, in notes to which only what is new is added. They are read where
 * documents are reported that no item brings, and where a piece of the memory is lost: a key gives its document's ID.
 */
export class Names {
	/** The notes that the root counts. */
	counted: NonNullable<MemoryNote['names']> = { notes: 0, hasRoom: false, areAll: true };
	/** The keys of documents that are known without their names. */
	readonly unnamed = new Set<string>();

	private added: NamedDocument[] = [];
	private addedLength = 0;

	constructor(private readonly notes: NotesOnServer) {}

	/** Whether anything is to be written. */
	get isDue(): boolean {
		return this.added.length > 0;
	}

	/** Whether there is enough for a note. */
	get isFull(): boolean {
		return this.addedLength >= SIZES.names;
	}

	/** Notes what a document is called, if that is not known. */
	note(id: string, { name, key }: DocumentName): void {
		if (!this.unnamed.delete(keyOf(id))) return;
		const isDerived =
			key !== undefined && derivedId(this.notes.place.owner, key) === id.toLowerCase();
		if (!isDerived) this.counted = { ...this.counted, areAll: false };
		if (name === undefined && key === undefined) return;
		const entry: NamedDocument = isDerived
			? [key, name ?? key]
			: [null, name ?? key ?? null, markOf(id)];
		this.added.push(entry);
		this.addedLength += JSON.stringify(entry).length;
	}

	/** Writes what is new. A document whose name cannot be written is reported by its ID from then on. */
	async write(): Promise<void> {
		const { added, counted } = this;
		this.added = [];
		this.addedLength = 0;
		const written = await orFailure(async () => {
			const [before = []] = counted.hasRoom ? await this.read([counted.notes - 1]) : [];
			const at = before.length > 0 ? counted.notes - 1 : counted.notes;
			const text = JSON.stringify([...before, ...added]);
			const body = await through(Buffer.from(text), new CompressionStream('deflate-raw'));
			await this.notes.write({ note: namesNote(at), facts: {}, body });
			return { notes: at + 1, hasRoom: text.length < SIZES.names / 2 };
		});
		this.counted = { ...this.counted, ...('failure' in written ? { areAll: false } : written) };
	}

	/** What some documents are called, as far as that is known; IDs are in lower case. */
	async of(ids: Iterable<string>): Promise<Map<string, DocumentName>> {
		const byMark = new Map([...ids].map((id) => [markOf(id), id]));
		const called = new Map<string, DocumentName>();
		const all = byMark.size > 0 ? range(this.counted.notes) : [];
		const read = await orFailure(async () => await this.read(all));
		for (const [key, name, mark] of 'failure' in read ? [] : read.flat()) {
			const id = byMark.get(mark ?? markOf(derivedId(this.notes.place.owner, key ?? '')));
			if (id !== undefined) called.set(id, { ...(name && { name }), ...(key && { key }) });
		}
		return called;
	}

	/** The IDs of all named documents that have a key; where the root does not count the notes, until some are missing. */
	async derivedIds(isCounted: boolean): Promise<string[]> {
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

	/** The names in some notes; none in one that is not there or cannot be read. */
	private async read(at: number[]): Promise<NamedDocument[][]> {
		const notes = await this.notes.read(at.map(namesNote), SIZES.answer);
		return await Promise.all(notes.map(namesIn));
	}
}

/** Stands for an ID in a third of its length: 60 bits, enough to tell it from all others. */
const markOf = (id: string) => hash('sha1', id.toLowerCase(), 'base64url').slice(0, 10);

async function namesIn(note: ReadNote): Promise<NamedDocument[]> {
	if (!isRead(note)) return [];
	const text = await through(note.body, new DecompressionStream('deflate-raw'));
	return entries.parse(JSON.parse(String(text)));
}

/** n8n's rules allow no module for compression; Node has the streams of the web. */
async function through(
	bytes: Buffer,
	stream: CompressionStream | DecompressionStream,
): Promise<Buffer> {
	const passed = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(stream);
	return Buffer.from(await new Response(passed).arrayBuffer());
}
