import chunk from 'lodash/chunk';
import memoize from 'lodash/memoize';
import uniq from 'lodash/uniq';
import { z } from 'zod';

import type { Failure } from '../../transport/failure';
import type { ApiRequest, Outcome } from '../../transport/request';
import { derivedId } from '../../payloads/derivedId';
import { listOf } from '../listedIds';
import { statusesById } from '../processingStatus';
import type { Fingerprints } from './fingerprints';
import { noteText, readNote } from './note';
import type { HeldByNote, MemoryNote, NoteFacts, NoteFlaw } from './note';
import { SIZES } from './sizes';

/** What memory needs from outside. */
export interface MemoryRoutes {
	/** Sends a request with the retry policy. */
	send: (request: Omit<ApiRequest, 'timeoutMs'>) => Promise<Outcome>;
	/** Path that stores documents. */
	storePath: string;
	/** Path of the status of some documents, which gives back what was stored as their `processMsg`. */
	statusPath: (ids: string[]) => string;
}

/** Whose memory it is, and where it lies. */
export interface MemoryPlace {
	knowledgebaseId: string;
	/** What tells the source from others that fill the same knowledgebase. */
	source: string;
	/** What people know the source by. */
	title: string;
	/** What the ids of its documents are made of beside their keys, where that is not the knowledgebase. */
	owner?: string;
}

/** A note by its name, of which its id is made, and by what people see in the knowledgebase, with … for the source. */
export interface NoteName {
	name: string;
	title: string;
}

/** A note as it was read: what it says, why it does not count, or nothing where it was never written. */
export type ReadNote = MemoryNote | NoteFlaw | undefined;

/** A note to be written: what it says of itself, and what it holds. */
export interface WrittenNote extends HeldByNote {
	note: NoteName;
	facts: NoteFacts;
}

/** The document that holds a note, as the server stores it. */
interface NoteRow {
	id: string;
	name: string;
	disabled: true;
	processMsg: string;
}

/** What the answer to a stored note says of it: servers count how often a document was changed. */
const versions = z.array(z.object({ version: z.number().int() })).length(1);

/** What a source keeps beside its documents, in documents that are disabled: nobody finds them. */
export class NotesOnServer {
	constructor(
		private readonly place: MemoryPlace,
		private readonly routes: MemoryRoutes,
	) {}

	/**
	 * Reads notes; one that was never written is missing.
	 *
	 * @param witness a document that is certainly there: an answer without it does not count
	 */
	async read(
		names: NoteName[],
		witness?: string,
	): Promise<{ notes: ReadNote[] } | { failure: Failure }> {
		const ids = names.map((name) => this.idOf(name));
		const there = witness === undefined ? [] : [witness];
		const outcome = await this.routes.send({
			method: 'GET',
			path: this.routes.statusPath(uniq([...ids, ...there])),
			// What is no answer must not count as nothing stored.
			checkAnswer: listOf(there),
		});
		if (!outcome.ok) return outcome;
		const said = statusesById(outcome.answer);
		const { source } = this.place;
		return {
			notes: ids.map((id) => {
				const text = said.get(id)?.processMsg ?? undefined;
				return text === undefined ? undefined : readNote(text, source);
			}),
		};
	}

	/** Reads large notes, some in an answer. */
	async readMany(
		names: NoteName[],
		witness?: string,
	): Promise<{ notes: ReadNote[] } | { failure: Failure }> {
		const notes: ReadNote[] = [];
		for (const part of chunk(names, SIZES.answer)) {
			const read = await this.read(part, witness);
			if ('failure' in read) return read;
			for (const note of read.notes) notes.push(note);
		}
		return { notes };
	}

	/**
	 * Writes a note.
	 *
	 * @returns how often it has been written by now, as far as the server says so
	 */
	async write(
		written: WrittenNote,
		known: Fingerprints,
	): Promise<{ version: number } | { failure: Failure }> {
		const outcome = await this.store([this.row(written, known)]);
		if (!outcome.ok) return outcome;
		const [version] = versions.safeParse(outcome.answer).data ?? [];
		return { version: version?.version ?? 0 };
	}

	/** Writes notes in the order given, several in a request. */
	async writeMany(
		notes: Iterable<WrittenNote>,
		known: Fingerprints,
	): Promise<{ failure: Failure } | undefined> {
		let rows: NoteRow[] = [];
		let size = 0;
		for (const written of notes) {
			const row = this.row(written, known);
			size += row.processMsg.length;
			if (rows.length > 0 && size > SIZES.request) {
				const outcome = await this.store(rows);
				if (!outcome.ok) return outcome;
				rows = [];
				size = row.processMsg.length;
			}
			rows.push(row);
		}
		const outcome = rows.length > 0 ? await this.store(rows) : undefined;
		return outcome?.ok === false ? outcome : undefined;
	}

	/** What the ids of its documents are made of beside their keys. */
	get owner(): string {
		return this.place.owner ?? this.place.knowledgebaseId;
	}

	/** The id of the document that holds a note. */
	readonly idOf = memoize(
		({ name }: NoteName): string =>
			derivedId(this.place.knowledgebaseId, `n8n ${name} of ${this.place.source}`),
		({ name }) => name,
	);

	/** The document that holds a note. */
	row({ note, facts, ...held }: WrittenNote, known: Fingerprints): NoteRow {
		const { source, title } = this.place;
		return {
			id: this.idOf(note),
			name: `${note.title.replace('…', () => title)} (do not process)`,
			disabled: true,
			processMsg: noteText({ ...facts, source }, known, held),
		};
	}

	private async store(rows: Array<{ id: string }>): Promise<Outcome> {
		return await this.routes.send({
			method: 'POST',
			path: this.routes.storePath,
			body: JSON.stringify(rows),
			checkAnswer: listOf(rows.map(({ id }) => id)),
		});
	}
}
