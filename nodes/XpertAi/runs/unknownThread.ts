import { readConversation } from '../threads/conversation';
import type { Asking } from '../threads/thread';
import { buildPath } from '../transport/api';
import { answerWith } from '../transport/answer';
import type { Failure } from '../transport/failure';
import { nothingToGoOnWith, failed } from './verdict';
import type { Asked } from './input';
import type { Verdict } from './verdict';

const READ_TIMEOUT_MS = 30_000;

/**
 * Why a thread that cannot be read takes no run: nobody knows it, its ID is that of a conversation, or nothing was said
 * on it yet.
 *
 * @param failure what the server answered to the run, where it was sent
 */
export async function whyUnreadable(
	asking: Asking,
	{ threadId, asked }: { threadId: string; asked: Asked },
	failure?: Failure,
): Promise<Verdict> {
	const facts = await readConversation(asking, threadId);
	const { conversationId } = facts;
	if (facts.failure) return failed(failure ?? facts.failure);
	if (conversationId)
		return { ...(failure ? failed(failure) : nothingToGoOnWith(asked)), conversationId };
	const { ok: isConversation } = await asking.send({
		method: 'GET',
		path: buildPath('/conversations/{threadId}', { threadId }),
		timeoutMs: READ_TIMEOUT_MS,
		checkAnswer: answerWith('threadId'),
	});
	const reason = isConversation
		? '"Thread" holds the ID of a conversation, not that of its thread'
		: 'There is no conversation with this thread';
	const advice =
		'Check "Thread": it takes the threadId that Conversation: Create or an earlier run gave, of the same token.';
	return failed(failure, reason, advice);
}
