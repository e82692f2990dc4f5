import { hash } from 'crypto';

import chunk from 'lodash/chunk';
import compact from 'lodash/compact';
import sumBy from 'lodash/sumBy';
import uniq from 'lodash/uniq';
import { z } from 'zod';

import { derivedId } from '../../payloads/derivedId';
import type { Failure } from '../../transport/failure';
import { OWN_NOTE } from '../../transport/sanitize';
import { listWith } from '../answeredRecords';
import { statusesById, type ProcessingRoutes } from '../processingStatus';
import { pack, type Entry } from './fingerprints';

/** The dependencies of the memory. The status of a document returns the stored text as its `processMsg`. */
export interface MemoryRoutes extends Pick<ProcessingRoutes, 'send' | 'statusPath'> {
	storePath: string;
}

/** The source that a memory belongs to, and the knowledgebase that holds it. */
export interface MemoryPlace {
	knowledgebaseId: string;
	/** Identifies the source among others in the same knowledgebase; `title` is its name for people. */
	source: string;
	title: string;
	/** The owner that the IDs of its documents are derived from, together with their keys. */
	owner: string;
}

/** A note. Its ID is derived from the name; the knowledgebase shows the title, with the source in place of `…`. */
export type NoteName = [name: string, title: string];

const count = z.number().int().min(0);

const headerSchema = z.object({
	/** The source that the note belongs to. */
	source: z.string(),
	/** Identifies one write of a note. In turn and lease, it begins with the ID of the run. */
	writeId: z.string().optional(),
	/** Number of the run that wrote the note; in the root, of the last run that is merged. */
	run: count.default(0),
	/** Lease: its holder, whether it has ended, the last run that began to send, and the run that wrote the root. */
	lease: z
		.object({ by: z.string(), since: z.string(), ended: z.boolean(), sent: count, root: count })
		.optional(),
	/** Root: whether the last run had its documents processed. */
	processed: z.boolean().optional(),
	/** Root: documents in each piece. */
	pieces: z.array(count).optional(),
	/** Root: notes that hold names, whether the last has room, and whether they give the IDs of all documents. */
	names: z.object({ notes: count, hasRoom: z.boolean(), areAll: z.boolean() }).optional(),
	/** Root: when knowledge of stored documents was lost, and of how many. */
	lost: z.object({ at: z.string(), count: count.optional() }).optional(),
	/** Page: its number, and the pages that may not have arrived. */
	page: z.object({ at: count, open: z.array(count) }).optional(),
});

/** A note that a source keeps on the server beside its documents. */
export type MemoryNote = z.infer<typeof headerSchema> & { body: Buffer };

/** A note as it was read. It is damaged if somebody had it processed: the server then overwrites its text. */
export type ReadNote = MemoryNote | 'damaged' | undefined;

export const isReadable = (note: ReadNote): note is MemoryNote => typeof note === 'object';

/** A note to be written: its header, and its body, which is entries or other bytes. */
export interface WrittenNote {
	note: NoteName;
	header: Omit<z.input<typeof headerSchema>, 'source'>;
	entries?: Iterable<Entry>;
	body?: Buffer;
}

/** Follows the prefix of every note. */
const VERSION = 1;

/**
 * Limits, which tests lower: characters of notes in one request (proxies take 1 MiB); large notes in one answer;
 * documents in a piece (61 KB); characters of names in one note, before compression; pages read at a time.
 */
export const SIZES = { request: 512 * 1024, answer: 8, piece: 2000, names: 128 * 1024, pages: 32 };

/** Why notes could not be read or written. */
export class NotesFailed extends Error {
	constructor(readonly failure: Failure) {
		super(failure.reason);
	}
}

/** Runs work on notes. @returns its result, or why notes could not be read or written @throws any other error */
export async function orFailure<T>(work: () => Promise<T>): Promise<T | { failure: Failure }> {
	return await work().catch((caught: unknown) => {
		if (caught instanceof NotesFailed) return { failure: caught.failure };
		throw caught;
	});
}

/** Notes of a source on the server, in disabled documents, which nobody finds. */
export class NotesOnServer {
	/** A document that is certainly on the server: an answer without it does not count. */
	requiredId?: string;

	constructor(
		readonly place: MemoryPlace,
		private readonly routes: MemoryRoutes,
	) {}

	idOf([name]: NoteName): string {
		return derivedId(this.place.knowledgebaseId, `n8n ${name} of ${this.place.source}`);
	}

	/**
	 * Reads notes. One that was never written is `undefined`. @throws NotesFailed
	 * @param atOnce notes in one answer; one address takes a hundred
	 */
	async read(names: NoteName[], atOnce = names.length): Promise<ReadNote[]> {
		const notes: ReadNote[] = [];
		const required = compact([this.requiredId]);
		for (const part of chunk(names, atOnce)) {
			const ids = part.map((name) => this.idOf(name));
			const path = this.routes.statusPath(uniq([...ids, ...required]));
			// An answer that is not the server's must not count as "nothing stored".
			const answer = await this.send({ method: 'GET', path, schema: listWith(required) });
			const statuses = statusesById(answer);
			notes.push(...ids.map((id) => this.parseNote(statuses.get(id)?.processMsg ?? undefined)));
		}
		return notes;
	}

	/** Writes notes in the order given, in as few requests as possible. @throws NotesFailed */
	async write(...notes: WrittenNote[]): Promise<void> {
		let rows: Array<ReturnType<NotesOnServer['row']>> = [];
		const store = async () => {
			const schema = listWith(rows.map(({ id }) => id));
			const body = JSON.stringify(rows);
			await this.send({ method: 'POST', path: this.routes.storePath, body, schema });
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

	/** The document that holds a note. */
	row({ note, header, entries = [], body = pack(entries) }: WrittenNote) {
		const { source, title } = this.place;
		const head = Buffer.from(JSON.stringify({ ...header, source }));
		const text = [head, body].map((part) => part.toString('base64')).join(':');
		return {
			id: this.idOf(note),
			name: `n8n: ${note[1].replace('…', () => title)} (do not process)`,
			disabled: true,
			processMsg: `${OWN_NOTE}${VERSION}:${checksum(text)}:${text}`,
		};
	}

	private parseNote(text?: string): ReadNote {
		// Servers may also list documents that they do not have.
		if (text === undefined) return undefined;
		const [title = '', sum, ...parts] = text.split(':');
		const version = title.startsWith(OWN_NOTE) ? Number(title.slice(OWN_NOTE.length)) : 0;
		if (version > VERSION) throw new NotesFailed(NEWER_VERSION);
		if (version !== VERSION || sum !== checksum(parts.join(':'))) return 'damaged';
		// The checksum proves that this node wrote the note.
		const [header, body] = parts.map((part) => Buffer.from(part, 'base64'));
		const { data } = headerSchema.safeParse(JSON.parse(String(header)));
		return data?.source === this.place.source && body ? { ...data, body } : 'damaged';
	}

	private async send(request: Parameters<MemoryRoutes['send']>[0]): Promise<unknown> {
		const outcome = await this.routes.send(request);
		if (!outcome.ok) throw new NotesFailed(outcome.failure);
		return outcome.answer;
	}
}

const checksum = (text: string) => hash('sha256', text).slice(0, 32);

const NEWER_VERSION: Failure = {
	kind: 'unreadable',
	status: 200,
	path: '',
	method: 'GET',
	reason:
		'what this source has stored was noted by a later version of this node, which has to be installed here as well',
};
