import { hash } from 'crypto';
import { range } from 'lodash';

import { derivedId } from '../../payloads/ids';
import { packId } from './fingerprints';
import {
	isReadable,
	type MemoryNote,
	NOTE_LIMITS,
	type NotesOnServer,
	type NoteToWrite,
	orFailure,
} from './notes';

/** The displayed name of a document, and the key from which its ID is derived. Both are optional. */
export type DocumentNameAndKey = Partial<Record<'name' | 'key', string>>;

/** A document in a name note. If the document has no key, `idHash` identifies it. */
type NamedDocument = [key: string | null, name: string | null, idHash?: string];

const namesNoteNameAndTitle = (at: number) =>
	[`names ${at}`, `what * calls its documents, ${at + 1}`] as const;

/** Keeps names and keys of documents. Reports show the names. Lost document IDs are rebuilt from the keys. */
export class DocumentNames {
	/**
	 * The field `names` of the root note: how many name notes there are, whether the last one has room, and whether they
	 * contain the keys of all documents.
	 */
	summary: NonNullable<MemoryNote['names']> = { notes: 0, hasRoom: false, areAll: true };
	/** Packed IDs of documents whose names may be missing from the notes. */
	readonly unnamed = new Set<string>();
	/** Names that are not written yet, as JSON with commas in between. */
	private added = '';

	constructor(private readonly notes: NotesOnServer) {}

	/** Adds the name of a document, if the document is in `unnamed`. */
	addIfUnnamed(id: string, { name, key }: DocumentNameAndKey): void {
		if (!this.unnamed.delete(packId(id))) return;
		if (key === undefined) this.summary.areAll = false;
		const named = key === undefined ? [null, name ?? null, shortHash(id)] : [key, name ?? key];
		this.added += (this.added && ',') + JSON.stringify(named);
	}

	/**
	 * Makes a name note from the names that are not written yet. Extends the last name note if it has room.
	 *
	 * @param minLength makes no note if these names have fewer characters
	 * @returns the note to write, if any
	 * @throws NotesError if the last name note cannot be fetched
	 */
	async takeNotesToWrite(minLength = 0): Promise<NoteToWrite[]> {
		const { added, summary } = this;
		if (added === '' || added.length < minLength) return [];
		const [last = []] = summary.hasRoom ? await this.readNotes([summary.notes - 1]) : [];
		// If the last note is missing or unreadable, a new note is made.
		const at = last.length > 0 ? summary.notes - 1 : summary.notes;
		// More names may have been added during the request, so this reads `this.added` again.
		const text = `[${[...last.map((one) => JSON.stringify(one)), this.added].join(',')}]`;
		this.added = '';
		const body = await pipeThrough(Buffer.from(text), new CompressionStream('deflate-raw'));
		this.summary = { ...this.summary, notes: at + 1, hasRoom: text.length < NOTE_LIMITS.names / 2 };
		return [{ nameAndTitle: namesNoteNameAndTitle(at), header: {}, body }];
	}

	/**
	 * Returns the names of documents, by ID. Leaves out documents whose names are not known. If the name notes cannot be
	 * fetched, returns only names that are not written yet.
	 *
	 * @param ids IDs in lower case
	 */
	async of(ids: Iterable<string>): Promise<Map<string, DocumentNameAndKey>> {
		const idByHash = new Map([...ids].map((id) => [shortHash(id), id]));
		const names = new Map<string, DocumentNameAndKey>();
		if (idByHash.size === 0) return names;
		for (const [key, name, idHash] of await this.readAll()) {
			const id = idByHash.get(idHash ?? shortHash(this.idFrom(key ?? '')));
			if (id !== undefined) names.set(id, { ...(name && { name }), ...(key && { key }) });
		}
		return names;
	}

	/**
	 * Returns all documents that have a key and one of these names, by ID. The latest name of a document counts. If the name
	 * notes cannot be fetched, returns only documents whose names are not written yet.
	 */
	async findByNames(wanted: ReadonlySet<string>): Promise<Map<string, DocumentNameAndKey>> {
		const isWanted = (name: string | null): name is string => name !== null && wanted.has(name);
		const nameByKey = new Map<string, string>();
		for (const [key, name] of await this.readAll()) {
			if (key === null) continue;
			// The latest name counts, so a later name that is not wanted removes the document.
			if (isWanted(name)) nameByKey.set(key, name);
			else nameByKey.delete(key);
		}
		return new Map([...nameByKey].map(([key, name]) => [this.idFrom(key), { name, key }]));
	}

	/**
	 * Derives document IDs from the keys in the name notes. Sets `summary.areAll` to false if a name note may be
	 * missing.
	 *
	 * @param isRootLost whether the root note is lost, and with it the number of name notes
	 * @throws NotesError
	 */
	async deriveIds(isRootLost: boolean): Promise<string[]> {
		const notes = isRootLost
			? await this.readUntilMissing()
			: await this.readNotes(range(this.summary.notes));
		const isComplete = !isRootLost && notes.every((names) => names.length > 0);
		if (!isComplete) this.summary = { notes: notes.length, hasRoom: false, areAll: false };
		return notes.flat().flatMap(([key]) => (key === null ? [] : this.idFrom(key)));
	}

	/** Reads all name notes without knowing their number. Stops at the first block of missing or unreadable notes. */
	private async readUntilMissing(): Promise<NamedDocument[][]> {
		const all: NamedDocument[][] = [];
		for (;;) {
			const block = await this.readNotes(range(all.length, all.length + NOTE_LIMITS.answer));
			if (block.every((names) => names.length === 0)) return all;
			all.push(...block);
		}
	}

	/** Reads all names: those in the notes, if they can be fetched, and those that are not written yet. */
	private async readAll(): Promise<NamedDocument[]> {
		const notes = await orFailure(async () => await this.readNotes(range(this.summary.notes)));
		const added = JSON.parse(`[${this.added}]`) as NamedDocument[];
		return 'failure' in notes ? added : [...notes.flat(), ...added];
	}

	private idFrom(key: string): string {
		return derivedId(this.notes.place.idNamespace, key);
	}

	/** Reads name notes by number. A missing or unreadable note gives an empty array. */
	private async readNotes(at: number[]): Promise<NamedDocument[][]> {
		const notes = await this.notes.read(at.map(namesNoteNameAndTitle), NOTE_LIMITS.answer);
		const documents = notes.map(async (note) => {
			if (!isReadable(note)) return [];
			const text = await pipeThrough(note.body, new DecompressionStream('deflate-raw'));
			return JSON.parse(String(text)) as NamedDocument[];
		});
		return await Promise.all(documents);
	}
}

/** A hash of an ID, shortened to 60 bits to save space. */
const shortHash = (id: string) => hash('sha1', id.toLowerCase(), 'base64url').slice(0, 10);

/** Compresses or decompresses bytes with `stream`. Uses web streams, because n8n's rules allow no compression module. */
async function pipeThrough(
	bytes: Buffer,
	stream: CompressionStream | DecompressionStream,
): Promise<Buffer> {
	const output = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(stream);
	return Buffer.from(await new Response(output).arrayBuffer());
}
