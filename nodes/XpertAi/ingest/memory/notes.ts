import { hash } from 'crypto';

import chunk from 'lodash/chunk';
import compact from 'lodash/compact';
import sumBy from 'lodash/sumBy';
import uniq from 'lodash/uniq';
import { z } from 'zod';

import { derivedId } from '../../payloads/derivedId';
import type { Failure } from '../../transport/failure';
import { mustList, statusesById } from '../processingStatus';
import type { ProcessingRoutes } from '../processingStatus';
import { pack } from './fingerprints';
import type { Entry } from './fingerprints';

/** What memory needs from outside; the status of a document gives back what was stored as its `processMsg`. */
export interface MemoryRoutes extends Pick<ProcessingRoutes, 'send' | 'statusPath'> {
	storePath: string;
}

/** Whose memory it is, and where it is kept. */
export interface MemoryPlace {
	knowledgebaseId: string;
	/** What tells the source from others that fill the same knowledgebase; `title` is what people know it by. */
	source: string;
	title: string;
	/** What the IDs of its documents are derived from beside their keys. */
	owner: string;
}

/** A note: from its name its ID is derived, its title is seen in the knowledgebase, with … for the source. */
export type NoteName = [name: string, title: string];

const count = z.number().int().min(0);

const headerSchema = z.object({
	/** Whose note it is. */
	source: z.string(),
	/** Tells one writing of a note from others; of turn and lease, it begins with the ID of the run. */
	mark: z.string().optional(),
	/** The number of the run that wrote it; of the root, of the last run that it holds. */
	run: count.default(0),
	/** Of the lease: who is at work, or was; the last run that has begun to send, and that of the root, to be expected. */
	lease: z
		.object({ by: z.string(), since: z.string(), ended: z.boolean(), sent: count, root: count })
		.optional(),
	/** Of the root: how many documents each piece holds. */
	pieces: z.array(count).optional(),
	/** Of the root: how many notes hold names, whether the last has room, and whether they give the IDs of all documents. */
	names: z.object({ notes: count, hasRoom: z.boolean(), areAll: z.boolean() }).optional(),
	/** Of the root: since when it is not known what was stored, and of how many documents. */
	lost: z.object({ at: z.string(), count: count.optional() }).optional(),
	/** Of the root: the mark of the `by hand` that it holds. */
	byHand: z.string().optional(),
	/** Of a page: its place, and which pages may not have arrived. */
	page: z.object({ at: count, open: z.array(count) }).optional(),
});

/** What a source keeps beside its documents on the server. */
export type MemoryNote = z.infer<typeof headerSchema> & { body: Buffer };

/** A note as it was read. The server overwrites one that somebody has processed. */
export type ReadNote = MemoryNote | 'damaged' | undefined;

/** Whether a note can be used. */
export const isReadable = (note: ReadNote): note is MemoryNote => typeof note === 'object';

/** A note to be written: what it says of itself, and what it holds, which is entries or something else. */
export interface WrittenNote {
	note: NoteName;
	header: Omit<z.input<typeof headerSchema>, 'source'>;
	entries?: Iterable<Entry>;
	body?: Buffer;
}

/** Stands before every note, with its version. */
const FORMAT = 'n8n-memory-';
const VERSION = 1;

/**
 * Sizes that tests make smaller: characters of notes in one request, as proxies take 1 MiB; large notes in one answer;
 * documents in a piece, which take 61 KB; characters of names in one note, before they are compressed; and pages read
 * at a time.
 */
export const SIZES = {
	request: 512 * 1024,
	answer: 8,
	piece: 2000,
	names: 128 * 1024,
	pages: 32,
};

/** Why notes could not be read or written. */
export class NotesFailed extends Error {
	constructor(readonly failure: Failure) {
		super(failure.reason);
	}
}

/** What came of work with notes, or why they could not be read or written. */
export async function orFailure<Result>(
	work: () => Promise<Result>,
): Promise<Result | { failure: Failure }> {
	return await work().catch((caught: unknown) => {
		if (caught instanceof NotesFailed) return { failure: caught.failure };
		throw caught;
	});
}

/** What a source keeps beside its documents, in documents that are disabled: nobody finds them. */
export class NotesOnServer {
	/** A document that is certainly there: an answer without it does not count. */
	witness?: string;

	constructor(
		readonly place: MemoryPlace,
		private readonly routes: MemoryRoutes,
	) {}

	/** The ID of the document that holds a note. */
	idOf([name]: NoteName): string {
		return derivedId(this.place.knowledgebaseId, `n8n ${name} of ${this.place.source}`);
	}

	/** Reads notes, so many in an answer (one address takes a hundred); one that was never written is missing. */
	async read(names: NoteName[], atOnce = names.length): Promise<ReadNote[]> {
		const notes: ReadNote[] = [];
		const required = compact([this.witness]);
		for (const part of chunk(names, atOnce)) {
			const ids = part.map((name) => this.idOf(name));
			const path = this.routes.statusPath(uniq([...ids, ...required]));
			// What is no answer must not count as nothing stored.
			const answer = await this.send({ method: 'GET', path, checkAnswer: mustList(required) });
			const statuses = statusesById(answer);
			notes.push(...ids.map((id) => this.parseNote(statuses.get(id)?.processMsg ?? undefined)));
		}
		return notes;
	}

	/** Writes notes in the order given, as few requests as it takes. */
	async write(...notes: WrittenNote[]): Promise<void> {
		let rows: Array<ReturnType<NotesOnServer['row']>> = [];
		const store = async () => {
			const checkAnswer = mustList(rows.map(({ id }) => id));
			const body = JSON.stringify(rows);
			await this.send({ method: 'POST', path: this.routes.storePath, body, checkAnswer });
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
			processMsg: `${FORMAT}${VERSION}:${checksum(text)}:${text}`,
		};
	}

	private parseNote(text?: string): ReadNote {
		// A server may list also what it does not have.
		if (text === undefined) return undefined;
		const [title = '', sum, ...parts] = text.split(':');
		const version = title.startsWith(FORMAT) ? Number(title.slice(FORMAT.length)) : 0;
		if (version > VERSION) throw new NotesFailed(NEWER_VERSION);
		if (version !== VERSION || sum !== checksum(parts.join(':'))) return 'damaged';
		// What has its checksum was written by this node.
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
	...{ kind: 'unreadable', status: 200, path: '', method: 'GET' },
	reason:
		'what this source has stored was noted by a later version of this node, which has to be installed here as well',
};
