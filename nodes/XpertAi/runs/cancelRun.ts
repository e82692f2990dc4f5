import { readRun, requestCancel, stageOf } from '../threads/runsApi';
import { isOutage, isTransient } from '../transport/failure';
import { failureMessage } from '../transport/failureText';
import type { Send } from '../transport/request';
import { type Client, withDeadline } from './client';
import { provesCompletion, readSettledState, readStreamOfEndedRun } from './readRunState';
import { resultFromTranscript, type RunState } from './result';
import type { Run, RunClient } from './run';

/** Total time limit for the requests that cancel a run the node no longer waits for. */
const CANCEL_LIMIT_MS = 10_000;

/**
 * Cancels a run that has not ended. Never throws.
 *
 * @param startedBy who has started the run. During an outage, the node cancels a run of this execution without reading
 * its record.
 * @returns the status `cancelled`, the state of a run that had ended before, or `unread` if a request failed
 */
export async function cancelRunById(
	run: RunClient,
	startedBy: 'thisExecution' | 'unknown' = 'unknown',
): Promise<RunState> {
	const { answer: record, failure } = await readRun(run);
	if (failure) {
		// During an outage, a run of this execution may exist although its record cannot be read.
		const mayExist = startedBy === 'thisExecution' && isOutage(failure);
		return mayExist ? await cancelActiveRun(run) : { status: 'unread', failure };
	}
	// Do not cancel an ended run, because the server would mark even a completed run as cancelled.
	if (stageOf(record) === 'ended') return await readSettledState(run);
	const state = await cancelActiveRun(run);
	return state.status === 'unread' ? { ...state, goesOn: true } : state;
}

/**
 * Cancels an active run. Never throws.
 *
 * @returns the status `cancelled`, also if the stream of the run cannot be read; the result of a run that completed
 * first; `unread` if the request failed and the run record does not show that the request arrived
 */
export async function cancelActiveRun(run: RunClient): Promise<RunState> {
	const { failure } = await requestCancel(run);
	if (failure) {
		// A request without an answer may have cancelled the run. Then the record of the run is `interrupted`.
		const after = isTransient(failure) ? await readRun(run) : undefined;
		if (after?.answer?.status !== 'interrupted') return { status: 'unread', failure };
	}
	const transcript = await readStreamOfEndedRun(run);
	const result =
		transcript && provesCompletion(transcript) ? resultFromTranscript(transcript) : undefined;
	return result?.status === 'completed' ? result : { status: 'cancelled' };
}

/**
 * Cancels a run that the node no longer waits for, if the user chose this in `whenGivenUp`. The node no longer waits
 * after the deadline, and after a stop of the execution. Never throws.
 *
 * @param findRunId returns the run ID, or undefined if no run was found
 * @returns the given result. If a run was found, `advice` says whether the node has cancelled it.
 */
export async function cancelIfGivenUp<State extends RunState>(
	run: Client & Pick<Run, 'facts' | 'threadId' | 'whenGivenUp'>,
	result: State,
	findRunId: (client: Client) => Promise<string | undefined> = async () => run.facts.runId,
): Promise<State> {
	const { clock, signal, sendWithoutDeadline, facts, threadId, whenGivenUp } = run;
	const isGivenUp = signal?.aborted || result.status === 'timedOut';
	if (!isGivenUp || whenGivenUp !== 'cancel') return result;
	// The deadline is over or the execution was stopped, so these requests get their own deadline, and no signal.
	const send: Send = async (request) =>
		await sendWithoutDeadline({ ...request, ignoresStop: true });
	const deadline = clock.now() + CANCEL_LIMIT_MS;
	const client = withDeadline({ send, clock, deadline, signal: undefined });
	const runId = await findRunId(client);
	if (runId === undefined) return result;
	facts.runId = runId;
	const state = await cancelRunById({ ...client, facts, threadId, runId }, 'thisExecution');
	return { ...result, advice: cancelAdvice(state) };
}

/** What the user should know after the node has tried to cancel a run. */
function cancelAdvice(state: RunState) {
	if (state.status === 'cancelled')
		return 'It was cancelled on the server. Raise "Deadline (Minutes)" if it needs longer.';
	if (state.status !== 'unread') return 'It had ended by then: read the thread.';
	const reason = failureMessage(state.failure);
	if (state.goesOn) return `It could not be cancelled, and goes on: ${reason}.`;
	return `It is not known whether it was cancelled, or goes on: ${reason}. Read the thread later.`;
}
