import { readRun, requestCancel, stageOf } from '../threads/runsApi';
import { isOutage, isTransient } from '../transport/failure';
import { failureMessage } from '../transport/failureText';
import type { Send } from '../transport/request';
import { type Client, withDeadline } from './client';
import { provesCompletion, readSettled, replayEndedRun } from './readRunState';
import { resultFromEvents, type RunState } from './result';
import type { Run, RunClient } from './run';

/** Total time limit for the requests that cancel an abandoned run. */
const CANCEL_LIMIT_MS = 10_000;

/**
 * Cancels a run that has not ended. Never throws.
 *
 * @param startedBy who has started the run. A run of this execution is cancelled even if its record cannot be read.
 * @returns the status `cancelled`, the state of an ended run, or `unread` if a request failed
 */
export async function cancelRunById(
	run: RunClient,
	startedBy: 'thisExecution' | 'unknown' = 'unknown',
): Promise<RunState> {
	const { answer: record, failure } = await readRun(run);
	// During an outage, our run may exist although its record cannot be read.
	if (failure && !(startedBy === 'thisExecution' && isOutage(failure)))
		return { status: 'unread', failure };
	// Do not cancel an ended run, because the server would mark even a completed run as cancelled.
	if (record && stageOf(record) === 'ended') return await readSettled(run);
	const state = (await cancelActiveRun(run)) ?? { status: 'cancelled' };
	return state.status === 'unread' ? { ...state, goesOn: record !== undefined } : state;
}

/**
 * Cancels an active run. Never throws.
 *
 * @returns undefined if the run was cancelled; the result if the run completed first; `unread` if a request failed
 */
export async function cancelActiveRun(run: RunClient): Promise<RunState | undefined> {
	const { failure } = await requestCancel(run);
	if (failure) {
		const after = isTransient(failure) ? await readRun(run) : undefined;
		if (after?.answer?.status !== 'interrupted') return { status: 'unread', failure };
	}
	const events = await replayEndedRun(run);
	const result = events && provesCompletion(events) ? resultFromEvents(events) : undefined;
	return result?.status === 'completed' ? result : undefined;
}

/**
 * Cancels a run that the node no longer waits for, if the user chose this in `whenGivenUp`. Never throws.
 *
 * @param find returns the run ID, or undefined if no run was found
 * @returns the given result. After an attempt to cancel, `advice` contains the outcome.
 */
export async function cancelIfGivenUp<State extends RunState>(
	run: Client & Pick<Run, 'facts' | 'threadId' | 'whenGivenUp'>,
	result: State,
	find: (client: Client) => Promise<string | undefined> = async () => run.facts.runId,
): Promise<State> {
	const { clock, signal, sendUnlimited, facts, threadId, whenGivenUp } = run;
	const isGivenUp = signal?.aborted || result.status === 'timedOut';
	if (!isGivenUp || whenGivenUp !== 'cancel') return result;
	const send: Send = async (request) => await sendUnlimited({ ...request, afterStop: true });
	const deadline = clock.now() + CANCEL_LIMIT_MS;
	const late = withDeadline({ send, clock, deadline, signal: undefined });
	const runId = await find(late);
	if (runId === undefined) return result;
	facts.runId = runId;
	const advice = cancelAdvice(
		await cancelRunById({ ...late, facts, threadId, runId }, 'thisExecution'),
	);
	return { ...result, advice };
}

function cancelAdvice(state: RunState) {
	if (state.status === 'cancelled')
		return 'It was cancelled on the server. Raise "Deadline (Minutes)" if it needs longer.';
	if (state.status !== 'unread') return 'It had ended by then: read the thread.';
	const reason = failureMessage(state.failure);
	if (state.goesOn) return `It could not be cancelled, and goes on: ${reason}.`;
	return `It is not known whether it was cancelled, or goes on: ${reason}. Read the thread later.`;
}
