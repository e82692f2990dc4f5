import { compact } from 'lodash';

import { cancelIfGivenUp } from './cancelRun';
import {
	resultOfCheckedDecision,
	UNCONFIRMED_ADVICE,
	waitsForSecondDecision,
} from './checkDecision';
import { waitForRunResult } from './followRun';
import { runInOneRequest } from './inOneRequest';
import { withThreadFindings } from './compareWithThread';
import {
	executionStoppedResult,
	failureIn,
	type RunFacts,
	type RunResult,
	type UnsuccessfulResult,
} from './result';
import { readRunConversation, type Run } from './run';
import { withoutChanges } from './runBody';
import { isOnOtherThread, type StartedRun, startInTurn } from './start';

/**
 * Starts a run and waits for the answer: in the background, or in one request if the user wants this or the server
 * lacks the routes for background runs. After a stop of the execution, the status is `cancelled`, even if the run has
 * ended. Never throws.
 */
export async function runAndWait(run: Run): Promise<RunResult> {
	const { inOneRequest, backgroundRoutes, signal } = run;
	const mayStartInBackground = !inOneRequest && !backgroundRoutes.areMissing;
	const followed = mayStartInBackground ? await startAndFollow(run) : undefined;
	const ended = followed ?? (await runInOneRequest(run));
	const result = { ...ended, ...run.facts };
	return signal?.aborted ? { ...result, ...executionStoppedResult(failureIn(ended)) } : result;
}

/** Starts a run without waiting for it. Never throws. */
export async function startOnly(
	run: Run,
): Promise<UnsuccessfulResult | (RunFacts & { status: 'running' })> {
	const started = await startInTurn(run);
	if ('status' in started) return { ...started, ...run.facts };
	await started.untilLockGivenBack;
	if (!run.facts.conversationId) await readRunConversation({ ...run, threadId: started.threadId });
	return { status: 'running', ...run.facts };
}

/**
 * Starts a run in the background and follows it to its end.
 *
 * @returns undefined if the server lacks the routes for background runs
 */
async function startAndFollow(asked: Run): Promise<RunResult | undefined> {
	const started = await startInTurn(asked);
	if ('status' in started) return started.lacksRoutes ? undefined : started;
	const result = await follow(asked, started);
	// The node gives the lock back while the run goes on. Wait for this request, also after a stop of the execution.
	await started.untilLockGivenBack;
	return result;
}

/** Follows a started run to its end. Also makes the second decision after a change of arguments. */
async function follow(asked: Run, started: StartedRun): Promise<RunResult> {
	const { threadId, runId, decidedTasks, othersAtStart } = started;
	const run = { ...asked, threadId, runId };
	const result = await resultOfCheckedDecision(
		run,
		await waitForRunResult(run, started),
		decidedTasks,
	);
	// `confirmChanges` also follows the second decision to its end. If the server lacks the routes, `result` stays.
	if (run.intent.changedCallIds && waitsForSecondDecision(result, decidedTasks))
		return (await confirmChanges(asked)) ?? result;
	if (result.status === 'completed' && isOnOtherThread(asked, started))
		return { ...result, remembered: false };
	// No other run can overwrite an answer on a new thread.
	const compared = run.isThreadNew ? result : await withThreadFindings(run, result, othersAtStart);
	return await cancelIfGivenUp(run, compared);
}

/**
 * Confirms changed arguments that the server has taken. After a change of arguments, the server waits for a second
 * decision, without changes.
 *
 * @returns undefined if the server lacks the routes for background runs
 */
async function confirmChanges(asked: Run): Promise<RunResult | undefined> {
	const intent = { ...asked.intent, changedCallIds: undefined };
	const confirmed = await startAndFollow({ ...asked, intent, body: withoutChanges(asked.body) });
	if (!confirmed || 'output' in confirmed) return confirmed;
	return { ...confirmed, advice: compact([UNCONFIRMED_ADVICE, confirmed.advice]).join(' ') };
}
