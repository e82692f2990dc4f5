import isMatch from 'lodash/isMatch';
import maxBy from 'lodash/maxBy';
import { z } from 'zod';

import { retrying } from '../threads/thread';
import type { Asking } from '../threads/thread';
import { answerMustBe } from '../transport/answer';
import type { AnswerCheck } from '../transport/answer';
import { API_ROOT, buildPath } from '../transport/api';
import type { Failure } from '../transport/failure';
import type { ApiRequest } from '../transport/request';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { sendWithRetries } from '../transport/sendWithRetries';
import type { RetriedOutcome } from '../transport/sendWithRetries';
import { CANCEL_PATH, ONE_RUN_PATH, RUNS_PATH } from './paths';

/*
 * A run by its number, as the routes of runs in the background tell of it (recorded, background.json):
 *
 * - `running` is a run that goes on, and also what is left over of a decision or a refusal, which never ends: that has
 *   no assistant. A run that truly runs has one from its first moments on.
 * - `success` comes before thread and conversation have stopped to be busy.
 * - `interrupted` is a run that waits for a person, and one that somebody has cancelled: the conversation tells which.
 * - A finished run that is cancelled becomes `interrupted`: look before, and do not believe it afterwards.
 * - The list has no order.
 */

const SHORT_TIMEOUT_MS = 30_000;

/** A run as the server tells of it: no word of what was said. */
const runRecord = z.object({
	run_id: z.string().min(1),
	thread_id: z.string(),
	assistant_id: z.string().nullish(),
	status: z.enum(['running', 'success', 'error', 'interrupted']),
	created_at: z.string(),
	updated_at: z.string().optional(),
});

export type RunRecord = z.infer<typeof runRecord>;

/** A run by its number. */
export interface NumberedRun {
	threadId: string;
	runId: string;
}

/** The run, told by what it must have; another is no answer. */
function runWith(wanted: Partial<RunRecord>): AnswerCheck {
	return answerMustBe(
		(answer) => isMatch(runRecord.safeParse(answer).data ?? {}, wanted),
		'it is not this run',
	);
}

/** Reads one run; the server does not look at the thread (recorded), so that is looked at here. Never throws. */
export async function readRun(
	asking: Asking,
	{ threadId, runId }: NumberedRun,
): Promise<{ record: RunRecord } | { failure: Failure }> {
	const outcome = await retrying(asking)({
		method: 'GET',
		path: buildPath(ONE_RUN_PATH, { threadId, runId }),
		timeoutMs: SHORT_TIMEOUT_MS,
		checkAnswer: runWith({ run_id: runId }),
	});
	if (!outcome.ok) return { failure: outcome.failure };
	const record = runRecord.parse(outcome.answer);
	if (record.thread_id === threadId) return { record };
	const path = API_ROOT + buildPath(ONE_RUN_PATH, { threadId, runId });
	return { failure: { kind: 'unsuccessful', method: 'GET', path, reason: OTHER_THREAD } };
}

const OTHER_THREAD =
	'The run is of another thread: take threadId and runId from the same Thread: Start Run';

const runList = z.array(runRecord);

/** Lists the runs of a thread that truly began, in no order; a thread that nobody knows has none. Never throws. */
export async function listRuns(
	asking: Asking,
	threadId: string,
	limits = SINGLE_REQUEST_LIMITS,
): Promise<{ runs: RunRecord[] } | { failure: Failure }> {
	const isList = (answer: unknown) => runList.safeParse(answer).success;
	const outcome = await retrying(
		asking,
		limits,
	)({
		method: 'GET',
		path: buildPath(RUNS_PATH, { threadId }),
		timeoutMs: SHORT_TIMEOUT_MS,
		checkAnswer: answerMustBe(isList, 'it is not a list of runs'),
	});
	if (!outcome.ok) return { failure: outcome.failure };
	return { runs: runList.parse(outcome.answer).filter((run) => run.assistant_id) };
}

/** The run that began last; of two that began at the same moment, that with the greater number. */
export function newest(runs: RunRecord[]): RunRecord | undefined {
	return maxBy(runs, placeOf);
}

/** The place of a run among those of its thread: by its beginning, and of one moment by its number. */
export function placeOf({ created_at: begun, run_id: number }: RunRecord): string {
	return `${begun} ${number}`;
}

/**
 * Begins a run in the background. It is not sent again when its answer is lost. Never throws.
 *
 * @param body what E4 takes
 */
export async function startRun(
	asking: Asking,
	threadId: string,
	body: Record<string, unknown>,
): Promise<RetriedOutcome & { record?: RunRecord }> {
	const retried = await sendOnce(asking, {
		method: 'POST',
		path: buildPath(RUNS_PATH, { threadId }),
		body: JSON.stringify(body),
		checkAnswer: runWith({ thread_id: threadId }),
	});
	const { outcome } = retried;
	return { ...retried, ...(outcome.ok ? { record: runRecord.parse(outcome.answer) } : {}) };
}

const cancelled = z.object({ canceledExecutionIds: z.array(z.string()) });

/** Asks for the end of a run, once: a second time it might have ended by itself. Never throws. */
export async function requestCancel(
	asking: Asking,
	{ threadId, runId }: NumberedRun,
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

/** Sends what must not be done twice: again only where it has certainly not begun. */
async function sendOnce(
	{ send, clock, signal }: Asking,
	request: Omit<ApiRequest, 'timeoutMs'>,
): Promise<RetriedOutcome> {
	return await sendWithRetries(send, {
		request: { ...request, timeoutMs: SHORT_TIMEOUT_MS },
		...{ limits: SINGLE_REQUEST_LIMITS, repeatable: false, clock, signal },
	});
}
