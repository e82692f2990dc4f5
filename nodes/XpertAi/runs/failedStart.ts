import { isUuid } from '../payloads/ids';
import { conversationExists } from '../threads/conversation';
import { type Failure, mayMeanNoRecord } from '../transport/failure';
import { failedResult, resultOfFailure, type UnsuccessfulResult } from './result';
import { readRunConversation, type Run } from './run';

/**
 * Checks whether a run could not start because its thread has no conversation.
 *
 * @param otherwise the result if that is not the reason
 * @returns
 * - a result with this reason, if the thread has no conversation
 * - the failure of the check, if the check fails and `otherwise` has no failure
 * - else `otherwise`
 */
export async function resultIfThreadMissing(
	run: Run,
	otherwise: UnsuccessfulResult,
): Promise<UnsuccessfulResult> {
	const { failure, conversationId } = await readRunConversation(run);
	if (failure && !otherwise.failure) return resultOfFailure(failure);
	if (failure || conversationId) return otherwise;
	// Names only a UUID: `redactIds` hides UUIDs from chat visitors, but not other thread IDs, such as phone numbers.
	const thread = isUuid(run.threadId) ? `thread ${run.threadId}` : 'this thread';
	const reason = (await conversationExists(run, run.threadId))
		? '"Thread" holds the ID of a conversation, not that of its thread'
		: `There is no conversation with ${thread}`;
	const advice =
		'Check "Thread": it takes the threadId, not the conversationId, of a conversation that was held with the same key.';
	return { ...failedResult(reason, advice), failure: otherwise.failure };
}

/** Returns the result of a start that the server rejected. Checks the thread if the rejection may be due to the thread. */
export async function resultOfFailedStart(run: Run, failure: Failure): Promise<UnsuccessfulResult> {
	const result: UnsuccessfulResult = { status: 'failed', failure };
	// For a missing thread, the server may answer 500. A 404 is about the assistant, which the server looks up first.
	const threadMayBeMissing =
		!run.isThreadNew && mayMeanNoRecord(failure) && failure.missing !== 'record';
	return threadMayBeMissing ? await resultIfThreadMissing(run, result) : result;
}
