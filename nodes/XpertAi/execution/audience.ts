import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import get from 'lodash/get';
import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';

import { EVERY_UUID } from '../payloads/common';
import { sanitize } from '../transport/sanitize';
import type { ItemError } from './outputs';

/*
 * Who reads what the node gives: the workflow, the visitors of a chat that streams, or the model of an AI agent.
 */

/** What visitors read when there is no answer; the reason is for whoever builds the workflow. */
export const NO_ANSWER = 'Sorry, there is no answer right now, please try again later.';

/** What visitors and models read in place of an empty answer. */
export const EMPTY_ANSWER = 'The assistant gave no answer in words.';

/** What is told in place of an answer where a person is to decide first: the names of what the run waits with. */
export function waitingFor(tasks: unknown[] = []): string {
	const names = sanitize(tasks.map((task) => get(task, 'name') as unknown).join(', '));
	return `This waits for a person to decide${names ? `: ${names}` : ''}.`;
}

/** Whether the node works as the tool of an agent, which n8n tells by the type of the node alone. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}

/** Whether a chat shows what its workflow says while it works. Contexts of some tools do not know of chats. */
export function isInChat(context: IExecuteFunctions): boolean {
	return !isTool(context) && 'isStreaming' in context && context.isStreaming();
}

/** Whether the model of an agent reads failures as words: some agents read an empty text of what is thrown. */
export function repliesFailures(context: IExecuteFunctions): boolean {
	if (!isTool(context)) return false;
	return context.getNodeParameter('options.failuresAsReplies', 0, true) !== false;
}

/** Where a chat listens, n8n shows it the description of what stops a workflow; the builder's moves to the details. */
export function forChat(caught: unknown): unknown {
	if (!(caught instanceof NodeApiError || caught instanceof NodeOperationError)) return caught;
	if (caught.description) caught.messages.push(caught.description);
	caught.description = NO_ANSWER;
	return caught;
}

/** The same words, with … for each id: who knows that of a thread reads, renames and deletes it, and visitors are not told. */
export function redactIds(words: string): string {
	return words.replace(EVERY_UUID, '…');
}

/** The reason of a failure in the place of an answer, for those who see nothing but replies. */
export function failureAsReply(error: ItemError): IDataObject {
	return { output: redactIds(error.message), status: 'failed', ...runFacts(error) };
}

/** The thread of a failed run, so that it can be looked up. */
export function runFacts({ context }: ItemError): IDataObject {
	const { threadId, conversationId, runId, verdict } = (context.data ?? {}) as IDataObject;
	if (threadId === undefined) return {};
	return omitBy({ threadId, conversationId, runId, status: verdict }, isUndefined);
}
