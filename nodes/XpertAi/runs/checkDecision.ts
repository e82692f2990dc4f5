import { isEqual, isString, isUndefined } from 'lodash';

import { fieldOfEachTask } from '../threads/tasks';
import { messagesOf, readThread, type ThreadMessage } from '../threads/thread';
import { repeatUntil } from './client';
import { failedResult, hasAnswer, type RunResult } from './result';
import type { Run } from './run';

/** The advice if the server took the changed arguments, but not the confirmation that carries them out. */
export const UNCONFIRMED_ADVICE =
	'The changed arguments have arrived. If the thread still waits, decide again, with "Changed Arguments" left empty.';

/**
 * Whether the run waits for a second decision after a change of arguments. Then the same tasks wait again, but without
 * calls.
 *
 * @param decidedTasks the tasks that waited for the first decision
 */
export function waitsForSecondDecision(result: RunResult, decidedTasks?: unknown[]) {
	if (result.status !== 'interrupted') return false;
	const { interrupt } = result;
	const lackCalls = fieldOfEachTask('call.id', interrupt).every(isUndefined);
	return (
		lackCalls && isEqual(fieldOfEachTask('name', interrupt), fieldOfEachTask('name', decidedTasks))
	);
}

/**
 * Checks whether a decision took effect. Somebody else may have made the opposite decision earlier. On the thread, a
 * rejected call must have no result, and a confirmed call must have a result.
 *
 * @param result the result of the run after the decision
 * @param decidedTasks the tasks that waited for the decision; undefined for a message or a retry
 * @returns a failed result if the decision took no effect, or if the thread cannot be read; after a rejection, the given
 * result with `rejected` and an empty `output`; otherwise the given result, e.g. of a message, a retry, or a run that is
 * not completed
 */
export async function resultOfCheckedDecision(
	run: Run,
	result: RunResult,
	decidedTasks?: unknown[],
): Promise<RunResult> {
	if (!decidedTasks || result.status !== 'completed') return result;
	const { rejects } = run.intent;
	// An answer shows that the confirmation took effect.
	if (!rejects && hasAnswer(result)) return result;
	const read = async () => await readThread(run, run.threadId);
	const { answer: state, failure } = await repeatUntil(run, read, ({ ok }) => ok);
	if (failure) return { ...failedResult(UNKNOWN_OUTCOME_REASON), failure };
	const callIds = fieldOfEachTask('call.id', decidedTasks).filter(isString);
	const isResultOfCall = ({ tool_call_id: id }: ThreadMessage) =>
		isString(id) && callIds.includes(id);
	const wasCarriedOut = messagesOf(state).some(isResultOfCall);
	if (rejects)
		return wasCarriedOut ? REJECTED_TOO_LATE_RESULT : { ...result, output: '', rejected: true };
	// Without IDs of calls, nothing can be checked.
	return wasCarriedOut || callIds.length === 0 ? result : CONFIRMED_TOO_LATE_RESULT;
}

const UNKNOWN_OUTCOME_REASON = 'The server took the decision, but what became of it is not known';

const REJECTED_TOO_LATE_RESULT = failedResult(
	'What was rejected was carried out',
	'Somebody else has confirmed it before: read the thread to see what was done.',
);

const CONFIRMED_TOO_LATE_RESULT = failedResult(
	'What was confirmed was not carried out',
	'Somebody else has rejected it before.',
);
