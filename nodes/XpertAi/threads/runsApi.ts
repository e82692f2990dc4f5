import { compact, maxBy } from 'lodash';
import { z } from 'zod';

import { lenientText } from '../payloads/zodHelpers';
import { anySuccessfulAnswer } from '../transport/answerSchemas';
import { API_ROOT, buildPath } from '../transport/api';
import { type ApiClient, call, type CallResult, type RetryableRequest } from '../transport/call';
import { READ_REQUEST } from './requests';
import type { EventStreamOptions } from '../transport/eventStream';
import type { Failure } from '../transport/failure';
import type { ApiRequest } from '../transport/request';

/** The route that starts a run and waits for the end (E4). On some servers, this is the only route for runs. */
export const START_AND_WAIT_PATH = '/threads/{threadId}/runs/wait';

const RUNS_PATH = '/threads/{threadId}/runs';

const ONE_RUN_PATH = `${RUNS_PATH}/{runId}`;

const STREAM_PATH = `${ONE_RUN_PATH}/stream`;

const CANCEL_PATH = `${ONE_RUN_PATH}/cancel`;

/** Time for the server to store the messages of an ended run. Recordings show 0.2 to 0.6 s. */
export const SETTLING_MS = 800;

/** The fields of a run that the node reads. Accepts any status, because a server may send one that the node does not know. */
const runRecordSchema = z.object({
	run_id: z.string().min(1),
	thread_id: lenientText,
	assistant_id: lenientText.nullish(),
	status: lenientText,
	created_at: z.string().catch(''),
	updated_at: lenientText,
});

/** Whether a run goes on or has ended, according to its status. An interrupted run has ended. */
export function stageOf({ status = '' }: RunRecord): 'goesOn' | 'ended' | 'unknown' {
	if (['running', 'pending'].includes(status)) return 'goesOn';
	return ['success', 'error', 'interrupted', 'timeout'].includes(status) ? 'ended' : 'unknown';
}

export interface RunIds {
	threadId: string;
	runId: string;
}

/** A run as the server lists it, without messages. */
export type RunRecord = z.infer<typeof runRecordSchema>;

/** Reads one run. Checks the thread of the run, because the server ignores the thread ID. Never throws. */
export async function readRun(client: ApiClient & RunIds): Promise<CallResult<RunRecord>> {
	const read = await readRunOnAnyThread(client);
	const { threadId, runId } = client;
	const actual = read.answer?.thread_id ?? threadId;
	if (!read.ok || actual.toLowerCase() === threadId.toLowerCase()) return read;
	const path = API_ROOT + buildPath(ONE_RUN_PATH, { threadId, runId });
	const failure: Failure = {
		kind: 'unsuccessful',
		method: 'GET',
		path,
		reason: OTHER_THREAD_REASON,
	};
	return { ...read, ok: false, failure, answer: undefined };
}

const OTHER_THREAD_REASON =
	'The run is of another thread: take threadId and runId from the same Thread: Start Run';

/** Reads one run, even if it is on another thread, because the server ignores the thread ID. */
async function readRunOnAnyThread(client: ApiClient & RunIds): Promise<CallResult<RunRecord>> {
	const { threadId, runId } = client;
	const path = buildPath(ONE_RUN_PATH, { threadId, runId });
	const schema = runRecordSchema.refine((record) => record.run_id === runId, 'it is not this run');
	return await call(client, { ...READ_REQUEST, path, schema });
}

const runListSchema = z
	.array(runRecordSchema.optional().catch(undefined), { message: 'it is not a list of runs' })
	.transform((runs) => compact(runs));

/** Lists the runs of a thread, in no order. An unknown thread gives an empty list. Never throws. */
export async function listRuns(client: ApiClient, threadId: string) {
	const path = buildPath(RUNS_PATH, { threadId });
	return await call(client, { ...READ_REQUEST, path, schema: runListSchema });
}

/** Returns the runs that have started: those with an assistant. Most records without one are not real runs. */
export const startedRuns = (runs: RunRecord[]): RunRecord[] =>
	runs.filter((run) => run.assistant_id);

/** The run that started last, among the `startedRuns`. */
export const newestRun = (runs: RunRecord[]): RunRecord | undefined =>
	maxBy(startedRuns(runs), runSortKey);

/** Sort key of a run on its thread: start time, then ID. */
export const runSortKey = ({ created_at: startedAt, run_id: id }: RunRecord): string =>
	`${startedAt} ${id}`;

/**
 * Sends the request that starts a run, or continues a run after a decision. Does not repeat a request that the server may
 * have processed. Never throws.
 */
export async function startRun(
	client: ApiClient,
	threadId: string,
	body: object,
	limits: Pick<RetryableRequest<unknown>, 'maxTries' | 'timeoutMs' | 'shouldStopRetrying'>,
) {
	return await call(client, {
		method: 'POST',
		path: buildPath(RUNS_PATH, { threadId }),
		body: JSON.stringify(body),
		schema: runRecordSchema,
		repeatable: false,
		...limits,
	});
}

/** Maximum time without data before a stream counts as broken. The server sends a heartbeat every 30 s. */
const SILENCE_MS = 75_000;

/** Returns the request for the event stream of a run. The stream starts after the event `events.lastId`. */
export function streamRequest(
	ids: RunIds,
	events: { lastId?: string; addEvent: EventStreamOptions['onEvent'] },
	signal: AbortSignal,
): ApiRequest {
	const { threadId, runId } = ids;
	const onEvent = events.addEvent.bind(events);
	return {
		method: 'GET',
		path: buildPath(STREAM_PATH, { threadId, runId }),
		timeoutMs: SILENCE_MS,
		schema: anySuccessfulAnswer,
		stream: { lastEventId: events.lastId, signal, onEvent },
	};
}

const cancelAnswerSchema = z.object({ canceledExecutionIds: z.array(z.string()) });

/**
 * Cancels a run. Never throws. Does not repeat a request that the server may have processed. If the run has completed
 * in the meantime, a repeated request would mark the completed run as cancelled.
 */
export async function requestCancel(client: ApiClient & RunIds) {
	const { threadId, runId } = client;
	return await call(client, {
		method: 'POST',
		path: buildPath(CANCEL_PATH, { threadId, runId }),
		repeatable: false,
		schema: cancelAnswerSchema.refine(
			({ canceledExecutionIds: ids }) => ids.includes(runId),
			'it does not say that this run was cancelled',
		),
	});
}
