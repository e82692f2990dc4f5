import get from 'lodash/get';
import isEqual from 'lodash/isEqual';
import { z } from 'zod';

import { readConversation } from '../threads/conversation';
import type { ConversationFacts } from '../threads/conversation';
import type { ThreadState } from '../threads/state';
import { conversationOf } from '../threads/thread';
import { isOfAnother } from './ours';
import type { RunUnderWay } from './run';
import { failed, passedOver } from './verdict';
import type { Verdict } from './verdict';

/**
 * What the thread tells of a run that has ended, and the conversation where the thread does not say
 * all (service behaviour, "What became of a run").
 *
 * @param state the thread; without it, as it could not be read, only the conversation is asked
 * @returns a verdict where the run failed or waits for a person; nothing where it went well, or where the
 * thread stands as another's run has left it; `under way` while what was decided still waits, as the server
 * shows it until it has been carried out
 */
export async function judgeThread(
	run: RunUnderWay,
	state: ThreadState | undefined,
): Promise<Verdict | 'under way' | undefined> {
	if (state && state.status !== 'error' && state.status !== 'interrupted') return undefined;
	if (isOfAnother(run, state)) return undefined;
	const facts = await readConversation(run, run.threadId);
	const isWaiting = (state ?? facts).status === 'interrupted' && isStillWaiting(run, facts);
	// What waited before a message is not its doing, and only the thread could tell more.
	if (isWaiting) return state || run.asked.kind !== 'message' ? 'under way' : undefined;
	const verdict = judgeFacts(state, facts);
	const conversationId = facts.conversationId ?? conversationOf(state);
	return verdict && { ...verdict, answer: state, conversationId, thread: state };
}

/**
 * Whether the very tasks wait that waited before, or may wait, as it cannot be asked. Where the conversation has
 * gone on since the thread was read (recorded), another look tells how.
 */
function isStillWaiting({ waiting }: RunUnderWay, facts: ConversationFacts): boolean {
	if (waiting.length === 0) return false;
	return facts.status !== 'interrupted' || isEqual(idsOf(facts.tasks), idsOf(waiting));
}

/** While a decision is carried out, its task keeps its id; one that is asked anew has another (recorded). */
const idsOf = (tasks: unknown[]): unknown[] => tasks.map((task) => get(task, 'id') as unknown);

function judgeFacts(state: ThreadState | undefined, facts: ConversationFacts): Verdict | undefined {
	const status = state?.status ?? facts.status;
	if (status === 'interrupted') return judgeInterrupted(facts);
	if (status !== 'error' && !facts.error) return undefined;
	return failed(undefined, `The run failed: ${facts.error ?? 'the server gave no reason'}`);
}

/** What an answer itself tells of a run that has failed: one that was heard says how it has ended. */
export function judgeTold(answer: unknown): Verdict | undefined {
	const { data } = toldEnd.safeParse(answer);
	return data && judgeFacts(undefined, { ...data, tasks: [] });
}

const toldEnd = z.object({ status: z.string(), error: z.string() });

/** A thread is interrupted while it waits for a person, and also when somebody has cancelled its run. */
export function judgeInterrupted({ tasks, error, failure }: ConversationFacts): Verdict {
	if (tasks.length > 0) return { status: 'interrupted', interrupt: tasks, recovered: false };
	if (error) return failed(undefined, `The run was cancelled on the server: ${error}`);
	const unknown = failure ? 'its conversation cannot be read' : 'the server does not say why';
	return failed(undefined, `The run was interrupted, and ${unknown}`);
}

/** An answer of nothing, where the thread does not prove that the assistant said nothing. */
export async function judgeNoAnswer(run: RunUnderWay, state?: ThreadState): Promise<Verdict> {
	if (isOfAnother(run, state)) return passedOver();
	const { error, conversationId } = await readConversation(run, run.threadId);
	const reason = error
		? `The run failed: ${error}`
		: 'The run ended without an answer, and the server does not say why';
	return { ...failed(undefined, reason), answer: state, conversationId };
}
