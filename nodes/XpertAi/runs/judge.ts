import isEqual from 'lodash/isEqual';

import type { ThreadMessage, ThreadState } from '../payloads/run';
import { isJsonObject } from '../transport/answer';
import { errorReason } from './answer';
import { readConversation } from './conversation';
import type { ConversationFacts } from './conversation';
import { messagesOf, newMessages, repliesTo } from './messages';
import type { RunUnderWay } from './run';
import { conversationOf } from './thread';
import { failed } from './verdict';
import type { Verdict } from './verdict';

/**
 * What the thread tells of a run that has ended, and the conversation where the thread does not say
 * all (service behaviour, "What became of a run").
 *
 * @param state the thread; without it, as it could not be read, only the conversation is asked
 * @returns a verdict where the run failed or waits for a person; nothing where it went well
 */
export async function judgeThread(
	run: RunUnderWay,
	state: ThreadState | undefined,
): Promise<Verdict | undefined> {
	if (state && state.status !== 'error' && state.status !== 'interrupted') return undefined;
	const facts = await readConversation(run, run.threadId);
	const verdict = judgeFacts(state, facts);
	const conversationId = facts.conversationId ?? conversationOf(state);
	return verdict && { ...verdict, answer: state, conversationId };
}

function judgeFacts(state: ThreadState | undefined, facts: ConversationFacts): Verdict | undefined {
	const status = state?.status ?? facts.status;
	if (status === 'interrupted') return judgeInterrupted(state, facts);
	if (status !== 'error' && !facts.error) return undefined;
	return failed(undefined, `The run failed: ${facts.error ?? errorReason(state?.error)}`);
}

/** A thread is interrupted while it waits for a person, and also when somebody has cancelled its run. */
function judgeInterrupted(
	state: ThreadState | undefined,
	{ tasks, error, failure }: ConversationFacts,
): Verdict {
	const interrupt = tasks.length > 0 ? tasks : interruptsOf(state);
	if (interrupt.length > 0) return { status: 'interrupted', interrupt, recovered: false };
	if (error) return failed(undefined, `The run was cancelled on the server: ${error}`);
	const unknown = failure ? 'its conversation cannot be read' : 'the server does not say why';
	return failed(undefined, `The run was interrupted, and ${unknown}`);
}

/** What the thread itself says it waits for, on servers that put it there: a list, or lists by task. */
function interruptsOf(state: ThreadState | undefined): unknown[] {
	const named: unknown = state?.interrupts ?? state?.values?.__interrupt__;
	return isJsonObject(named) ? Object.values(named).flat() : Array.isArray(named) ? named : [];
}

/** Whether a thread is as it was before the run, in what tells of runs; other parts may change with each reading. */
export function isUnchanged({ before }: RunUnderWay, state: ThreadState | undefined): boolean {
	return before !== undefined && state !== undefined && isEqual(traces(state), traces(before));
}

function traces(state: ThreadState): unknown[] {
	return [state.status, state.updated_at, messagesOf(state)];
}

/** A decision that nothing on the thread waits for; servers answer it with nothing, or an old answer. */
export function nothingToDecide(): Verdict {
	const advice =
		'Only a run that comes out with the status "interrupted" can be decided, and only once.';
	return failed(undefined, 'Nothing on this thread waits for a decision', advice);
}

/** What the assistant said to us, as the thread has it; nothing when our message is not there. */
export function ownReplies(run: RunUnderWay, state: ThreadState): ThreadMessage[] | undefined {
	const { asked, before, isNew } = run;
	const fresh = newMessages(messagesOf(before), messagesOf(state));
	return repliesTo(asked.text, fresh, !isNew && !before?.values?.messages);
}

/** An answer of nothing, where the thread does not prove that the assistant said nothing. */
export async function judgeNoAnswer(run: RunUnderWay, state?: ThreadState): Promise<Verdict> {
	const { error, conversationId } = await readConversation(run, run.threadId);
	const reason = error
		? `The run failed: ${error}`
		: 'The run ended without an answer, and the server does not say why';
	return { ...failed(undefined, reason), answer: state, conversationId };
}
