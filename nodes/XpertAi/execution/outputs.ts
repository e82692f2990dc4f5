import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { pick } from 'lodash';
import { z } from 'zod';

import { EVERY_UUID } from '../payloads/common';
import { isJsonObject } from '../transport/answer';
import { splitList } from './fields';
import type { ItemError } from './apiError';
import { type Item, runFacts } from './item';

/* What each reader gets as output: the workflow, the visitors of a streaming chat, the model of an AI agent. */

/**
 * Shown to the visitors of a chat if there is no answer. They do not get the reason: it is for the builder of the
 * workflow.
 */
export const NO_ANSWER = 'Sorry, there is no answer right now, please try again later.';

/** Whether the node runs as the tool of an AI agent. Only the name of the node type shows this. */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.getNode().type.endsWith('Tool');

const toolOutputs = z.enum(['simplified', 'raw', 'selected']);

/** How an answer is output: simplified or raw. A raw answer is reduced to `rawFields`, if they are set. */
export interface AnswerOutput {
	simplify: boolean;
	rawFields?: string[];
}

/**
 * Reads how an answer is output: from Output if the node is an agent's tool, otherwise from Simplify. Called before the
 * request is sent, so that an invalid parameter prevents the request.
 *
 * @throws NodeOperationError naming the parameter, the item and the requirement
 */
export function readAnswerOutput(item: Item): AnswerOutput {
	if (!isTool(item.context)) return { simplify: item.setting('simplify', z.boolean()) };
	const output = item.setting('toolOutput', toolOutputs);
	if (output !== 'selected') return { simplify: output === 'simplified' };
	return { simplify: false, rawFields: splitList(item.filledText('toolFields')) };
}

/** The raw answer, reduced to `rawFields` if they are set. */
export const rawOutput = ({ rawFields }: AnswerOutput, json: IDataObject): IDataObject =>
	rawFields ? pick(json, rawFields) : json;

/**
 * Whether a streaming chat shows the output of the node. The output of a tool goes to its agent instead. Some contexts
 * have no `isStreaming`.
 */
export const isInChat = (context: IExecuteFunctions): boolean =>
	!isTool(context) && 'isStreaming' in context && context.isStreaming();

/**
 * Prepares an error for a streaming chat, which shows its visitors the description of an error that stops the workflow:
 * moves the description to the details of the error, and puts `NO_ANSWER` in its place. Returns a value that is no n8n
 * error unchanged.
 */
export function forChat(caught: unknown): unknown {
	if (!(caught instanceof NodeApiError || caught instanceof NodeOperationError)) return caught;
	if (caught.description) caught.messages.push(caught.description);
	caught.description = NO_ANSWER;
	return caught;
}

/**
 * Replaces each UUID by …: visitors must not get thread IDs. With the ID of a thread, any key of the organization can
 * read, rename and delete the thread.
 */
export const redactIds = (text: string): string => text.replace(EVERY_UUID, '…');

/** A failure in the form of an answer, without UUIDs in the text. `status` is that of the run, or `failed`. */
export function failureAsReply(error: ItemError): IDataObject {
	return { output: redactIds(error.message), status: 'failed', ...runFacts(error) };
}

/**
 * Returns a failure as the output of an agent's tool, because some agents get an empty text if a tool throws.
 *
 * @param item the first item; undefined if there is none
 * @throws the caught value if there is no item, the node is no tool, the execution was stopped, or Failures as Replies
 * is off; in a streaming chat, without the description (see `forChat`)
 */
export function replyOrFail(
	caught: unknown,
	context: IExecuteFunctions,
	item?: Item,
): INodeExecutionData[] {
	const isStopped = context.getExecutionCancelSignal()?.aborted === true;
	const mayReply = item && !isStopped && isTool(context);
	if (mayReply && context.getNodeParameter('options.failuresAsReplies', 0, true) !== false)
		return [item.output(failureAsReply(item.asError(caught)))];
	throw isInChat(context) ? forChat(caught) : caught;
}

/**
 * Whether the node is part of a loop: some other node comes both before and after it.
 *
 * @param type only a loop that contains a node of this type counts; default: every loop
 */
export function isInLoop(context: IExecuteFunctions, type?: string): boolean {
	const { name } = context.getNode();
	const before = new Set(context.getParentNodes(name).map((node) => node.name));
	const loop = context.getChildNodes(name).filter((node) => before.has(node.name));
	return type === undefined ? loop.length > 0 : loop.some((node) => node.type === type);
}

/** Shows messages as hints, above the output of the node. */
export function addHints(context: IExecuteFunctions, messages: string[]): void {
	context.addExecutionHints(
		...messages.map((message) => ({ message, location: 'outputPane' as const })),
	);
}

/**
 * Whether the workflow continues after a failed item. It does if On Error is one of the "Continue" settings, unless the
 * execution was stopped.
 */
export const mayContinue = (context: IExecuteFunctions): boolean =>
	context.continueOnFail() && !context.getExecutionCancelSignal()?.aborted;

/**
 * The JSON of an item for an answer: an object is returned unchanged, undefined becomes `{}`, and any other value
 * becomes the field `response`.
 */
export function asJson(value: unknown): IDataObject {
	if (isJsonObject(value)) return value;
	return value === undefined ? {} : { response: value as IDataObject[string] };
}
