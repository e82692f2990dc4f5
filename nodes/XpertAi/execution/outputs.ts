import { attempt, has, isError, isObject, pick, reject } from 'lodash';
import {
	type IDataObject,
	type IExecuteFunctions,
	type INodeExecutionData,
	NodeApiError,
	NodeOperationError,
} from 'n8n-workflow';
import { z } from 'zod';

import { isJsonObject } from '../payloads/json';
import type { ItemError } from './apiError';
import { fieldByError } from './expressions';
import { splitList } from './fieldBuilders';
import type { Item } from './item';
import { redactIds, runDetailsIn } from './runDetails';
import { addHints, isInStreamingChat, isTool } from './n8nExecution';

/* The outputs for the workflow, for the visitors of a streaming chat, and for AI agents. */

/** The text that chat visitors get after a failure. Hides the reason. */
export const NO_ANSWER_CHAT_TEXT = 'Sorry, there is no answer right now, please try again later.';

const toolOutputFormatSchema = z.enum(['simplified', 'raw', 'selected']);

/** The output format of an answer: simplified or raw. */
export interface OutputFormat {
	simplify: boolean;
	/** The fields to output, from both answers. Default: all fields of the answer that `simplify` selects. */
	selectedFields?: string[];
}

/**
 * Reads the output format from the parameters. Call this before the request, to reject invalid parameters early.
 *
 * @throws NodeOperationError if a parameter is invalid
 */
export function readOutputFormat(item: Item): OutputFormat {
	if (!isTool(item.context)) return { simplify: item.setting('simplify', z.boolean()) };
	const output = item.setting('toolOutput', toolOutputFormatSchema);
	if (output !== 'selected') return { simplify: output === 'simplified' };
	return { simplify: false, selectedFields: splitList(item.filledText('toolFields')) };
}

/**
 * Returns a raw answer, or only the `selectedFields`, if set. Adds a hint if the answer lacks some of them.
 *
 * @param simplifiedOf makes the simplified answer. Its fields can be selected, too. They replace raw fields with the same
 * name, because the user sees them first
 */
export function rawOrSelectedOutput(
	{ selectedFields }: OutputFormat,
	item: Item,
	raw: IDataObject,
	simplifiedOf: () => IDataObject,
): IDataObject {
	if (!selectedFields) return raw;
	const all = { ...raw, ...simplifiedOf() };
	const lacking = reject(selectedFields, (name) => has(all, name));
	if (lacking.length === 0) return pick(all, selectedFields);
	const hint = `This output lacks what "${item.labelOf('toolFields')}" names: ${lacking.join(', ')}. It has: ${Object.keys(all).join(', ')}.`;
	const said = hintsByExecution.get(item.context) ?? new Set();
	if (!said.has(hint)) addHints(item.context, [hint]);
	hintsByExecution.set(item.context, said.add(hint));
	return pick(all, selectedFields);
}

/** The hints of `rawOrSelectedOutput` in each execution, because n8n shows the same hint as often as it is added. */
const hintsByExecution = new WeakMap<IExecuteFunctions, Set<string>>();

/**
 * Replaces the description of an n8n error, because a streaming chat shows the description to visitors. Moves it to the
 * messages of the error. Changes no other errors.
 */
export function hideReasonFromChat(caught: unknown): unknown {
	if (!(caught instanceof NodeApiError || caught instanceof NodeOperationError)) return caught;
	if (caught.description) caught.messages.push(caught.description);
	caught.description = NO_ANSWER_CHAT_TEXT;
	return caught;
}

/**
 * Converts an error to the JSON of an output item. `status` is `failed` if the error has no run status. If the user has
 * selected fields, the others are left out, except for `output` and `status`, which tell the failure.
 */
export function failureAsReply(error: ItemError, item: Item): IDataObject {
	const json = { output: redactIds(error.message), status: 'failed', ...runDetailsIn(error) };
	const format = attempt(() => readOutputFormat(item));
	// The error may be that of the output format itself.
	if (isError(format) || !format.selectedFields) return json;
	return pick(json, ['output', 'status', ...format.selectedFields]);
}

/**
 * Returns a failure as the output of an agent's tool. Some agents do not see an error that a tool throws.
 *
 * @param item the first input item
 * @throws the failure if the node is not a tool, has no items, is stopped, or has Failures as Replies switched off
 */
export function replyOrThrow(
	caught: unknown,
	context: IExecuteFunctions,
	item?: Item,
): INodeExecutionData[] {
	const isStopped = context.getExecutionCancelSignal()?.aborted === true;
	const mayReply = item && !isStopped && isTool(context);
	if (mayReply && item.readWithoutChecks('options.failuresAsReplies', true) !== false)
		return [item.output(failureAsReply(item.asError(caught), item))];
	// The expression of a setting for the whole run failed. No item has converted this error yet: `asError` adds the field.
	const isOfExpression = isObject(caught) && fieldByError.has(caught);
	const error = item && isOfExpression ? item.asError(caught) : caught;
	throw isInStreamingChat(context) ? hideReasonFromChat(error) : error;
}

/**
 * Converts an answer to the JSON of an item. Undefined becomes `{}`. Any other value that is not an object becomes the
 * field `response`.
 */
export function toItemJson(value: unknown): IDataObject {
	if (isJsonObject(value)) return value;
	return value === undefined ? {} : { response: value as IDataObject[string] };
}
