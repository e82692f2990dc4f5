import compact from 'lodash/compact';
import maxBy from 'lodash/maxBy';
import { z } from 'zod';

import { textIfAny } from '../payloads/common';
import { anyAnswer } from '../transport/answer';
import { API_ROOT, buildPath } from '../transport/api';
import { call, type ApiClient, type Result } from '../transport/call';
import type { Failure } from '../transport/failure';
import type { ApiRequest } from '../transport/request';
import { usageOf, type RunEvents, type Usage } from './runEvents';

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
const RUNS_PATH = '/threads/{threadId}/runs';
const ONE_RUN_PATH = `${RUNS_PATH}/{runId}`;
const STREAM_PATH = `${ONE_RUN_PATH}/stream`;
const CANCEL_PATH = `${ONE_RUN_PATH}/cancel`;

/** How long after the end of a run its messages may take to be stored (recorded: 0.2 to 0.6 s). */
export const SETTLING_MS = 800;

/** The fields of a run that are read. A status may be any word: the server's own list is longer than the recorded ones. */
const runRecord = z.object({
	run_id: z.string().min(1),
	thread_id: textIfAny,
	assistant_id: textIfAny.nullish(),
	status: textIfAny,
	created_at: z.string().catch(''),
	updated_at: textIfAny,
});

/** What is known of a status: the run goes on, it has ended, or nothing. */
export function stageOf({ status = '' }: RunRecord): 'goesOn' | 'ended' | 'unknown' {
	if (['running', 'pending'].includes(status)) return 'goesOn';
	return ['success', 'error', 'interrupted', 'timeout'].includes(status) ? 'ended' : 'unknown';
}

/** A run and its thread. */
export interface RunIds {
	threadId: string;
	runId: string;
}

/** A run as the server lists it, without messages. */
export type RunRecord = z.infer<typeof runRecord>;

/** Reads one run. Checks its thread, as the server does not (recorded). Never throws. */
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

/** The thread that a run is on; the given one if it cannot be read. */
export async function threadOfRun(client: ApiClient & RunIds): Promise<string> {
	return (await readRunById(client)).answer?.thread_id ?? client.threadId;
}

async function readRunById(client: ApiClient & RunIds): Promise<Result<RunRecord>> {
	const { threadId, runId } = client;
	return await call(client, {
		method: 'GET',
		repeatable: true,
		path: buildPath(ONE_RUN_PATH, { threadId, runId }),
		schema: runRecord.refine((record) => record.run_id === runId, 'it is not this run'),
	});
}

const runList = z
	.array(runRecord.optional().catch(undefined), { message: 'it is not a list of runs' })
	.transform((runs) => compact(runs));

/** Lists the runs of a thread, in no order. An unknown thread has none. Never throws. */
export async function listRuns(client: ApiClient, threadId: string): Promise<Result<RunRecord[]>> {
	const path = buildPath(RUNS_PATH, { threadId });
	return await call(client, { method: 'GET', repeatable: true, path, schema: runList });
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

/** Tries while the server certainly did not start the run. A server that is down is reported soon. */
export const START_TRIES = 5;

/** Starts a run or decides one. Does not send again if the answer is lost. Never throws. */
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

/** Longest silence of a stream, which sends a heartbeat every 30 s (recorded). */
const SILENCE_MS = 75_000;

/** The request that joins the stream of a run after the last event, until `signal` aborts it. */
export function joinRun(
	ids: RunIds,
	events: RunEvents,
	signal: AbortSignal,
	onEvent = events.addEvent.bind(events),
): ApiRequest {
	const { threadId, runId } = ids;
	const path = buildPath(STREAM_PATH, { threadId, runId });
	return {
		method: 'GET',
		path,
		timeoutMs: SILENCE_MS,
		schema: anyAnswer,
		stream: { lastEventId: events.lastId, signal, onEvent },
	};
}

const cancelled = z.object({ canceledExecutionIds: z.array(z.string()) });

/** Cancels a run. Sent once: before a second request, the run may have ended by itself. Never throws. */
export async function requestCancel(client: ApiClient & RunIds): Promise<Result<unknown>> {
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
	const read = await call(client, {
		method: 'GET',
		repeatable: true,
		path,
		schema: contextUsage,
		maxTries: 1,
	});
	if (!read.ok || read.answer.run_id !== client.runId) return undefined;
	const { total_tokens: total, input_tokens: input, output_tokens: output } = read.answer.usage;
	return usageOf(total, input, output);
}
