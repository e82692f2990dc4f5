import { z } from 'zod';

import { choiceField, idField, panelGroupField, textField } from '../../execution/fieldBuilders';
import type { Item } from '../../execution/item';
import { declare, type PathValues, type PrecheckResult } from '../../execution/operation';
import { ratingBody, RATINGS } from '../../payloads/requestSchemas';
import { conversationLocator } from '../../pickers/locators';
import { MESSAGE_SEARCH_PATH, SEARCH_REQUEST } from '../../threads/requests';
import { listAnswerSchema } from '../../transport/answerSchemas';
import { buildPath } from '../../transport/api';

export const rate = declare({
	value: 'rate',
	name: 'Rate',
	action: 'Rate answer of conversation',
	endpoint: 'beyond',
	description: 'Rate the last answer, or that of a run, as liked or disliked',
	route: 'POST /conversations/{conversationId}/messages/{messageId!}/feedbacks',
	idFields: [conversationLocator],
	options: [
		idField('runId', 'Run ID', 'ID of the run whose answer is rated, in place of the last one'),
	],
	selectingFieldOptions: { 'options.runId': {} },
	precheck: findAnswerToRate,
	body: {
		fields: [
			choiceField('rating', 'Rating', 'What people think of the answer', RATINGS),
			panelGroupField('additionalFields', [
				textField('content', 'Comment', 'Why, in words', {
					typeOptions: { rows: 3 },
					placeholder: 'e.g. Right and short',
				}),
			]),
		],
		schema: ratingBody,
	},
	answerSchema: ['id', 'messageId'],
});

/** A list of messages that begins with an answer. */
const answerFirstSchema = z
	.tuple([z.object({ id: z.string().min(1), role: z.literal('ai') })])
	.rest(z.unknown());

/**
 * Finds the answer to rate: the latest answer of the run in "Run ID", or of the conversation. Checks that the message is
 * an answer, because servers also accept a rating of a question.
 *
 * @returns the ID of the answer, for the path
 * @throws NodeApiError if the request fails
 * @throws NodeOperationError if there is no answer
 */
async function findAnswerToRate(
	item: Item,
	path: PathValues,
	timeoutMs: number,
): Promise<PrecheckResult> {
	const executionId = item.text('options.runId') || undefined;
	const order = { createdAt: 'DESC' };
	const messages = await item.call({
		...SEARCH_REQUEST,
		path: buildPath(MESSAGE_SEARCH_PATH, path),
		schema: listAnswerSchema('items'),
		body: item.toJsonText({ where: { role: 'ai', executionId }, order, limit: 1 }),
		timeoutMs,
	});
	const { data } = answerFirstSchema.safeParse(messages);
	if (data) return { pathValues: { messageId: data[0].id } };
	throw item.operationError(
		`There is no answer to rate${item.suffix}`,
		'Check "Conversation" and "Run ID": the conversation, or the run in it, has no answer.',
	);
}
