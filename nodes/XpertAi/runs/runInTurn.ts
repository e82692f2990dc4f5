import { isSilence, lastReply } from '../threads/messages';
import { conversationOf, readThreadWithRetries } from '../threads/thread';
import { isRouteMissing } from '../transport/meaning';
import type { NumberedRun } from './byNumber';
import { followRun } from './followNumbered';
import type { Ended } from './followNumbered';
import { isKept, ownReplies } from './ours';
import type { RunUnderWay } from './run';
import { hearRun } from './streamed';
import { beginInTurn } from './takingTurns';
import type { Verdict } from './verdict';

/** Where nobody listens, its stream tells only when the run has ended. */
const NOBODY = { onText: () => undefined, onFound: () => undefined };

/**
 * Runs a thread that others may use at the same moment: begins when it is its turn, and follows its own run by its
 * number. Never throws.
 *
 * @returns nothing where it takes no turns, or the server does not tell of its runs: it is sent as any other then
 */
export async function runInTurn(run: RunUnderWay): Promise<Verdict | undefined> {
	const begun = await beginInTurn(run, { state: run.before });
	if (begun === undefined) return undefined;
	if ('verdict' in begun) return isMissing(begun.verdict) ? undefined : begun.verdict;
	run.ownId = begun.runId;
	const named = { threadId: run.threadId, runId: begun.runId };
	const ended = await hearAndFollow(run, named);
	return { ...(await toldBy(run, ended)), runId: named.runId };
}

/** Follows a run whose number is known to its end. Never throws. */
export async function followOwn(run: RunUnderWay, runId: string): Promise<Verdict> {
	run.ownId = runId;
	return await toldBy(run, await followRun(run, { threadId: run.threadId, runId }));
}

/** Whether the server lists runs, and begins none. */
function isMissing({ failure }: Verdict): boolean {
	return failure !== undefined && isRouteMissing(failure);
}

/** Its number tells how a run has ended, and its stream when. */
async function hearAndFollow(run: RunUnderWay, named: NumberedRun): Promise<Ended> {
	const [heard, over] = [new AbortController(), new AbortController()];
	const hearing = hearRun(run, named, run.listener ?? NOBODY, over.signal).finally(() =>
		heard.abort(),
	);
	const ended = await followRun(run, named, heard.signal);
	over.abort();
	await hearing;
	return ended;
}

/**
 * What the thread adds to how a run has ended: what was said on the way, which it holds also where others have gone on;
 * and our answer where the run is marked as cancelled, as one is that had ended when another gave way (recorded).
 */
async function toldBy(run: RunUnderWay, { verdict, status }: Ended): Promise<Verdict> {
	const isBare = verdict.status === 'completed' && verdict.thread === undefined;
	const isMarked = verdict.status === 'failed' && !verdict.failure && status !== 'error';
	if (!isBare && !isMarked) return verdict;
	const reading = await readThreadWithRetries(run, run.threadId);
	if ('failure' in reading) return verdict;
	const { state } = reading;
	if (isBare) {
		const isLost = state.status !== 'busy' && !isKept(run, state, verdict.output ?? '');
		return { ...verdict, thread: state, ...(isLost ? { remembered: false } : {}) };
	}
	const reply = lastReply(ownReplies(run, state) ?? []);
	if (!reply || isSilence(reply)) return verdict;
	const found = { answer: state, conversationId: conversationOf(state), thread: state };
	return { status: 'completed', ...reply, ...found, recovered: false };
}
