import { compact, get, isString, maxBy, minBy, partition, startsWith } from 'lodash';
import { z } from 'zod';

import { conversationRecord } from '../payloads/bodies';
import { eachOf, textIfAny } from '../payloads/common';
import { anyAnswer, isJsonObject } from '../transport/answer';
import { API_ROOT, buildPath } from '../transport/api';
import { type ApiClient, call, FOREIGN_ANSWER_PAUSE_MS, type Result } from '../transport/call';
import type { EventStream } from '../transport/eventStream';
import { type Failure, isTokenRefused } from '../transport/failure';
import type { ApiRequest } from '../transport/request';
import { sanitize } from '../transport/sanitize';

/** An object with these and any other fields; a value of another type counts as missing. */
const loose = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough().nullish().catch(undefined);

/** A message of a thread (E15). From these fields, `senderOf` finds out who sent the message (recorded). */
const threadMessage = z
	.object({
		id: textIfAny,
		content: z.unknown(),
		tool_calls: z.unknown(),
		tool_call_id: z.unknown(),
	})
	.passthrough();

/**
 * The answer of E15. A malformed part counts as missing and does not make the whole answer invalid: one malformed
 * message must not hide that a thread is busy.
 */
export const threadState = z
	.object({
		thread_id: textIfAny,
		/** Null for a conversation that never ran (recorded), which means that the status is unknown. */
		status: z.string().nullish().catch(undefined),
		/** `id` is the ID of the conversation. */
		metadata: loose({ id: textIfAny, assistant_id: textIfAny }),
		values: loose({
			/** The input of the last run, even if that run left no message. */
			input: textIfAny.nullish(),
			messages: z.array(threadMessage.catch({})).nullish().catch(undefined),
		}),
	})
	.passthrough();

export type ThreadMessage = z.infer<typeof threadMessage>;
export type ThreadState = z.infer<typeof threadState>;

/** The schema of the answer of E15. Rejects an answer about another thread, or without a status; null is allowed. */
export const stateOf = (threadId: string) =>
	threadState.refine(
		(state) => state.thread_id === threadId && state.status !== undefined,
		'it is not this thread',
	);

/**
 * Reads a thread (E15). Never throws.
 *
 * @param maxTries attempts in total. With 1, as for polling, no second attempt confirms that the route is missing, so a
 * missing route counts as a transient failure.
 */
export async function readThread(client: ApiClient, threadId: string, maxTries?: number) {
	const path = buildPath('/threads/{threadId}', { threadId });
	return await call(client, { ...READ, path, schema: stateOf(threadId), maxTries });
}

const READ = { method: 'GET', repeatable: true } as const;
const SEARCH = { method: 'POST', repeatable: true } as const;

/**
 * Who sent a message: only messages of the assistant have `tool_calls`, and only results of tools have a call ID
 * (recorded, E15).
 *
 * @returns undefined for an object that has neither of these fields nor content, and so is no message
 */
export function senderOf(message: ThreadMessage): 'assistant' | 'tool' | 'user' | undefined {
	if (Array.isArray(message.tool_calls)) return 'assistant';
	if (typeof message.tool_call_id === 'string') return 'tool';
	return message.content === undefined ? undefined : 'user';
}

export const isFromUser = (message: ThreadMessage) => senderOf(message) === 'user';

/** The messages of a thread, oldest first. */
export const messagesOf = (state: ThreadState | undefined): ThreadMessage[] =>
	state?.values?.messages ?? [];

/** The text of a message. The content is a text, or a list of parts whose texts are joined; other content gives ''. */
export function textOf(content: unknown) {
	if (typeof content === 'string') return content;
	if (!Array.isArray(content)) return '';
	const texts = content.map((part: unknown) => (isText(part) ? get(part, 'text') : part));
	return texts.filter(isString).join('');
}

/**
 * Reads the content of an assistant's message: its text, in Markdown, and its other parts, such as images and files.
 * The other parts are not changed.
 */
export function parseReply(content: unknown) {
	const parts: unknown[] = Array.isArray(content)
		? content.filter((part) => isJsonObject(part) && !isText(part))
		: [];
	return { output: textOf(content), parts };
}

/** The last reply of the assistant; a message with only tool calls is not a reply. */
export function lastReply(messages: ThreadMessage[]) {
	const last = messages.findLast(
		(one) => senderOf(one) === 'assistant' && !(callsTool(one) && textOf(one.content) === ''),
	);
	return last && parseReply(last.content);
}

const callsTool = ({ tool_calls: calls }: ThreadMessage) =>
	Array.isArray(calls) && calls.length > 0;

/** Whether the last message calls a tool. After a rejection this is so, as no result follows the call (recorded). */
export function endsWithCall(messages: ThreadMessage[]) {
	const last = messages.at(-1);
	return last !== undefined && callsTool(last);
}

export const afterLastUserMessage = (messages: ThreadMessage[]): ThreadMessage[] =>
	messages.slice(messages.findLastIndex(isFromUser) + 1);

/**
 * Whether a part is text for readers. Components and the thoughts of a model are not, even if they have a text
 * (recorded, `answers-in-parts`).
 */
export function isText(part: unknown) {
	const { text, type } = isJsonObject(part) ? part : {};
	return typeof text === 'string' && type !== 'component' && type !== 'reasoning';
}

/* The routes of conversations and of their messages. None of these functions throws. */

/** The timeout for creating a conversation, which may take long. */
const TIMEOUT_MS = 60_000;

/** The conversation of a thread, as the server shows it. */
export interface ConversationFacts {
	/** Why the conversation could not be read; the other fields are then empty or undefined. */
	failure?: Failure;
	/** ID of the oldest conversation on the thread; undefined if the token's owner has none on the thread. */
	conversationId?: string;
	/** IDs of all conversations on the thread, last updated first. Runs write to the first. */
	conversationIds: string[];
	status?: string;
	/** Why the last run failed. */
	error?: string;
	/** The tasks of the last run that wait for a person. */
	tasks: unknown[];
	/** Whether the only open task is the leftover of a cancelled run, which waits for nobody (see `openTasks`). */
	isLeftOver?: boolean;
}

/**
 * The answer of E5. A bare list is rejected, because E5 never answers with one, and because an empty list would look as
 * if there were no conversation.
 */
const foundConversations = z.object({ items: z.array(conversationRecord.catch({})) });

/**
 * Looks up the conversation of a thread (E5), with the error of its last run and the tasks that wait for a person. The
 * server lists only conversations of the token's owner. If a thread has several conversations, the state comes from the
 * last updated one, because runs change that one. The ID is that of the oldest, so that all executions use the same ID.
 */
export async function readConversation(
	client: ApiClient,
	threadId: string,
): Promise<ConversationFacts> {
	const search = { where: { threadId }, order: { updatedAt: 'DESC' } };
	const { answer, failure } = await searchConversations(client, search);
	if (!answer) return { failure, conversationIds: [], tasks: [] };
	const found = answer.items.filter((one) => one.threadId === threadId);
	// The last updated conversation may never have run, so take the first that has a status.
	const { status, error, operation } = found.find((one) => one.status) ?? found[0] ?? {};
	return {
		// If several were created at the same time, the smallest ID counts.
		conversationId: minBy(found, ({ createdAt = '', id = '' }) => `${createdAt} ${id}`)?.id,
		conversationIds: compact(found.map(({ id }) => id)),
		status,
		error,
		...openTasks(operation?.tasks),
	};
}

async function searchConversations(client: ApiClient, search: object) {
	return await call(client, {
		...SEARCH,
		path: '/conversations/search',
		schema: foundConversations,
		body: JSON.stringify(search),
	});
}

/**
 * Separates the tasks that wait for a person from the task `__start__`, a leftover of another run that was cancelled
 * (recorded, `one-key-cancel-ends-both`). The lack of a call does not identify a leftover: a task whose arguments were
 * changed waits without a call (recorded, `decisions`).
 */
export function openTasks(all: unknown[] = []) {
	const [leftOver, tasks] = partition(
		all,
		(task) => get(task, 'name') === '__start__' && startsWith(get(task, 'path.0'), '__pregel_pull'),
	);
	return { tasks, isLeftOver: leftOver.length > 0 && tasks.length === 0 };
}

/** Whether tasks wait for a decision. If there is an error, the tasks are leftovers of a cancelled run (recorded). */
export const waitsForPerson = ({ tasks, error }: { tasks: unknown[]; error?: unknown }) =>
	tasks.length > 0 && !error;

/** Reads one value of each waiting task. The `id` of a task stays the same until the decision (recorded). */
export const taskValues = (path: 'id' | 'name' | 'call.id', tasks: unknown[] = []): unknown[] =>
	tasks.map((task) => get(task, path) as unknown);

const waitingTask = z
	.object({
		name: textIfAny,
		info: z.object(eachOf(textIfAny, 'title', 'description')).catch({}),
		call: z.object({ ...eachOf(textIfAny, 'id', 'name'), args: z.unknown() }).catch({}),
	})
	.catch({ info: {}, call: {} });

/**
 * What a waiting task asks a person, with the tool call to approve. Once arguments were changed, the task has no call:
 * `args` and `callId` are undefined. The field is called `args` because n8n's expressions cannot read `arguments`.
 */
export function requestOf(task: unknown) {
	const { name, info, call } = waitingTask.parse(task);
	const title = info.title ?? name ?? '';
	const isDescribed = info.description && info.description !== title;
	const question = isDescribed ? `${title} (${info.description})` : title;
	return { question, tool: call.name ?? name, args: call.args, callId: call.id };
}

/**
 * The output of a run that waits for a decision: the questions, without the arguments of the tool calls, because
 * visitors of a chat may read this output.
 */
export function waitingMessage(tasks: unknown[] = []): string {
	const questions = sanitize(tasks.map((task) => requestOf(task).question).join(', '));
	return `This waits for a person to decide${questions ? `: ${questions}` : ''}.`;
}

/**
 * Creates a conversation (E13); the answer contains its ID. A request with an ID is repeated if the answer is lost: the
 * server creates only one conversation with this ID and owner (recorded).
 */
export async function createConversation(
	client: ApiClient,
	conversation: { threadId: string; title?: string; id?: string; createdById?: string },
) {
	return await call(client, {
		method: 'POST',
		path: '/conversations',
		timeoutMs: TIMEOUT_MS,
		body: JSON.stringify(conversation),
		repeatable: conversation.id !== undefined,
		schema: z
			.object({ id: z.string().min(1), threadId: z.string() })
			.refine(
				(made) => made.threadId === conversation.threadId,
				'it is not a conversation on the thread that was asked for',
			),
	});
}

/** What is known of the user who owns a token, on one server. */
export interface Owner {
	/** `undefined` until the server was asked; `null` if the server names nobody, or ignores owners. */
	id?: string | null;
	/** Whether E5 has shown a conversation that was created with this owner. */
	isProven?: boolean;
}

/** How many accounts are remembered; if there are more, the oldest is forgotten. */
const MAX_OWNERS = 1_000;

const owners = new Map<string, Owner>();

/**
 * What this process knows of the owner of a token.
 *
 * @param account identifies the server and the token
 */
export function ownerOf(account: string): Owner {
	const owner = owners.get(account) ?? {};
	owners.set(account, owner);
	const [oldest] = owners.keys();
	if (owners.size > MAX_OWNERS && oldest) owners.delete(oldest);
	return owner;
}

/** Forgets the owner of an account. Called after the server rejected the token, as its owner may change. */
export function forgetOwner(account: string) {
	owners.delete(account);
}

/**
 * Asks the server for the owner of the token, and stores the answer in `owner.id`.
 *
 * @returns the failure if the owner stays unknown, as in an outage; undefined if the server names one, or names nobody
 */
export async function learnOwner(client: ApiClient, owner: Owner): Promise<Failure | undefined> {
	const me = { ...READ, apiRoot: '/api', path: '/user/me', schema: user };
	const { answer = null, failure } = await call(client, me);
	if (failure && !(await tellsNobody(client, failure))) return failure;
	owner.id = answer;
	return undefined;
}

/** Only the ID is kept, because the answer also contains a password hash (recorded, `conversation-by-id`). */
const user = z.object({ id: z.string().min(1) }).transform(({ id }) => id);

async function tellsNobody(client: ApiClient, failure: Failure) {
	if (failure.missing === 'route' || [405, 501].includes(failure.status ?? 0)) return true;
	// If the token may search conversations, it is valid, and only the route of the user rejects it.
	return isTokenRefused(failure) && (await searchConversations(client, { limit: 1 })).ok;
}

/**
 * Checks that E5 shows the conversation that was created with an owner. If E5 does not show it, the server, or a
 * gateway in front of the server, ignores owners: `owner.id` becomes null, so that no owner is used.
 *
 * @returns what E5 shows; empty if the owner was proven before
 */
export async function proveOwner(
	client: ApiClient,
	owner: Owner,
	threadId: string,
): Promise<Partial<ConversationFacts>> {
	if (owner.isProven) return {};
	let facts = await readConversation(client, threadId);
	if (!facts.failure && !facts.conversationId) {
		await client.clock.sleep(FOREIGN_ANSWER_PAUSE_MS, client.signal);
		facts = await readConversation(client, threadId);
	}
	if (facts.conversationId) owner.isProven = true;
	else if (!facts.failure) owner.id = null;
	return facts;
}

/** A message in a conversation. The server keeps it even if another run overwrites the message on the thread. */
const messageRecord = z.object({
	role: z.string(),
	content: z.unknown(),
	...eachOf(textIfAny.nullish(), 'status', 'error'),
});

const foundMessages = z
	.object({ items: z.array(messageRecord.optional().catch(undefined)) })
	.transform(({ items }) => compact(items));

/**
 * Finds the stored answer of a run in the conversations of its thread.
 *
 * @param executionId the run ID
 * @returns the message, undefined if no conversation contains it; or the failure if a conversation, or the list of
 * conversations, could not be read
 */
export async function findAnswer(
	client: ApiClient,
	{ failure: unread, conversationIds }: Pick<ConversationFacts, 'failure' | 'conversationIds'>,
	executionId: string,
) {
	for (const id of conversationIds) {
		const { answer, failure } = await call(client, {
			...SEARCH,
			path: buildPath('/conversations/{id}/messages/search', { id }),
			body: JSON.stringify({ where: { executionId } }),
			schema: foundMessages,
		});
		const message = answer?.findLast(({ role }) => role === 'ai');
		if (failure || message) return { message, failure };
	}
	return { message: undefined, failure: unread };
}

/*
 * The routes of runs. The statuses of a run mean (recorded, background.json):
 *
 * - `running`: the run is in progress, its server was killed, or the run is a leftover of a decision or of a rejected
 *   message. A leftover never ends and has no assistant; a real run has an assistant from its start.
 * - `success`: the run has completed. Thread, conversation and message may show the end later.
 * - `interrupted`: the run waits for a person, or was cancelled before or after its end. The stream shows which.
 *
 * The list of runs has no order.
 */

/** Starts a run and waits for it in one request (E4); the only run route that every server has. */
export const WAIT_PATH = '/threads/{threadId}/runs/wait';
const RUNS_PATH = '/threads/{threadId}/runs';
const ONE_RUN_PATH = `${RUNS_PATH}/{runId}`;
const STREAM_PATH = `${ONE_RUN_PATH}/stream`;
const CANCEL_PATH = `${ONE_RUN_PATH}/cancel`;

/** How long the server may take to store the messages of a run that has ended (recorded: 0.2 to 0.6 s). */
export const SETTLING_MS = 800;

/**
 * The fields of a run that the node reads. Any status is accepted, as the server has more than the recorded statuses.
 */
const runRecord = z.object({
	run_id: z.string().min(1),
	thread_id: textIfAny,
	assistant_id: textIfAny.nullish(),
	status: textIfAny,
	created_at: z.string().catch(''),
	updated_at: textIfAny,
});

/** What the status of a run means: the run goes on, has ended, or the status is unknown. */
export function stageOf({ status = '' }: RunRecord): 'goesOn' | 'ended' | 'unknown' {
	if (['running', 'pending'].includes(status)) return 'goesOn';
	return ['success', 'error', 'interrupted', 'timeout'].includes(status) ? 'ended' : 'unknown';
}

export interface RunIds {
	threadId: string;
	runId: string;
}

/** A run as the server lists it, without messages. */
export type RunRecord = z.infer<typeof runRecord>;

/**
 * Reads one run, and checks that the run is on this thread: the server does not check this (recorded). Never throws.
 */
export async function readRun(client: ApiClient & RunIds): Promise<Result<RunRecord>> {
	const read = await readRunById(client);
	const { threadId, runId } = client;
	const actual = read.answer?.thread_id ?? threadId;
	if (!read.ok || actual.toLowerCase() === threadId.toLowerCase()) return read;
	const reason =
		'The run is of another thread: take threadId and runId from the same Thread: Start Run';
	const path = API_ROOT + buildPath(ONE_RUN_PATH, { threadId, runId });
	const failure: Failure = { kind: 'unsuccessful', method: 'GET', path, reason };
	return { ...read, ok: false, failure, answer: undefined };
}

/** ID of the thread that a run is on; the given ID if the run cannot be read. */
export async function threadOfRun(client: ApiClient & RunIds) {
	return (await readRunById(client)).answer?.thread_id ?? client.threadId;
}

async function readRunById(client: ApiClient & RunIds): Promise<Result<RunRecord>> {
	const { threadId, runId } = client;
	const path = buildPath(ONE_RUN_PATH, { threadId, runId });
	const schema = runRecord.refine((record) => record.run_id === runId, 'it is not this run');
	return await call(client, { ...READ, path, schema });
}

const runList = z
	.array(runRecord.optional().catch(undefined), { message: 'it is not a list of runs' })
	.transform((runs) => compact(runs));

/** Lists the runs of a thread, in no order. The list of an unknown thread is empty. Never throws. */
export async function listRuns(client: ApiClient, threadId: string) {
	const path = buildPath(RUNS_PATH, { threadId });
	return await call(client, { ...READ, path, schema: runList });
}

/** The runs that really started, which have an assistant; leftovers have none. */
export const startedRuns = (runs: RunRecord[]): RunRecord[] =>
	runs.filter((run) => run.assistant_id);

/** The run that started last; if two started at the same time, the run with the greater ID. */
export const newestOf = (runs: RunRecord[]): RunRecord | undefined =>
	maxBy(startedRuns(runs), runSortKey);

/** Sort key of a run on its thread: start time, then ID. */
export const runSortKey = ({ created_at: startedAt, run_id: id }: RunRecord): string =>
	`${startedAt} ${id}`;

/**
 * At most this many attempts to start a run, as long as the server certainly did not start it. Few, so that an outage
 * is reported soon.
 */
export const START_TRIES = 5;

/** Starts a run, or sends a decision or a retry. Does not send again if the answer is lost. Never throws. */
export async function startRun(client: ApiClient, threadId: string, body: object) {
	return await call(client, {
		method: 'POST',
		path: buildPath(RUNS_PATH, { threadId }),
		body: JSON.stringify(body),
		schema: runRecord,
		repeatable: false,
		maxTries: START_TRIES,
	});
}

/** After this silence a stream counts as broken, because the server sends a heartbeat every 30 s (recorded). */
const SILENCE_MS = 75_000;

/**
 * The request that joins the stream of a run. The stream continues after the last event in `events`, and ends when
 * `signal` is aborted.
 */
export function joinRun(
	ids: RunIds,
	events: { lastId?: string; addEvent: EventStream['onEvent'] },
	signal: AbortSignal,
): ApiRequest {
	const { threadId, runId } = ids;
	const onEvent = events.addEvent.bind(events);
	return {
		method: 'GET',
		path: buildPath(STREAM_PATH, { threadId, runId }),
		timeoutMs: SILENCE_MS,
		schema: anyAnswer,
		stream: { lastEventId: events.lastId, signal, onEvent },
	};
}

const cancelled = z.object({ canceledExecutionIds: z.array(z.string()) });

/**
 * Cancels a run. Does not send again if the answer is lost, because the run may have ended by itself meanwhile. Never
 * throws.
 */
export async function requestCancel(client: ApiClient & RunIds) {
	const { threadId, runId } = client;
	return await call(client, {
		method: 'POST',
		path: buildPath(CANCEL_PATH, { threadId, runId }),
		repeatable: false,
		schema: cancelled.refine(
			({ canceledExecutionIds: ids }) => ids.includes(runId),
			'it does not say that this run was cancelled',
		),
	});
}
