import isMatch from 'lodash/isMatch';
import maxBy from 'lodash/maxBy';
import { z } from 'zod';

import { answerMustBe, answerWithList, isJsonObject } from '../transport/answer';
import type { AnswerCheck } from '../transport/answer';
import { API_ROOT, buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import type { ApiRequest } from '../transport/request';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import type { RetriedOutcome } from '../transport/sendWithRetries';
import { usageOf } from './runEvents';
import type { RunEvents, Usage } from './runEvents';
import { retrying } from './thread';
import type { Asking } from './thread';

/*
 * The routes of runs (recorded, background.json):
 *
 * - `running` is a run that goes on, one whose server was killed, and what is left over of a decision or a refusal,
 *   which never ends: that has no assistant. A run that truly runs has one from its first moments on.
 * - `success` comes before thread, conversation and message show the end.
 * - `interrupted` is a run that waits for a person, one that somebody has cancelled, and one that was cancelled after
 *   its end: its stream tells which.
 * - The list has no order.
 */

/** Where a run is waited for in one request (E4), the only route of the contract. */
export const WAIT_PATH = '/threads/{threadId}/runs/wait';
export const RUNS_PATH = '/threads/{threadId}/runs';
export const ONE_RUN_PATH = `${RUNS_PATH}/{runId}`;
export const STREAM_PATH = `${ONE_RUN_PATH}/stream`;
export const CANCEL_PATH = `${ONE_RUN_PATH}/cancel`;

/** So long after the end of a run what it said may take to be stored (recorded: 0.2 to 0.6 s). */
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

/** A run by its ID. */
export interface RunIds {
	threadId: string;
	runId: string;
}

/** A run as the server lists it: no word of what was said. */
export type RunRecord = z.infer<typeof runRecord>;

/** The run, told by what it must have; another is no answer. */
function runWith(wanted: Partial<RunRecord>): AnswerCheck {
	return answerMustBe(
		(answer) => isMatch(runRecord.safeParse(answer).data ?? {}, wanted),
		'it is not this run',
	);
}

/** Reads one run. The server does not look at the thread (recorded), so it is looked at here. Never throws. */
export async function readRun(
	asking: Asking,
	{ threadId, runId }: RunIds,
): Promise<{ record: RunRecord } | { failure: Failure }> {
	const path = buildPath(ONE_RUN_PATH, { threadId, runId });
	const checkAnswer = runWith({ run_id: runId });
	const outcome = await retrying(asking)(short({ method: 'GET', path, checkAnswer }));
	if (!outcome.ok) return { failure: outcome.failure };
	const record = runRecord.parse(outcome.answer);
	if (record.thread_id === threadId) return { record };
	const reason =
		'The run is of another thread: take threadId and runId from the same Thread: Start Run';
	return { failure: { kind: 'unsuccessful', method: 'GET', path: API_ROOT + path, reason } };
}

const runList = z.array(runRecord);

/** Lists the runs of a thread, in no order; a thread that nobody knows has none. Never throws. */
export async function listRuns(
	asking: Asking,
	threadId: string,
): Promise<{ runs: RunRecord[] } | { failure: Failure }> {
	const isList = (answer: unknown) => runList.safeParse(answer).success;
	const outcome = await retrying(asking)(
		short({
			method: 'GET',
			path: buildPath(RUNS_PATH, { threadId }),
			checkAnswer: answerMustBe(isList, 'it is not a list of runs'),
		}),
	);
	return outcome.ok ? { runs: runList.parse(outcome.answer) } : { failure: outcome.failure };
}

/** The runs that truly began. */
export function begunRuns(runs: RunRecord[]): RunRecord[] {
	return runs.filter((run) => run.assistant_id);
}

/** The run that began last; of two that began at the same moment, that with the greater ID. */
export function newestRun(runs: RunRecord[]): RunRecord | undefined {
	return maxBy(begunRuns(runs), runPlace);
}

/** The place of a run among those of its thread: by its beginning, and of one moment by its ID. */
export function runPlace({ created_at: begun, run_id: id }: RunRecord): string {
	return `${begun} ${id}`;
}

/**
 * Whether a server has no routes of runs. A 404, 405 or 501 that does not speak of a record comes from whatever does not
 * know the route, so nothing has begun; one address that has answered before has the route.
 */
export function areRoutesMissing({ kind, status = 0, missing, answeredBefore }: Failure): boolean {
	if (kind !== 'status' || answeredBefore) return false;
	return status === 405 || status === 501 || (status === 404 && missing !== 'record');
}

/** Tries while the server certainly has not begun; a server that is down is reported soon. */
const START_TRIES = 5;

/** Begins a run, or decides one. It is not sent again when its answer is lost. Never throws. */
export async function startRun(
	asking: Asking & { deadline: number },
	threadId: string,
	body: Record<string, unknown>,
): Promise<{ record: RunRecord } | { failure: Failure; mayBeDone: boolean }> {
	const request: Omit<ApiRequest, 'timeoutMs'> = {
		method: 'POST',
		path: buildPath(RUNS_PATH, { threadId }),
		body: JSON.stringify(body),
		checkAnswer: runWith({ thread_id: threadId }),
	};
	const maxElapsedMs = Math.max(0, asking.deadline - asking.clock.now());
	const limits = { maxTries: START_TRIES, maxElapsedMs };
	const { outcome, mayBeDone } = await sendOnce(asking, request, limits);
	return outcome.ok
		? { record: runRecord.parse(outcome.answer) }
		: { failure: outcome.failure, mayBeDone };
}

/** So long nothing at all may come: a stream says every 30 s that it is there (recorded). */
const SILENCE_MS = 75_000;

/** The request that joins a run where it was heard last, until `over`. */
export function joining(ids: RunIds, events: RunEvents, over: AbortSignal): ApiRequest {
	const path = buildPath(STREAM_PATH, { ...ids });
	const hear = events.hear.bind(events);
	return {
		...{ method: 'GET', path, timeoutMs: SILENCE_MS },
		stream: { after: events.lastId, over, hear },
	};
}

const cancelled = z.object({ canceledExecutionIds: z.array(z.string()) });

/** Asks for the end of a run, once: a second time it might have ended by itself. Never throws. */
export async function requestCancel(
	asking: Asking,
	{ threadId, runId }: RunIds,
): Promise<Failure | undefined> {
	const { outcome } = await sendOnce(asking, {
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

/** A message as a conversation keeps it, also where another run has overwritten it on the thread. */
export type MessageRecord = z.infer<typeof messageRecord>;

/** Finds messages of a conversation. Never throws. */
export async function findMessages(
	asking: Asking,
	conversationId: string,
	where: Record<string, unknown>,
): Promise<{ messages?: MessageRecord[]; failure?: Failure }> {
	const outcome = await retrying(asking)(
		short({
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

/** What a run has used, which a thread tells of its last one only. Never throws. */
export async function readUsage(
	asking: Asking,
	{ threadId, runId }: RunIds,
): Promise<Usage | undefined> {
	const path = buildPath('/threads/{threadId}/context-usage', { threadId });
	const outcome = await asking.send(short({ method: 'GET', path, checkAnswer: isObject }));
	const { data } = usage.safeParse(outcome.ok && outcome.answer);
	if (data?.run_id !== runId) return undefined;
	const { total_tokens: total, input_tokens: input, output_tokens: output } = data.usage;
	return usageOf(total, input, output);
}

const isObject = answerMustBe(isJsonObject, 'it is not the usage of a thread');

const short = (request: Omit<ApiRequest, 'timeoutMs'>): ApiRequest => ({
	...request,
	timeoutMs: SHORT_TIMEOUT_MS,
});

/** Sends what must not be done twice: again only where it has certainly not begun. */
async function sendOnce(
	{ send, clock, signal }: Asking,
	request: Omit<ApiRequest, 'timeoutMs'>,
	limits = SINGLE_REQUEST_LIMITS,
): Promise<RetriedOutcome> {
	const retried = { request: short(request), limits, repeatable: false, clock, signal };
	return await sendWithRetries(send, retried);
}
