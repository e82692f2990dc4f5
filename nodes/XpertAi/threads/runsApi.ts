import compact from 'lodash/compact';
import maxBy from 'lodash/maxBy';
import { z } from 'zod';

import { API_ROOT, buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import type { ApiRequest } from '../transport/request';
import { usageOf } from './runEvents';
import type { RunEvents, Usage } from './runEvents';
import { callApi } from './thread';
import type { ApiClient, Result } from './thread';

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

const NOT_THIS_RUN = 'it is not this run';

/** Reads one run. Checks its thread, as the server does not (recorded). Never throws. */
export async function readRun(client: ApiClient & RunIds): Promise<Result<RunRecord>> {
	const { threadId, runId } = client;
	const path = buildPath(ONE_RUN_PATH, { threadId, runId });
	const schema = runRecord.refine((record) => record.run_id === runId);
	const read = await callApi(client, { method: 'GET', path, schema, flaw: NOT_THIS_RUN });
	if (!read.ok || read.answer.thread_id === threadId) return read;
	const reason =
		'The run is of another thread: take threadId and runId from the same Thread: Start Run';
	const failure: Failure = { kind: 'unsuccessful', method: 'GET', path: API_ROOT + path, reason };
	return { ok: false, failure, mayBeDone: false };
}

/** Lists the runs of a thread, in no order. An unknown thread has none. Never throws. */
export async function listRuns(client: ApiClient, threadId: string): Promise<Result<RunRecord[]>> {
	return await callApi(client, {
		...{ method: 'GET', path: buildPath(RUNS_PATH, { threadId }) },
		...{ schema: z.array(runRecord), flaw: 'it is not a list of runs' },
	});
}

/** The runs that really started. */
export function startedRuns(runs: RunRecord[]): RunRecord[] {
	return runs.filter((run) => run.assistant_id);
}

/** The run that started last; with equal times, the one with the greater ID. */
export function newestRun(runs: RunRecord[]): RunRecord | undefined {
	return maxBy(startedRuns(runs), runSortKey);
}

/** Sort key of a run on its thread: start time, then ID. */
export function runSortKey({ created_at: startedAt, run_id: id }: RunRecord): string {
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
export const START_TRIES = 5;

/** Starts a run or decides one. Does not send again if the answer is lost. Never throws. */
export async function startRun(
	client: ApiClient,
	threadId: string,
	body: Record<string, unknown>,
): Promise<Result<RunRecord>> {
	return await callApi(client, {
		...{ method: 'POST', path: buildPath(RUNS_PATH, { threadId }), body: JSON.stringify(body) },
		schema: runRecord.refine((record) => record.thread_id === threadId),
		...{ flaw: NOT_THIS_RUN, repeatable: false, maxTries: START_TRIES },
	});
}

/** Longest silence of a stream, which sends a heartbeat every 30 s (recorded). */
const SILENCE_MS = 75_000;

/** The request that joins the stream of a run after the last event, until `signal` aborts it. */
export function joinRun(ids: RunIds, events: RunEvents, signal: AbortSignal): ApiRequest {
	const { threadId, runId } = ids;
	const path = buildPath(STREAM_PATH, { threadId, runId });
	const onEvent = events.addEvent.bind(events);
	return {
		...{ method: 'GET', path, timeoutMs: SILENCE_MS },
		stream: { lastEventId: events.lastId, signal, onEvent },
	};
}

const cancelled = z.object({ canceledExecutionIds: z.array(z.string()) });

/** Cancels a run. Sent once: before a second request, the run may have ended by itself. Never throws. */
export async function requestCancel(client: ApiClient & RunIds): Promise<Result<unknown>> {
	const { threadId, runId } = client;
	return await callApi(client, {
		...{ method: 'POST', path: buildPath(CANCEL_PATH, { threadId, runId }) },
		schema: cancelled.refine(({ canceledExecutionIds: ids }) => ids.includes(runId)),
		...{ flaw: 'it does not say that this run was cancelled', repeatable: false },
	});
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

const foundMessages = z
	.object({ items: z.array(messageRecord.optional().catch(undefined)) })
	.transform(({ items }) => compact(items));

/** Searches the messages of a conversation. Never throws. */
export async function findMessages(
	client: ApiClient,
	conversationId: string,
	where: Record<string, unknown>,
): Promise<Result<MessageRecord[]>> {
	return await callApi(client, {
		method: 'POST',
		path: buildPath('/conversations/{conversationId}/messages/search', { conversationId }),
		body: JSON.stringify({ where }),
		...{ schema: foundMessages, flaw: 'it holds no list of results' },
	});
}

const contextUsage = z.object({
	run_id: z.string(),
	usage: z.object({
		input_tokens: z.number(),
		output_tokens: z.number(),
		total_tokens: z.number(),
	}),
});

/** The token usage of a run, which the server gives for the last run of a thread only. Never throws. */
export async function readUsage(client: ApiClient & RunIds): Promise<Usage | undefined> {
	const path = buildPath('/threads/{threadId}/context-usage', { threadId: client.threadId });
	const flaw = 'it is not the usage of a thread';
	const read = await callApi(client, {
		...{ method: 'GET', path, schema: contextUsage, flaw, maxTries: 1 },
	});
	if (!read.ok || read.answer.run_id !== client.runId) return undefined;
	const { total_tokens: total, input_tokens: input, output_tokens: output } = read.answer.usage;
	return usageOf(total, input, output);
}
