import isMatch from 'lodash/isMatch';
import maxBy from 'lodash/maxBy';
import { z } from 'zod';

import { answerMustBe, answerWithList, isJsonObject } from '../transport/answer';
import type { AnswerCheck } from '../transport/answer';
import { API_ROOT, buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import type { ApiRequest } from '../transport/request';
import { SINGLE_REQUEST_LIMITS, sendWithRetries } from '../transport/sendWithRetries';
import type { RetriedOutcome } from '../transport/sendWithRetries';
import { usageOf } from './runEvents';
import type { RunEvents, Usage } from './runEvents';
import { withRetries } from './thread';
import type { ApiClient } from './thread';

/*
 * The routes of runs (recorded, background.json):
 *
 * - `running` is a run in progress, a run whose server was killed, or a leftover of a decision or a refusal, which
 *   never ends and has no assistant. A real run has an assistant from its start.
 * - `success` is reported before thread, conversation and message show the end.
 * - `interrupted` is a run that waits for a person, that was cancelled, or that was cancelled after its end; its stream
 *   tells which.
 * - The list has no order.
 */

/** Starts a run and waits for it in one request (E4); the only route of runs in the contract. */
export const WAIT_PATH = '/threads/{threadId}/runs/wait';
export const RUNS_PATH = '/threads/{threadId}/runs';
export const ONE_RUN_PATH = `${RUNS_PATH}/{runId}`;
const STREAM_PATH = `${ONE_RUN_PATH}/stream`;
export const CANCEL_PATH = `${ONE_RUN_PATH}/cancel`;

/** How long after the end of a run its messages may take to be stored (recorded: 0.2 to 0.6 s). */
export const SETTLING_MS = 800;

const SHORT_TIMEOUT_MS = 30_000;

const runRecord = z.object({
	run_id: z.string().min(1),
	thread_id: z.string(),
	assistant_id: z.string().nullish(),
	status: z.enum(['running', 'success', 'error', 'interrupted']),
	created_at: z.string(),
	updated_at: z.string().optional(),
});

/** A run and its thread. */
export interface RunIds {
	threadId: string;
	runId: string;
}

/** A run as the server lists it, without messages. */
export type RunRecord = z.infer<typeof runRecord>;

/** Checks that the answer is the run with these values. */
function runMatching(expected: Partial<RunRecord>): AnswerCheck {
	return answerMustBe(
		(answer) => isMatch(runRecord.safeParse(answer).data ?? {}, expected),
		'it is not this run',
	);
}

/** Reads one run. Checks its thread, as the server does not (recorded). Never throws. */
export async function readRun(
	client: ApiClient,
	{ threadId, runId }: RunIds,
): Promise<{ record: RunRecord } | { failure: Failure }> {
	const path = buildPath(ONE_RUN_PATH, { threadId, runId });
	const checkAnswer = runMatching({ run_id: runId });
	const outcome = await withRetries(client)(withTimeout({ method: 'GET', path, checkAnswer }));
	if (!outcome.ok) return { failure: outcome.failure };
	const record = runRecord.parse(outcome.answer);
	if (record.thread_id === threadId) return { record };
	const reason =
		'The run is of another thread: take threadId and runId from the same Thread: Start Run';
	return { failure: { kind: 'unsuccessful', method: 'GET', path: API_ROOT + path, reason } };
}

const runList = z.array(runRecord);

/** Lists the runs of a thread, in no order. An unknown thread has none. Never throws. */
export async function listRuns(
	client: ApiClient,
	threadId: string,
): Promise<{ runs: RunRecord[] } | { failure: Failure }> {
	const isList = (answer: unknown) => runList.safeParse(answer).success;
	const outcome = await withRetries(client)(
		withTimeout({
			method: 'GET',
			path: buildPath(RUNS_PATH, { threadId }),
			checkAnswer: answerMustBe(isList, 'it is not a list of runs'),
		}),
	);
	return outcome.ok ? { runs: runList.parse(outcome.answer) } : { failure: outcome.failure };
}

/** The runs that really started. */
export function startedRuns(runs: RunRecord[]): RunRecord[] {
	return runs.filter((run) => run.assistant_id);
}

/** The run that started last; with equal times, the one with the greater ID. */
export function newestRun(runs: RunRecord[]): RunRecord | undefined {
	return maxBy(startedRuns(runs), runOrder);
}

/** Sort key of a run on its thread: start time, then ID. */
export function runOrder({ created_at: startedAt, run_id: id }: RunRecord): string {
	return `${startedAt} ${id}`;
}

/**
 * Whether the server lacks the routes of runs. A 404, 405 or 501 that is not about a record comes from something that
 * does not know the route, so no run has started.
 */
export function areRunRoutesMissing({ kind, status = 0, missing }: Failure): boolean {
	if (kind !== 'status') return false;
	return status === 405 || status === 501 || (status === 404 && missing !== 'record');
}

/** Tries while the server certainly did not start the run. A server that is down is reported soon. */
const START_TRIES = 5;

/** Starts a run or decides one. Does not send again if the answer is lost. Never throws. */
export async function startRun(
	client: ApiClient & { deadline: number },
	threadId: string,
	body: Record<string, unknown>,
): Promise<{ record: RunRecord } | { failure: Failure; mayBeDone: boolean }> {
	const request: Omit<ApiRequest, 'timeoutMs'> = {
		method: 'POST',
		path: buildPath(RUNS_PATH, { threadId }),
		body: JSON.stringify(body),
		checkAnswer: runMatching({ thread_id: threadId }),
	};
	const maxElapsedMs = Math.max(0, client.deadline - client.clock.now());
	const limits = { maxTries: START_TRIES, maxElapsedMs };
	const { outcome, mayBeDone } = await sendOnce(client, request, limits);
	return outcome.ok
		? { record: runRecord.parse(outcome.answer) }
		: { failure: outcome.failure, mayBeDone };
}

/** Longest silence of a stream, which sends a heartbeat every 30 s (recorded). */
const SILENCE_MS = 75_000;

/** The request that joins the stream of a run after the last event, until `signal` aborts it. */
export function joinRun(ids: RunIds, events: RunEvents, signal: AbortSignal): ApiRequest {
	const path = buildPath(STREAM_PATH, { ...ids });
	const onEvent = events.addEvent.bind(events);
	return {
		...{ method: 'GET', path, timeoutMs: SILENCE_MS },
		stream: { lastEventId: events.lastId, signal, onEvent },
	};
}

const cancelled = z.object({ canceledExecutionIds: z.array(z.string()) });

/** Cancels a run with one request: by a second one, the run might have ended by itself. Never throws. */
export async function requestCancel(
	client: ApiClient,
	{ threadId, runId }: RunIds,
): Promise<Failure | undefined> {
	const { outcome } = await sendOnce(client, {
		method: 'POST',
		path: buildPath(CANCEL_PATH, { threadId, runId }),
		checkAnswer: answerMustBe(
			(answer) => cancelled.safeParse(answer).data?.canceledExecutionIds.includes(runId) === true,
			'it does not say that this run was cancelled',
		),
	});
	return outcome.ok ? undefined : outcome.failure;
}

const messageRecord = z.object({
	id: z.string().optional(),
	role: z.string(),
	content: z.unknown(),
	createdAt: z.string().optional(),
	executionId: z.string().nullish(),
	status: z.string().nullish(),
	error: z.string().nullish().catch(undefined),
});

/** A message as a conversation stores it, even if another run has overwritten it on the thread. */
export type MessageRecord = z.infer<typeof messageRecord>;

/** Searches the messages of a conversation. Never throws. */
export async function findMessages(
	client: ApiClient,
	conversationId: string,
	where: Record<string, unknown>,
): Promise<{ messages?: MessageRecord[]; failure?: Failure }> {
	const outcome = await withRetries(client)(
		withTimeout({
			method: 'POST',
			path: buildPath('/conversations/{conversationId}/messages/search', { conversationId }),
			body: JSON.stringify({ where }),
			checkAnswer: answerWithList('items'),
		}),
	);
	if (!outcome.ok) return { failure: outcome.failure };
	const { items } = z.object({ items: z.array(z.unknown()) }).parse(outcome.answer);
	return { messages: items.flatMap((one) => messageRecord.safeParse(one).data ?? []) };
}

const usage = z.object({
	run_id: z.string(),
	usage: z.object({
		input_tokens: z.number(),
		output_tokens: z.number(),
		total_tokens: z.number(),
	}),
});

/** The token usage of a run, which the server gives for the last run of a thread only. Never throws. */
export async function readUsage(
	client: ApiClient,
	{ threadId, runId }: RunIds,
): Promise<Usage | undefined> {
	const path = buildPath('/threads/{threadId}/context-usage', { threadId });
	const outcome = await client.send(withTimeout({ method: 'GET', path, checkAnswer: isObject }));
	const { data } = usage.safeParse(outcome.ok && outcome.answer);
	if (data?.run_id !== runId) return undefined;
	const { total_tokens: total, input_tokens: input, output_tokens: output } = data.usage;
	return usageOf(total, input, output);
}

const isObject = answerMustBe(isJsonObject, 'it is not the usage of a thread');

const withTimeout = (request: Omit<ApiRequest, 'timeoutMs'>): ApiRequest => ({
	...request,
	timeoutMs: SHORT_TIMEOUT_MS,
});

/** Sends a request that must not take effect twice: retries only if it certainly had no effect. */
async function sendOnce(
	{ send, clock, signal }: ApiClient,
	request: Omit<ApiRequest, 'timeoutMs'>,
	limits = SINGLE_REQUEST_LIMITS,
): Promise<RetriedOutcome> {
	const retried = { request: withTimeout(request), limits, repeatable: false, clock, signal };
	return await sendWithRetries(send, retried);
}
