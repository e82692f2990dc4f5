import { hash } from 'crypto';
import { chunk, pick, sumBy } from 'lodash';
import { z } from 'zod';

import { derivedId } from '../../payloads/ids';
import type { Failure } from '../../transport/failure';
import { MEMORY_NOTE_PREFIX } from '../../transport/cleanAnswer';
import { documentListSchema } from '../documentList';
import type { KnowledgebaseRoutes } from '../../transport/knowledgebaseRoutes';
import { fetchStatuses } from '../statuses';
import { type FingerprintEntry, packEntries } from './fingerprints';

/** The routes that read and write notes. The text of a note is the `processMsg` of a document. */
export type MemoryRoutes = Pick<KnowledgebaseRoutes, 'send' | 'statusPathOf' | 'storePath'>;

/** A source, and the knowledgebase that keeps the memory of this source. */
export interface MemoryPlace {
	knowledgebaseId: string;
	/** Identifies the source within the knowledgebase. */
	source: string;
	/** The name of the source, as shown to users. */
	title: string;
	/** The ID of a document is derived from this value and the key of the document. */
	idNamespace: string;
}

/** The ID of a note is derived from `name` and the source. Users see `title`, with the source in place of `*`. */
export type NoteNameAndTitle = readonly [name: string, title: string];

const counterSchema = z.number().int().min(0);

const headerSchema = z.object({
	source: z.string(),
	/** In the note `turn`: the ID of the run (`leaseOwnerId`). In the note `lease`: this ID, and a number per write. */
	writeId: z.string().optional(),
	/**
	 * In the note `lease` and in journal pages: number of the run that wrote the note. In the root note: number of the last
	 * run that the memory includes. 0 in all other notes.
	 */
	run: counterSchema.default(0),
	/**
	 * The state of the lease, in the note `lease`.
	 * `by`, `since`: description and start time of the run that holds the lease.
	 * `ended`: whether the lease has been released.
	 * `sent`: number of the last run that began to send.
	 * `root`: the `run` of the root note.
	 */
	lease: z
		.object({
			by: z.string(),
			since: z.string(),
			ended: z.boolean(),
			sent: counterSchema,
			root: counterSchema,
		})
		.optional(),
	/** In the root note: whether the last run started the processing of documents. */
	processed: z.boolean().optional(),
	/** In the root note: number of entries in each piece. A piece is a note with document entries. */
	pieces: z.array(counterSchema).default([]),
	/**
	 * In the root note: facts about the name notes, which contain names and keys of documents.
	 * `notes`: number of name notes.
	 * `hasRoom`: whether the last name note has room.
	 * `areAll`: whether the name notes contain the keys of all documents.
	 */
	names: z.object({ notes: counterSchema, hasRoom: z.boolean(), areAll: z.boolean() }).optional(),
	/**
	 * In the root note: a loss of document IDs.
	 * `at`: start time of the run that detected the loss.
	 * `count`: the maximum number of lost IDs. Not set if unknown.
	 */
	lost: z.object({ at: z.string(), count: counterSchema.optional() }).optional(),
	/**
	 * In the root note: what the first run found on the server when it looked up its first documents. Kept until a run
	 * has told the user.
	 * `stored`: how many of these documents were stored before the source had a memory.
	 * `twice`: how many of these documents have a processing status other than `none` under the ID that they would have
	 * without a source name. Counted separately from `stored`.
	 */
	unsaid: z.object({ stored: counterSchema, twice: counterSchema }).optional(),
	/** In a journal page: numbers of the pages that the server may not have stored. */
	open: z.array(counterSchema).optional(),
});

export type MemoryNote = z.infer<typeof headerSchema> & { body: Buffer };

/**
 * A note as read from the server.
 * `undefined`: the server does not have the note.
 * `damaged`: the text is not valid, for example because a user processed the note like a document.
 */
export type NoteReadResult = MemoryNote | 'damaged' | undefined;

export const isReadable = (note: NoteReadResult): note is MemoryNote => typeof note === 'object';

/** A note to be written. If `body` is unset, the body is made from `entries`. */
export interface NoteToWrite {
	nameAndTitle: NoteNameAndTitle;
	header: Omit<z.input<typeof headerSchema>, 'source'>;
	entries?: Iterable<FingerprintEntry>;
	body?: Buffer;
}

/** The version of the format of notes. The text of a note begins with `MEMORY_NOTE_PREFIX`, followed by this version. */
const NOTE_VERSION = 1;

/**
 * Sizes and limits. Tests set lower values.
 * `request`: maximum characters of notes in one request. Proxies allow 1 MiB.
 * `answer`: maximum number of pieces or name notes in one answer.
 * `piece`: highest average number of documents in a piece. The note of such a piece has 61 KB.
 * `names`: number of characters to collect before a name note is written.
 * `pages`: number of journal pages to read in one request.
 */
export const NOTE_LIMITS = {
	request: 512 * 1024,
	answer: 8,
	piece: 2000,
	names: 128 * 1024,
	pages: 32,
};

/** Thrown if notes cannot be read or written, or if this run must not send (see `Lease.renewIfOverdue`). */
export class NotesError extends Error {
	constructor(readonly failure: Failure) {
		super(failure.reason);
	}
}

/** Calls `work`. If `work` throws NotesError, returns the failure. */
export async function orFailure<T>(work: () => Promise<T>): Promise<T | { failure: Failure }> {
	return await work().catch((caught: unknown) => {
		if (caught instanceof NotesError) return { failure: caught.failure };
		throw caught;
	});
}

/** The document that holds a note. */
type NoteRow = ReturnType<NotesOnServer['row']>;

/** Reads and writes the notes of a source. Notes are disabled documents, so assistants do not find them. */
export class NotesOnServer {
	/** ID of a document that is certainly on the server. `fetchStatuses` rejects an answer without this ID. */
	requiredId?: string;

	constructor(
		readonly place: MemoryPlace,
		private readonly routes: MemoryRoutes,
	) {}

	idOf([name]: NoteNameAndTitle): string {
		return derivedId(this.place.knowledgebaseId, `n8n ${name} of ${this.place.source}`);
	}

	/**
	 * Reads notes, in the order of `names`.
	 *
	 * @param atOnce maximum number of notes in one answer
	 * @throws NotesError
	 */
	async read(names: NoteNameAndTitle[], atOnce = names.length): Promise<NoteReadResult[]> {
		const notes: NoteReadResult[] = [];
		// `signal` is left out. It could end the fetch early, and unread notes would look missing.
		const routes = pick(this.routes, 'send', 'statusPathOf');
		for (const part of chunk(names, atOnce)) {
			const ids = part.map((name) => this.idOf(name));
			// A proxy may answer with an empty list. `requiredId` makes this answer a failure.
			const { statuses, failure } = await fetchStatuses(ids, routes, this.requiredId);
			if (failure) throw new NotesError(failure);
			notes.push(...ids.map((id) => this.parseNote(statuses.get(id)?.processMsg ?? undefined)));
		}
		return notes;
	}

	/**
	 * Writes notes in the order given, in as few requests as possible.
	 *
	 * @throws NotesError
	 */
	async write(...notes: NoteToWrite[]): Promise<void> {
		let rows: NoteRow[] = [];
		for (const note of notes) {
			const row = this.row(note);
			const isFull = sumBy([...rows, row], 'processMsg.length') > NOTE_LIMITS.request;
			if (isFull && rows.length > 0) {
				await this.sendRows(rows);
				rows = [];
			}
			rows.push(row);
		}
		await this.sendRows(rows);
	}

	private async sendRows(rows: NoteRow[]): Promise<void> {
		const { send, storePath: path } = this.routes;
		const schema = documentListSchema(rows.map(({ id }) => id));
		const outcome = await send({ method: 'POST', path, body: JSON.stringify(rows), schema });
		if (!outcome.ok) throw new NotesError(outcome.failure);
	}

	/** Makes the document that holds a note. */
	row({ nameAndTitle, header, entries = [], body = packEntries(entries) }: NoteToWrite) {
		const { source, title } = this.place;
		const headerJson = Buffer.from(JSON.stringify({ ...header, source }));
		const text = [headerJson, body].map((part) => part.toString('base64')).join(':');
		return {
			id: this.idOf(nameAndTitle),
			name: `n8n: ${nameAndTitle[1].replace('*', () => title)} (do not process)`,
			disabled: true,
			processMsg: `${MEMORY_NOTE_PREFIX}${NOTE_VERSION}:${checksum(text)}:${text}`,
		};
	}

	/**
	 * Reads the text that `row` has made.
	 *
	 * @throws NotesError if a later version of the node wrote the note, because this version would damage it
	 */
	private parseNote(text?: string): NoteReadResult {
		// The server may list a note without a text. This note counts as missing.
		if (text === undefined) return undefined;
		const [prefix = '', sum, ...parts] = text.split(':');
		const version = prefix.startsWith(MEMORY_NOTE_PREFIX)
			? Number(prefix.slice(MEMORY_NOTE_PREFIX.length))
			: 0;
		if (version > NOTE_VERSION) throw new NotesError(LATER_VERSION_FAILURE);
		if (version !== NOTE_VERSION || sum !== checksum(parts.join(':'))) return 'damaged';
		const [headerJson, body] = parts.map((part) => Buffer.from(part, 'base64'));
		// `JSON.parse` cannot fail here: the checksum proves that the node wrote this text.
		const { data: header } = headerSchema.safeParse(JSON.parse(String(headerJson)));
		return header?.source === this.place.source && body ? { ...header, body } : 'damaged';
	}
}

const LATER_VERSION_FAILURE: Failure = {
	kind: 'unreadable',
	status: 200,
	path: '',
	method: 'GET',
	reason:
		'what this source has stored was noted by a later version of this node, which has to be installed here as well',
};

const checksum = (text: string) => hash('sha256', text).slice(0, 32);
