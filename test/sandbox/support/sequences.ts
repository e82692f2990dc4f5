import type { Readable } from 'node:stream';
import type { AxiosInstance, AxiosResponse } from 'axios';
import { isPlainObject, mapValues, omit, omitBy, pickBy, sortBy } from 'lodash';
import type { FakeClock, Sandbox, SandboxOptions } from '../../../sandbox';
import {
	isInternal,
	OWN_BODIES,
	OWN_FIELDS,
	OWN_TOKENS,
	OWN_VALUES,
	OWN_WORDS,
} from './notReproduced';
import { uncut } from './cuts';
import { eventsIn, eventsOf, withoutLeftOut, type Event } from './events';
import type { SequenceExchange } from './recordings';
import { sampleFile } from './sampleFiles';
import { differences } from './shape';
import { KEYS, tokenFor } from './recordedServers';
import { Substitution } from './substitution';

/** The assistant of `searchable` and `runs`, and the one of `interrupts`. */
export const ECHOING = 'bb6c8464-5f99-48a8-affc-9ea8f7fdda92';
export const ASKING = '5a66814f-af17-41fc-8c04-41ddbfb82fae';

/** What the recorded server had before a sequence began. */
export const RECORDED_SERVER: SandboxOptions = {
	...KEYS,
	processMs: 1000,
	assistants: [
		{
			id: ECHOING,
			name: 'echo',
			title: 'Echo Assistant',
			agentKey: 'Agent_EchoAssistant',
			answers: 'said',
		},
		{
			id: ASKING,
			name: 'lead',
			title: 'LeadAgent',
			description: 'agent LeadAgent',
			agentKey: 'Agent_lead',
			answers: 'interrupt',
			asks: 'agent SubAgent',
			subAgentSays: 'Tool said: []',
			runMs: 1000,
		},
	],
};

/** The files of `searchable`, of which the recording keeps the beginning. */
const SENTENCES = 'A sentence of some words. '.repeat(60);

/** What streams are, where a recording does not say it. */
const STREAM = 'text/event-stream';

/** An answer without what is each server's own; lists that come in no order of theirs are put in order. */
function meaningOf(exchange: SequenceExchange, body: unknown, by = 'run_id'): unknown {
	const { endpoint } = exchange;
	const meaning = without(meaningfulOrder(exchange, body, by), OWN_TOKENS(exchange));
	return endpoint === 'status' && Array.isArray(meaning) ? sortBy(meaning, 'id') : meaning;
}

/**
 * The runs of a thread come in no order, and neither do its conversations: they are put in that of their starts, to
 * learn who is who, or of their ids. The messages of two runs at once differ in their texts.
 */
function meaningfulOrder(
	{ endpoint, recording, sequence }: SequenceExchange,
	body: unknown,
	by: string,
): unknown {
	const { items } = (body ?? {}) as { items?: object[] };
	if (Array.isArray(body) && endpoint.endsWith('/runs')) return sortBy(body, by);
	if (items && endpoint.endsWith('/messages') && sequence === 'two runs at once on one thread') {
		return { ...(body as object), items: sortBy(items, ['role', 'content[0].text', 'content']) };
	}
	if (!items || endpoint !== 'E5' || !recording || !SHORT.test(recording)) return body;
	return { ...(body as object), items: sortBy(items, by === 'run_id' ? 'id' : 'createdAt') };
}

/** A run says where it comes from until it has a model, which is as quick as a server is. */
const isRun = (value: object): boolean => 'run_id' in value;

const inWords = (value: unknown): unknown =>
	typeof value === 'string'
		? OWN_WORDS.reduce((text, { words }) => text.replace(words, ''), value)
		: value;

function without(value: unknown, own: string[]): unknown {
	if (Array.isArray(value)) return value.map((one) => without(one, own));
	if (!isPlainObject(value)) return inWords(value);
	const shared = omitBy(
		value as Record<string, unknown>,
		(_one, key) => key in OWN_VALUES || key in OWN_FIELDS || own.includes(key) || isInternal(key),
	);
	const meant = isRun(shared) ? omit(shared, 'metadata') : shared;
	return mapValues(meant, (one) => without(one, own));
}

/** The internals are not compared in their shape either, but for there being any. */
function withoutInternals(value: unknown): unknown {
	if (Array.isArray(value)) return value.map(withoutInternals);
	if (!isPlainObject(value)) return inWords(value);
	const all = omitBy(value as Record<string, unknown>, (_one, key) => key in OWN_FIELDS);
	const shared = isRun(all) ? omit(all, 'metadata') : all;
	return mapValues(shared, (one, key) => (isInternal(key) ? typeof one : withoutInternals(one)));
}

/** The recordings whose answers were shortened: rows have some of their columns, threads the last of their messages. */
const SHORT =
	/^(?:one-thread-(?:two-conversations|status-null|first|two-owners-2)|decision-after|dead-run|cancel-of|filters-|knowledge-filter|folder-)/;

const isShort = ({ recording, endpoint, note = '' }: SequenceExchange): boolean =>
	(SHORT.test(recording ?? '') && /^E(?:5|15)$|messages/.test(endpoint)) ||
	note.includes('reduced');

const isObject = (value: unknown): value is Record<string, unknown> => isPlainObject(value);

const NUMBER_OF_MESSAGES = /(?<=^)\d+(?= messages, the last is shown$)/;

/** An answer as such a recording has shortened it. */
function shortened(recorded: unknown, actual: unknown): unknown {
	if (Array.isArray(recorded) && Array.isArray(actual)) {
		const [first, last] = recorded as Array<{ note?: string } | undefined>;
		if (!NUMBER_OF_MESSAGES.test(first?.note ?? '')) {
			// Of messages only the last may have been kept.
			const kept = isObject(first) && 'content' in first ? actual.slice(-recorded.length) : actual;
			return kept.map((one, place) => shortened(recorded[place], one));
		}
		const note = first?.note?.replace(NUMBER_OF_MESSAGES, String(actual.length));
		return [{ note }, ...(last ? [shortened(last, actual.at(-1))] : [])];
	}
	if (!isPlainObject(recorded) || !isPlainObject(actual)) return actual;
	const known = pickBy(actual as object, (_one, key) => key in (recorded as object));
	return mapValues(known, (one, key) => shortened((recorded as Record<string, unknown>)[key], one));
}

/** Whoever reduced the documents says of each that it has no parent; the server says nothing then (`folder-moves`). */
const withoutNoParent = (body: unknown): unknown =>
	Array.isArray(body)
		? body.map((one: object) => omitBy(one, (value, key) => key === 'parent' && value === null))
		: body;

/** No recorded answer took longer, in milliseconds. */
const LONGEST_MS = 120_000;

/** A run as a path names it. */
const RUN = /\/runs\/([0-9a-f-]{36})/;

interface Secret {
	client_secret?: string;
}

const idOf = ({ id }: Event) => id;
const withoutId = (event: Event) => omit(event, 'id');

/** Plays a recorded sequence on one sandbox, request by request. */
export class Player {
	private secret = '';

	readonly substitution: Substitution;

	constructor(
		readonly exchanges: SequenceExchange[],
		readonly sandbox: Sandbox,
		readonly client: AxiosInstance,
		readonly clock: FakeClock,
		/** What happens on the server before a request is sent. */
		private readonly before: (exchange: SequenceExchange) => void = () => undefined,
		substitution = new Substitution(sandbox.url),
	) {
		this.substitution = substitution;
	}

	/** Sends a recorded request with the ids, and the latest client secret, that the sandbox gave. */
	async send(
		exchange: SequenceExchange,
		signal?: AbortSignal,
		responseType?: 'stream',
	): Promise<AxiosResponse<unknown>> {
		const { request } = exchange;
		this.before(exchange);
		this.learnRun(exchange);
		const key = request.key ?? exchange.key;
		const token = key?.startsWith('client secret') ? this.secret : tokenFor(key);
		const headers = mapValues(this.substitution.apply(request.headers), (value) =>
			value.replace('<secret>', this.secret),
		);
		const answer = await this.client.request<unknown>({
			method: request.method,
			url: this.substitution.apply(request.path),
			headers: { ...headers, authorization: token && `Bearer ${token}` },
			data: bodyOf(this.substitution.apply(request.body)),
			signal,
			responseType,
		});
		this.secret = (answer.data as Secret | null)?.client_secret ?? this.secret;
		return answer;
	}

	/** A run that only its own stream has named, which has not ended, is the newest there is. */
	private learnRun({ request, response }: SequenceExchange): void {
		const [, recorded = ''] = RUN.exec(request.path) ?? [];
		if (!recorded || !JSON.stringify(response).includes(recorded)) return;
		const newest = this.sandbox.store.runs.filter((run) => run.assistantId !== null).at(-1);
		this.substitution.learn(recorded, newest?.id);
	}

	/** Sends what is answered by a stream that stays open, and gives what came of it until it is left. */
	listen(exchange: SequenceExchange): { leave: () => Promise<AxiosResponse<unknown>> } {
		const gone = new AbortController();
		const began = this.send(exchange, gone.signal, 'stream');
		let heard = '';
		const listening = began.then(({ data }) => {
			(data as Readable).on('data', (piece) => void (heard += String(piece))).on('error', () => {});
		});
		return {
			leave: async () => {
				await listening;
				// What was sent last needs a moment to arrive.
				await new Promise((resolve) => setTimeout(resolve, 50));
				gone.abort();
				return { ...(await began), data: heard };
			},
		};
	}

	/** Lets time pass until the answer is there. */
	async ended<T>(answer: Promise<T>): Promise<T> {
		let over = false;
		const end = () => void (over = true);
		answer.then(end, end);
		await this.taken(answer);
		for (let passed = 0; !over; passed += 100) {
			if (passed > LONGEST_MS) throw new Error('There was no answer, and no end of it');
			await this.clock.advance(100);
			await new Promise((resolve) => setTimeout(resolve, 2));
		}
		return await answer;
	}

	/** Lets time pass until no run is under way, but for those that never end. */
	async untilNothingRuns(): Promise<void> {
		const { runs } = this.sandbox.store;
		while (runs.some((run) => run.status === 'running' && run.assistantId !== null)) {
			await this.clock.advance(10);
		}
	}

	/** Lets time pass until every document that was queued has been processed, which takes real time as well. */
	async untilAllIsProcessed(): Promise<void> {
		const { processing } = this.sandbox.store;
		const deadline = Date.now() + 10_000;
		while ([...processing.values()].some(({ end }) => !end) && Date.now() < deadline) {
			await this.clock.advance(100);
			await new Promise((resolve) => setTimeout(resolve, 2));
		}
	}

	/** Lets the sandbox take a request in and begin to work, until it is answered or the work is asleep. */
	async taken(answer: Promise<unknown>): Promise<void> {
		let over = false;
		const end = () => void (over = true);
		answer.then(end, end);
		const asleep = this.clock.sleeping;
		const deadline = Date.now() + 2000;
		while (!over && this.clock.sleeping <= asleep && Date.now() < deadline) {
			await new Promise((resolve) => setTimeout(resolve, 2));
		}
	}

	/** Compares an answer with the recorded one: status, content type, shape and meaning. */
	compare(exchange: SequenceExchange, answer: AxiosResponse<unknown>): void {
		if (!('status' in exchange.response)) throw new Error(`${exchange.label} was never answered`);
		const { status, pieces, events, note } = exchange.response;
		const contentType = exchange.response.contentType ?? (events ? STREAM : null);
		if (OWN_BODIES.some(({ is }) => is(exchange))) {
			expect([answer.status, answer.headers['content-type']]).toEqual([status, contentType]);
			return;
		}
		const kept = (all: Event[]) =>
			withoutLeftOut(all, events?.some((one) => one.note) ?? false, note !== undefined);
		const recordedEvents = pieces ? eventsIn(pieces) : events && kept(eventsOf(events));
		let body = recordedEvents ? recordedEvents.map(withoutId) : exchange.response.body;
		if (exchange.note?.startsWith('documents reduced')) body = withoutNoParent(body);
		if (recordedEvents) {
			const received = kept(eventsIn([{ atMs: 0, text: String(answer.data) }]));
			this.substitution.learn(recordedEvents.map(idOf), received.map(idOf));
			answer.data = received.map(withoutId);
		}
		if (isShort(exchange)) answer.data = shortened(body, answer.data);
		[body, answer.data] = uncut(body, answer.data);
		this.substitution.learn(
			meaningOf(exchange, body, 'created_at'),
			meaningOf(exchange, answer.data, 'created_at'),
		);
		const wanted = this.substitution.apply(body);
		expect([answer.status, answer.headers['content-type'] ?? null]).toEqual([status, contentType]);
		expect(meaningOf(exchange, answer.data)).toEqual(meaningOf(exchange, wanted));
		const [shape, recordedShape] = [answer.data, wanted].map((one) =>
			withoutInternals(meaningfulOrder(exchange, one, 'run_id')),
		);
		expect(differences(recordedShape, shape)).toEqual([]);
	}
}

interface SentFile {
	filename: string;
	contentType: string;
	content: string;
	bytes?: number;
}

/** How a recording describes a file instead of its content. */
const TEXT_FILE = /^\(a text file (.+?)(?:, (\d+) bytes)?\)$/;

/** The text of `conversations`, of which the recording has what was read in it. */
const NOTES = '# Notes\nThe meeting is on Friday at ten. Bring the red folder.';

function fileOf(description: string): SentFile {
	const [, filename = '', bytes] = TEXT_FILE.exec(description) ?? [];
	const content = bytes ? SENTENCES.slice(0, Number(bytes)) : NOTES;
	return { filename, contentType: bytes ? 'text/plain' : 'text/markdown', content };
}

/** A body as it went over the wire: JSON, or a form with one file and some fields. */
function bodyOf(body: unknown): unknown {
	const { file, multipart, ...rest } = (body ?? {}) as Record<string, unknown>;
	if (typeof file === 'string' && TEXT_FILE.test(file)) return formOf(fileOf(file), rest);
	if (!isPlainObject(multipart)) return body;
	const { file: sent, ...fields } = multipart as { file: SentFile };
	return formOf(sent, fields);
}

function formOf(file: SentFile, fields: object): FormData {
	const form = new FormData();
	form.append('file', new Blob([contentOf(file)], { type: file.contentType }), file.filename);
	for (const [name, value] of Object.entries(fields)) form.append(name, String(value));
	return form;
}

function contentOf({ filename, content, bytes }: SentFile): Buffer | string {
	if (content === '(binary)') return sampleFile(filename, bytes);
	return filename === 'long.md' ? SENTENCES : content;
}
