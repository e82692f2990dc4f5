import { NodeApiError, NodeOperationError } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions, INodeExecutionData } from 'n8n-workflow';
import { pick } from 'lodash';
import { z } from 'zod';

import { EVERY_UUID } from '../payloads/common';
import { isJsonObject } from '../transport/answer';
import { splitList } from './fields';
import type { ItemError } from './apiError';
import { type Item, runFacts } from './item';

/* The outputs for the workflow, for the visitors of a streaming chat, and for AI agents. */

/** The text for chat visitors after a failure. The reason is only for the author of the workflow. */
export const NO_ANSWER = 'Sorry, there is no answer right now, please try again later.';

/** Whether the node runs as the tool of an AI agent. For a tool, n8n adds `Tool` to the node type. */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.getNode().type.endsWith('Tool');

const toolOutputs = z.enum(['simplified', 'raw', 'selected']);

/** The output format of an answer: simplified or raw. If set, `rawFields` are the only fields of a raw output. */
export interface AnswerOutput {
	simplify: boolean;
	rawFields?: string[];
}

/**
 * Reads the output format from the parameter Simplify, or from Output in an agent's tool. Called before the request,
 * so that an invalid parameter prevents the request.
 *
 * @throws NodeOperationError if a parameter is invalid
 */
export function readAnswerOutput(item: Item): AnswerOutput {
	if (!isTool(item.context)) return { simplify: item.setting('simplify', z.boolean()) };
	const output = item.setting('toolOutput', toolOutputs);
	if (output !== 'selected') return { simplify: output === 'simplified' };
	return { simplify: false, rawFields: splitList(item.filledText('toolFields')) };
}

/** Returns the raw answer, or only its `rawFields` if they are set. */
export const rawOutput = ({ rawFields }: AnswerOutput, json: IDataObject): IDataObject =>
	rawFields ? pick(json, rawFields) : json;

/** Whether a streaming chat shows the output of the node. The output of a tool goes to the agent. */
export const isInChat = (context: IExecuteFunctions): boolean =>
	!isTool(context) && 'isStreaming' in context && context.isStreaming();

/**
 * Moves the description of an n8n error to `messages`, and replaces it with `NO_ANSWER`. A streaming chat would show
 * the description to visitors. Returns other values unchanged.
 */
export function forChat(caught: unknown): unknown {
	if (!(caught instanceof NodeApiError || caught instanceof NodeOperationError)) return caught;
	if (caught.description) caught.messages.push(caught.description);
	caught.description = NO_ANSWER;
	return caught;
}

/**
 * Replaces each UUID with `…`, so that chat visitors get no thread IDs. With a thread ID, any key of the organization
 * can read, rename and delete the thread.
 */
export const redactIds = (text: string): string => text.replace(EVERY_UUID, '…');

/** Converts an error to an answer. `status` is the status of the run, or `failed` if there is none. */
export function failureAsReply(error: ItemError): IDataObject {
	return { output: redactIds(error.message), status: 'failed', ...runFacts(error) };
}

/**
 * Returns a failure as the output of an agent's tool, because some agents get an empty text if a tool throws.
 *
 * @param item the first input item, if any
 * @throws the caught value if there is no item, the node is not a tool, the execution was stopped, or Failures as
 * Replies is off; in a streaming chat, the result of `forChat`
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
 * Whether the node is part of a loop: another node comes both before and after this node.
 *
 * @param type if set, the loop must contain a node of this type
 */
export function isInLoop(context: IExecuteFunctions, type?: string): boolean {
	const { name } = context.getNode();
	const before = new Set(context.getParentNodes(name).map((node) => node.name));
	const loop = context.getChildNodes(name).filter((node) => before.has(node.name));
	return type === undefined ? loop.length > 0 : loop.some((node) => node.type === type);
}

/** Shows messages as hints above the node's output. */
export function addHints(context: IExecuteFunctions, messages: string[]): void {
	context.addExecutionHints(
		...messages.map((message) => ({ message, location: 'outputPane' as const })),
	);
}

/** Whether the workflow continues after a failed item. A stopped execution never continues. */
export const mayContinue = (context: IExecuteFunctions): boolean =>
	context.continueOnFail() && !context.getExecutionCancelSignal()?.aborted;

/**
 * Converts an answer to the JSON of an item. An object stays unchanged, undefined becomes `{}`, and any other value
 * becomes the field `response`.
 */
export function asJson(value: unknown): IDataObject {
	if (isJsonObject(value)) return value;
	return value === undefined ? {} : { response: value as IDataObject[string] };
}
