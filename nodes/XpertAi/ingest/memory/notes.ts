import { hash } from 'crypto';

import { chunk, pick, range, sumBy } from 'lodash';
import { z } from 'zod';

import { derivedId } from '../../payloads/common';
import type { Failure } from '../../transport/failure';
import { OWN_NOTE } from '../../transport/sanitize';
import { type KnowledgebaseRoutes, fetchStatuses, listWith } from '../answers';
import { type Entry, pack, packId } from './fingerprints';

/** The routes of the memory. The server returns the text of a note as `processMsg` in the status of its document. */
export type MemoryRoutes = Pick<KnowledgebaseRoutes, 'send' | 'statusPath' | 'storePath'>;

/** The source that a memory belongs to, and the knowledgebase that holds the memory. */
export interface MemoryPlace {
	knowledgebaseId: string;
	/** Identifies the source within the knowledgebase. */
	source: string;
	/** The name of the source that people see. */
	title: string;
	/** The ID of a document is derived from this owner and the key of the document. */
	owner: string;
}

/**
 * Names a note. The ID of the note is derived from `name` and the source. The knowledgebase shows `title`, in which `…`
 * stands for the title of the source.
 */
export type NoteName = readonly [name: string, title: string];

const count = z.number().int().min(0);

const headerSchema = z.object({
	source: z.string(),
	/** Turn and lease: identifies one write of the note. Begins with the `leaseOwnerId` of the run. */
	writeId: z.string().optional(),
	/** Number of the run that wrote the note; in the root, number of the last merged run. */
	run: count.default(0),
	/**
	 * Lease: `by` and `since` describe its holder, and `ended` says whether it was released. `sent` is the number of the
	 * last run that began to send, and `root` is the run number in the root.
	 */
	lease: z
		.object({ by: z.string(), since: z.string(), ended: z.boolean(), sent: count, root: count })
		.optional(),
	/** Root: whether the last run also started the processing of its documents. */
	processed: z.boolean().optional(),
	/** Root: the number of pieces. */
	pieces: count.default(0),
	/**
	 * Root: `notes` is the number of name notes, `hasRoom` says whether the last of them has room, and `areAll` whether
	 * the IDs of all documents can be derived from them.
	 */
	names: z.object({ notes: count, hasRoom: z.boolean(), areAll: z.boolean() }).optional(),
	/** Root: the start time of the run that found that documents were lost. */
	lost: z.string().optional(),
	/** Page: the numbers of pages of the same run that may not be on the server. */
	open: z.array(count).optional(),
});

/** A note that a source keeps on the server beside its documents. */
export type MemoryNote = z.infer<typeof headerSchema> & { body: Buffer };

/**
 * A note that was read; `undefined` if the server does not have it. `damaged`: its text cannot be read, for example
 * because somebody started the processing of its document, and the server then overwrote the text.
 */
export type ReadNote = MemoryNote | 'damaged' | undefined;

export const isReadable = (note: ReadNote): note is MemoryNote => typeof note === 'object';

/** A note to be written. Its body is made from `entries`, unless `body` is given. */
export interface WrittenNote {
	note: NoteName;
	header: Omit<z.input<typeof headerSchema>, 'source'>;
	entries?: Iterable<Entry>;
	body?: Buffer;
}

/** The beginning of every note: a prefix, and the version of the format. */
const BEGINNING = `${OWN_NOTE}1`;

/**
 * Sizes and limits. Tests set lower values.
 * `request`: characters of notes in one request (proxies take 1 MiB).
 * `answer`: pieces, or notes of names, in one answer.
 * `piece`: average number of documents in a piece, whose note then has 61 KB.
 * `names`: characters of new names, before compression, that are enough for a note.
 * `pages`: pages of the journal that are read at a time.
 */
export const SIZES = { request: 512 * 1024, answer: 8, piece: 2000, names: 128 * 1024, pages: 32 };

/** Thrown if notes cannot be read or written. */
export class NotesFailed extends Error {
	constructor(readonly failure: Failure) {
		super(failure.reason);
	}
}

/**
 * Runs work that reads or writes notes.
 *
 * @returns the result of the work, or why notes could not be read or written
 * @throws any error other than NotesFailed
 */
export async function orFailure<T>(work: () => Promise<T>): Promise<T | { failure: Failure }> {
	return await work().catch((caught: unknown) => {
		if (caught instanceof NotesFailed) return { failure: caught.failure };
		throw caught;
	});
}

/** Reads and writes the notes of a source. Notes are disabled documents, so assistants do not find them. */
export class NotesOnServer {
	/** ID of a document that is certainly on the server. An answer without it is rejected. */
	requiredId?: string;

	constructor(
		readonly place: MemoryPlace,
		private readonly routes: MemoryRoutes,
	) {}

	idOf([name]: NoteName): string {
		return derivedId(this.place.knowledgebaseId, `n8n ${name} of ${this.place.source}`);
	}

	/**
	 * Reads notes, in the order of `names`. A note that is not on the server is `undefined`.
	 *
	 * @param atOnce maximum number of notes in one answer
	 * @throws NotesFailed
	 */
	async read(names: NoteName[], atOnce = names.length): Promise<ReadNote[]> {
		const notes: ReadNote[] = [];
		// The signal is left out: it would end the reading of a stopped execution early, and notes would seem to be
		// missing.
		const routes = pick(this.routes, 'send', 'statusPath');
		for (const part of chunk(names, atOnce)) {
			const ids = part.map((name) => this.idOf(name));
			// With `requiredId`, the empty answer of a proxy is a failure, and does not mean that nothing is stored.
			const { statuses, failure } = await fetchStatuses(ids, routes, this.requiredId);
			if (failure) throw new NotesFailed(failure);
			notes.push(...ids.map((id) => this.parseNote(statuses.get(id)?.processMsg ?? undefined)));
		}
		return notes;
	}

	/**
	 * Writes notes in the order given, in as few requests as possible.
	 *
	 * @throws NotesFailed
	 */
	async write(...notes: WrittenNote[]): Promise<void> {
		const { send, storePath: path } = this.routes;
		let rows: Array<ReturnType<NotesOnServer['row']>> = [];
		const store = async () => {
			const schema = listWith(rows.map(({ id }) => id));
			const body = JSON.stringify(rows);
			const outcome = await send({ method: 'POST', path, body, schema });
			if (!outcome.ok) throw new NotesFailed(outcome.failure);
			rows = [];
		};
		for (const written of notes) {
			const row = this.row(written);
			const isFull = sumBy([...rows, row], 'processMsg.length') > SIZES.request;
			if (rows.length > 0 && isFull) await store();
			rows.push(row);
		}
		await store();
	}

	/** Makes the document that holds a note. */
	row({ note, header, entries = [], body = pack(entries) }: WrittenNote) {
		const { source, title } = this.place;
		const head = Buffer.from(JSON.stringify({ ...header, source }));
		const text = [head, body].map((part) => part.toString('base64')).join(':');
		return {
			id: this.idOf(note),
			name: `n8n: ${note[1].replace('…', () => title)} (do not process)`,
			disabled: true,
			processMsg: `${BEGINNING}:${checksum(text)}:${text}`,
		};
	}

	private parseNote(text?: string): ReadNote {
		// Without a text, there is no note: a server may list a document that it does not have.
		if (text === undefined) return undefined;
		const [beginning, sum, ...parts] = text.split(':');
		if (beginning !== BEGINNING || sum !== checksum(parts.join(':'))) return 'damaged';
		// The checksum proves that this node wrote the note, so its header is valid JSON.
		const [header, body] = parts.map((part) => Buffer.from(part, 'base64'));
		const { data } = headerSchema.safeParse(JSON.parse(String(header)));
		return data?.source === this.place.source && body ? { ...data, body } : 'damaged';
	}
}

const checksum = (text: string) => hash('sha256', text).slice(0, 32);

/**
 * The name of a document that people see, and the key from which its ID is derived. The key is unset if the document
 * came with its own ID.
 */
export type DocumentName = Partial<Record<'name' | 'key', string>>;

/** A document in a note of names. If it has no key, a hash of its ID identifies it. */
type NamedDocument = [key: string | null, name: string | null, idHash?: string];

const namesNote = (at: number) => [`names ${at}`, `what … calls its documents, ${at + 1}`] as const;

/**
 * The names and keys of documents. Reports show the names. The keys serve to rebuild lost pieces, because IDs are
 * derived from keys.
 */
export class Names {
	/** What the root says about the notes of names. */
	counted: NonNullable<MemoryNote['names']> = { notes: 0, hasRoom: false, areAll: true };
	/** Packed IDs of documents whose names must still be added. */
	readonly unnamed = new Set<string>();
	/** Names to be written, each as JSON, so that their length is known. */
	private added: string[] = [];

	constructor(private readonly notes: NotesOnServer) {}

	/** Adds the name of a document that is in `unnamed`. Does nothing for other documents. */
	add(id: string, { name, key }: DocumentName): void {
		if (!this.unnamed.delete(packId(id))) return;
		if (key === undefined) this.counted.areAll = false;
		const named = key === undefined ? [null, name ?? null, shortHash(id)] : [key, name ?? key];
		this.added.push(JSON.stringify(named));
	}

	/**
	 * Moves the added names into a note to be written. Returns no note if there are no names, or if they have fewer
	 * than `minLength` characters.
	 */
	async collect(minLength = 0): Promise<WrittenNote[]> {
		const { added, counted } = this;
		if (added.length === 0 || sumBy(added, 'length') < minLength) return [];
		const [last = []] = counted.hasRoom ? await this.read([counted.notes - 1]) : [];
		const at = last.length > 0 ? counted.notes - 1 : counted.notes;
		const text = `[${[...last.map((one) => JSON.stringify(one)), ...this.added].join(',')}]`;
		this.added = [];
		const body = await pipeThrough(Buffer.from(text), new CompressionStream('deflate-raw'));
		this.counted = { ...this.counted, notes: at + 1, hasRoom: text.length < SIZES.names / 2 };
		return [{ note: namesNote(at), header: {}, body }];
	}

	/**
	 * The names of some documents, by ID. Documents whose names are unknown or cannot be read are left out.
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
	 * The IDs of all documents whose keys are in notes of names. If any of these notes is missing, or may be, sets
	 * `counted.areAll` to false.
	 *
	 * @param isCounted whether `counted` comes from the root; if not, notes are read until no more are found
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

	/** The names in some notes. A note that is missing or unreadable has none. */
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

/** A hash of an ID in 10 characters (60 bits), long enough to be unique. */
const shortHash = (id: string) => hash('sha1', id.toLowerCase(), 'base64url').slice(0, 10);

type Deflating = CompressionStream | DecompressionStream;

/** Compresses or decompresses with web streams, because n8n's rules do not allow a compression module. */
async function pipeThrough(bytes: Buffer, stream: Deflating): Promise<Buffer> {
	const output = new Blob([new Uint8Array(bytes)]).stream().pipeThrough(stream);
	return Buffer.from(await new Response(output).arrayBuffer());
}
