import { CHAT_TRIGGER_NODE_TYPE, NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import isUndefined from 'lodash/isUndefined';
import omitBy from 'lodash/omitBy';
import pick from 'lodash/pick';
import { z } from 'zod';

import { EVERY_UUID } from '../payloads/common';
import { requestOf } from '../threads/conversation';
import { sanitize } from '../transport/sanitize';
import { splitList } from './ids';
import type { Item } from './item';
import type { ItemError } from './outputs';

/* Who reads the output: the workflow, the visitors of a streaming chat, or the model of an AI agent. */

/** Shown to visitors if there is no answer; only the builder of the workflow gets the reason. */
export const NO_ANSWER = 'Sorry, there is no answer right now, please try again later.';

/** Shown to visitors and models instead of an empty answer. */
export const EMPTY_ANSWER = 'The assistant gave no answer in words.';

/** The output of a run that waits for a decision: what is asked, without arguments, as visitors may read it. */
export function waitingMessage(tasks: unknown[] = []): string {
	const questions = sanitize(tasks.map((task) => requestOf(task).question).join(', '));
	return `This waits for a person to decide${questions ? `: ${questions}` : ''}.`;
}

/** Whether the node runs as the tool of an agent. n8n shows this only in the node type. */
export function isTool(context: IExecuteFunctions): boolean {
	return context.getNode().type.endsWith('Tool');
}

const toolOutputs = z.enum(['simplified', 'raw', 'selected']);

/** How an answer is output: simplified, or as the server gave it, in whole or only these fields of it. */
export interface AnswerOutput {
	simplify: boolean;
	rawFields?: string[];
}

/**
 * Reads how an answer is output, for the workflow by Simplify, for an agent by Output. Must be read before anything is
 * sent.
 *
 * @throws NodeOperationError naming the parameter, the item and the requirement
 */
export function readAnswerOutput(item: Item): AnswerOutput {
	if (!isTool(item.context)) return { simplify: item.boolean('simplify') };
	const output = item.setting('toolOutput', toolOutputs);
	if (output !== 'selected') return { simplify: output === 'simplified' };
	return { simplify: false, rawFields: splitList(item.filledText('toolFields')) };
}

/** The part of an answer as the server gave it that is output. */
export function rawOutput({ rawFields }: AnswerOutput, json: IDataObject): IDataObject {
	return rawFields ? pick(json, rawFields) : json;
}

/** Whether a chat streams the output of the workflow. Contexts of some tools lack `isStreaming`. */
export function isInChat(context: IExecuteFunctions): boolean {
	return !isTool(context) && 'isStreaming' in context && context.isStreaming();
}

/** Whether failures are output as text: some agents read an empty text from a thrown error. */
export function repliesFailures(context: IExecuteFunctions): boolean {
	if (!isTool(context)) return false;
	return context.getNodeParameter('options.failuresAsReplies', 0, true) !== false;
}

/**
 * n8n shows a streaming chat the description of the error that stops a workflow. Moves the builder's description to the
 * details.
 */
export function forChat(caught: unknown): unknown {
	if (!(caught instanceof NodeApiError || caught instanceof NodeOperationError)) return caught;
	if (caught.description) caught.messages.push(caught.description);
	caught.description = NO_ANSWER;
	return caught;
}

/** Replaces each ID by …: visitors must not get thread IDs, as an ID is enough to read, rename and delete a thread. */
export function redactIds(text: string): string {
	return text.replace(EVERY_UUID, '…');
}

/** The output that stands for an answer and gives the reason of a failure. */
export function failureAsReply(error: ItemError): IDataObject {
	return { output: redactIds(error.message), status: 'failed', ...runFacts(error) };
}

/** The IDs of the failed run and its thread, so that the user can look them up, and an answer that may be none. */
export function runFacts({ context }: ItemError): IDataObject {
	const { verdict: status, ...facts } = (context.data ?? {}) as IDataObject;
	const shown = pick(facts, ['threadId', 'conversationId', 'runId', 'unverified']);
	return omitBy({ ...shown, status }, isUndefined);
}

/** Whether the node is part of a loop. @param type of a node that the loop must have */
export function isInLoop(context: IExecuteFunctions, type?: string): boolean {
	const { name } = context.getNode();
	const before = new Set(context.getParentNodes(name).map((node) => node.name));
	const loop = context.getChildNodes(name).filter((node) => before.has(node.name));
	return type === undefined ? loop.length > 0 : loop.some((node) => node.type === type);
}

/** Loop Over Items: its turns are different items, while other loops come back with the same message. */
const LOOP_OVER_ITEMS = 'n8n-nodes-base.splitInBatches';

/** What `$('name')` returns for a node. */
interface NodeOutput {
	isExecuted: boolean;
	first: () => { json: IDataObject } | undefined;
}

const chatMessage = z.object({ sessionId: z.string().trim().min(1) });

/**
 * The session ID of the chat message that started the execution, as n8n's Chat Trigger gave it.
 *
 * @returns undefined if no Chat Trigger before the node has run, within Loop Over Items, and in the tool of an agent; a
 * sub-workflow has its own triggers
 */
export function chatSessionOf({ context, index }: Item): string | undefined {
	if (isTool(context)) return undefined;
	const triggers = context
		.getParentNodes(context.getNode().name)
		.filter(({ type, disabled }) => type === CHAT_TRIGGER_NODE_TYPE && !disabled);
	if (triggers.length === 0 || isInLoop(context, LOOP_OVER_ITEMS)) return undefined;
	const { $: outputOf } = context.getWorkflowDataProxy(index) as {
		$: (name: string) => NodeOutput;
	};
	const started = triggers.map(({ name }) => outputOf(name)).find(({ isExecuted }) => isExecuted);
	return chatMessage.safeParse(started?.first()?.json).data?.sessionId;
}
