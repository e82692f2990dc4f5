import memoize from 'lodash/memoize';
import uniq from 'lodash/uniq';
import { z } from 'zod';

import type { Failure } from '../transport/failure';
import type { ApiRequest, Outcome } from '../transport/request';
import { derivedId } from '../payloads/derivedId';
import { listOf } from './listedIds';
import { noteText, readNote } from './memoryNote';
import type { MemoryNote, NoteFlaw } from './memoryNote';
import { statusesById } from './processing';

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
}

/** What the answer to a stored note says of it: servers count how often a document was changed. */
const versions = z.array(z.object({ version: z.number().int() })).length(1);

/** The notes of a source: all it has stored, what may be stored since, and which run began last. */
export type NoteName = 'memory' | 'journal 0' | 'journal 1' | 'turn';

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
	): Promise<{ notes: Array<MemoryNote | NoteFlaw | undefined> } | { failure: Failure }> {
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
		return { notes: ids.map((id) => readNote(said.get(id)?.processMsg, this.place.source)) };
	}

	/**
	 * Writes a note.
	 *
	 * @returns how often it has been written by now, as far as the server says so
	 */
	async write(
		name: NoteName,
		note: Omit<MemoryNote, 'source'>,
	): Promise<{ version: number } | { failure: Failure }> {
		const document = {
			id: this.idOf(name),
			name: TITLES[name].replace('…', () => this.place.title),
			disabled: true,
			processMsg: noteText({ ...note, source: this.place.source }),
		};
		const body = JSON.stringify([document]);
		const outcome = await this.routes.send({
			method: 'POST',
			path: this.routes.storePath,
			body,
			checkAnswer: listOf([document.id]),
		});
		if (!outcome.ok) return outcome;
		const [version] = versions.safeParse(outcome.answer).data ?? [];
		return { version: version?.version ?? 0 };
	}

	/** The id of the document that holds a note. */
	readonly idOf = memoize((name: NoteName): string => {
		const { knowledgebaseId, source } = this.place;
		return derivedId(knowledgebaseId, `n8n ${name} of ${source}`);
	});
}

/** What the notes are called in the knowledgebase, where people may see them. */
const TITLES: Record<NoteName, string> = {
	memory: 'n8n: what … has stored',
	'journal 0': 'n8n: what … is storing',
	'journal 1': 'n8n: what … is storing (2)',
	turn: 'n8n: when … began',
};
