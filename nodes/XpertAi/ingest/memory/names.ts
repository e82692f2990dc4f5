import { hash } from 'crypto';

import range from 'lodash/range';
import { z } from 'zod';

import { derivedId } from '../../payloads/derivedId';
import type { Failure } from '../../transport/failure';
import type { Fingerprints } from './fingerprints';
import { deflated, inflated } from './deflated';
import type { NoteName, NotesOnServer, ReadNote } from './notesOnServer';
import { SIZES } from './sizes';

/** What people know a document by. */
export interface DocumentName {
	name?: string;
	/** What its id is made of; none where it brings its own. */
	key?: string;
}

/** How many notes of names there are, and whether the last one has room for more. */
export interface NameNotes {
	notes: number;
	hasRoom: boolean;
}

/** A document: its key, its name, and what stands for its id where that is not made of the key. */
const entries = z.array(z.tuple([z.string().nullable(), z.string().nullable()]).rest(z.string()));

type Entry = z.infer<typeof entries>[number];

const noteOf = (at: number): NoteName => ({
	name: `names ${at}`,
	title: `n8n: what … calls its documents, ${at + 1}`,
});

/** Characters of an entry beside its words. */
const FRAME = 8;

/**
 * The names of the documents of a source, in notes to which only what is new is added. They are read where
 * something is told of documents that no item brings, and what is lost of them is told by its id.
 */
export class Names {
	private fresh: Entry[] = [];

	private freshLength = 0;

	/**
	 * @param owner what ids are made of beside the key
	 * @param lies the notes that the memory knows of; the caller keeps what `write` gives
	 */
	constructor(
		private readonly notes: NotesOnServer,
		private readonly known: Fingerprints,
		private readonly owner: string,
		public lies: NameNotes = { notes: 0, hasRoom: false },
	) {}

	/** Whether anything is to be written. */
	get isDue(): boolean {
		return this.fresh.length > 0;
	}

	/** Whether there is enough for a note. */
	get isFull(): boolean {
		return this.freshLength >= SIZES.names;
	}

	/** Notes what a document is called. */
	add(id: string, { name, key }: DocumentName): void {
		if (name === undefined && key === undefined) return;
		const isMade = key !== undefined && derivedId(this.owner, key) === id.toLowerCase();
		const entry: Entry = [isMade ? key : null, name ?? key ?? null];
		if (!isMade) entry.push(markOf(id));
		this.fresh.push(entry);
		for (const word of entry) this.freshLength += (word?.length ?? 0) + FRAME;
	}

	/** Writes what is new. What cannot be written is told by its id from then on. */
	async write(): Promise<Failure | undefined> {
		const { lies } = this;
		const added = this.fresh;
		this.fresh = [];
		this.freshLength = 0;
		const last = lies.hasRoom ? await this.read(lies.notes - 1, lies.notes) : undefined;
		const before = last?.[0] ?? [];
		const at = before.length > 0 ? lies.notes - 1 : lies.notes;
		const all = [...before, ...added];
		const text = JSON.stringify(all);
		const body = await deflated(text);
		const facts = { mark: `names ${at}` };
		const written = await this.notes.write({ note: noteOf(at), facts, body }, this.known);
		if ('failure' in written) return written.failure;
		this.lies = { notes: at + 1, hasRoom: text.length < SIZES.names / 2 };
		return undefined;
	}

	/**
	 * What some documents are called, as far as that is known.
	 *
	 * @param ids in lower case
	 */
	async of(ids: Iterable<string>, witness?: string): Promise<Map<string, DocumentName>> {
		const wanted = new Set(ids);
		const called = new Map<string, DocumentName>();
		if (wanted.size === 0) return called;
		const byMark = new Map([...wanted].map((id) => [markOf(id), id]));
		for (const note of await this.read(0, this.lies.notes, witness))
			for (const [key, name, own = ''] of note) {
				// Earlier versions have noted the id itself.
				const id =
					byMark.get(own) ?? (key === null ? own.toLowerCase() : derivedId(this.owner, key));
				if (wanted.has(id)) called.set(id, { ...(name && { name }), ...(key && { key }) });
			}
		return called;
	}

	private async read(from: number, to: number, witness?: string): Promise<Entry[][]> {
		const read = await this.notes.readMany(range(from, to).map(noteOf), witness);
		return 'failure' in read ? [] : await Promise.all(read.notes.map(entriesOf));
	}
}

/** Stands for an id in a third of its length: enough to tell it from all others. */
function markOf(id: string): string {
	return hash('sha1', id.toLowerCase(), 'base64url').slice(0, MARK_LENGTH);
}

/** 60 bits. */
const MARK_LENGTH = 10;

async function entriesOf(note: ReadNote): Promise<Entry[]> {
	if (typeof note !== 'object') return [];
	const text = await inflated(note.body);
	return text === undefined ? [] : (entries.safeParse(JSON.parse(text)).data ?? []);
}
