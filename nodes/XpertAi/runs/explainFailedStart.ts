import { isConversationId } from '../threads/conversation';
import { type Failure, mayMeanNoRecord } from '../transport/failure';
import { failed, failedBy, type NoAnswer } from './result';
import { readRunConversation, type Run } from './run';

/**
 * Explains why a run could not start. Checks whether the thread has a conversation.
 *
 * @param otherwise the result if the thread has a conversation
 */
export async function explainMissingThread(run: Run, otherwise: NoAnswer): Promise<NoAnswer> {
	const { failure, conversationId } = await readRunConversation(run);
	if (failure && !otherwise.failure) return failedBy(failure);
	if (failure || conversationId) return otherwise;
	const reason = (await isConversationId(run, run.threadId))
		? '"Thread" holds the ID of a conversation, not that of its thread'
		: `There is no conversation with thread ${run.threadId}`;
	const advice =
		'Check "Thread": it takes the threadId, not the conversationId, of a conversation that was held with the same key.';
	return { ...failed(reason, advice), failure: otherwise.failure };
}

/**
 * Returns the result of a start that the server rejected. If the answer may mean that the thread is missing, checks this
 * first.
 */
export async function explainFailedStart(run: Run, failure: Failure): Promise<NoAnswer> {
	const result: NoAnswer = { status: 'failed', failure };
	// If the thread does not exist, the server may answer 500 instead of 404.
	const mayBeUnknown = mayMeanNoRecord(failure) && failure.missing !== 'record';
	return run.isNew || !mayBeUnknown ? result : await explainMissingThread(run, result);
}
