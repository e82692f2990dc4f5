import type { ThreadMessage, ThreadState } from '../payloads/run';
import { errorReason } from './answer';
import { saidIn } from './input';
import { messagesOf, repliesTo } from './messages';
import type { Before, Run } from './run';
import { readConversation } from './thread';
import type { Verdict } from './verdict';

/**
 * The verdict of a thread's state, where it is not simply done.
 *
 * @param doubtful whether the conversation is asked as well, which knows of failures the thread does not
 */
export async function judgeState(
	run: Run,
	state: ThreadState | undefined,
	doubtful: boolean,
): Promise<Verdict | undefined> {
	if (state?.status === 'interrupted') {
		const interrupt = interruptOf(state);
		return { status: 'interrupted', interrupt, answer: state, recovered: false };
	}
	if (state?.status !== 'error' && !doubtful) return undefined;
	const { error, conversationId } = await readConversation(run.send, run.threadId);
	if (state?.status !== 'error' && !error) return undefined;
	const reason = error ?? errorReason(state?.error);
	return {
		status: 'failed',
		reason: `The run failed: ${reason}`,
		answer: state,
		recovered: false,
		conversationId,
	};
}

/** What the assistant said to our message, as the thread has it; nothing when our message is not there. */
export function ownReplies(
	run: Run,
	before: Before,
	state: ThreadState,
): ThreadMessage[] | undefined {
	const fresh = messagesOf(state).slice(messagesOf(before).length);
	return repliesTo(saidIn(run.body), fresh, !before && !run.isNew);
}

function interruptOf(state: ThreadState): unknown {
	return state.interrupts ?? state.values?.__interrupt__ ?? null;
}
