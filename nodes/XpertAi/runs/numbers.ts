import get from 'lodash/get';

import type { ConversationFacts } from '../threads/conversation';
import { lastAsked, readThread } from '../threads/thread';
import type { ThreadState } from '../threads/state';
import { isRouteMissing } from '../transport/meaning';
import { SINGLE_REQUEST_LIMITS } from '../transport/retryPolicy';
import { listRuns, newest } from './byNumber';
import type { RunRecord } from './byNumber';
import type { Run, RunUnderWay } from './run';

/** A number is good to have, and no reason to wait long. */
const QUICKLY = { ...SINGLE_REQUEST_LIMITS, maxTries: 2 };

/** The runs of a thread; none where the server tells none, which is found out once an execution. */
async function runsOn(run: Run): Promise<RunRecord[]> {
	const { numbers, threadId } = run;
	if (numbers.areMissing) return [];
	const listed = await listRuns(run, threadId, QUICKLY);
	if ('runs' in listed) return listed.runs;
	numbers.areMissing = isRouteMissing(listed.failure);
	return [];
}

/**
 * The number of a run that E4 or a stream was sent: that of a decision is known, another is the only one on its thread
 * that has begun since that was read, by the server's own clock (recorded). Never throws.
 *
 * @returns undefined where the server tells none, or has several
 */
export async function numberOf(run: RunUnderWay): Promise<string | undefined> {
	if (run.ownId !== undefined) return run.ownId;
	const since = timeOf(run.before);
	if (since === undefined) return undefined;
	const begun = (await runsOn(run)).filter((one) => Date.parse(one.created_at) > since);
	return begun.length === 1 ? begun[0]?.run_id : undefined;
}

/** When a thread was as it was read, in milliseconds; the beginning of time where it had never run. */
function timeOf(before: ThreadState | undefined): number | undefined {
	if (before === undefined) return 0;
	const time = Date.parse(String(before.updated_at));
	return Number.isNaN(time) ? undefined : time;
}

/**
 * The number of the run that is decided: the user may name it; else it is the last of its thread, where that waits. Of
 * one that was cancelled while it waited, only decisions that name none are recorded. Never throws.
 */
export async function numberDecided(
	run: Run,
	facts: ConversationFacts | undefined,
): Promise<string | undefined> {
	const named: unknown = get(run.body, 'input.target.executionId');
	if (typeof named === 'string' && named !== '') return named;
	if (!facts || facts.tasks.length === 0 || facts.error) return undefined;
	const last = newest(await runsOn(run));
	return last?.status === 'interrupted' ? last.run_id : undefined;
}

/** Whether what runs on a thread is ours: of one that others use, only if it says so. Never throws. */
export async function isOwn(run: RunUnderWay): Promise<boolean> {
	const { isNew, ownId, send, threadId, question } = run;
	if (isNew || ownId !== undefined) return true;
	const reading = await readThread(send, threadId);
	return 'state' in reading && question !== undefined && lastAsked(reading.state) === question;
}
