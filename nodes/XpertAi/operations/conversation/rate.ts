import { z } from 'zod';

import { choiceField, fieldCollection, idField, textField } from '../../execution/fields';
import type { Item } from '../../execution/item';
import { declare, type PrecheckResult } from '../../execution/operation';
import { rating, type RATINGS } from '../../payloads/conversation';
import { conversationLocator } from '../../pickers/locators';
import { listAnswer, recordWith } from '../../transport/answer';

export const rate = declare({
	value: 'rate',
	name: 'Rate',
	action: 'Rate answer of conversation',
	endpoint: 'beyond',
	description: 'Rate the last answer, or that of a run, as liked or disliked',
	method: 'POST',
	path: '/conversations/{conversationId}/messages/{messageId!}/feedbacks',
	ids: [conversationLocator],
	precheck: {
		method: 'POST',
		path: '/conversations/{conversationId}/messages/search',
		options: [
			idField('runId', 'Run ID', 'ID of the run whose answer is rated, in place of the last one'),
		],
		body: (item) => ({
			where: { role: 'ai', ...runFilter(item) },
			order: { createdAt: 'DESC' },
			limit: 1,
		}),
		answer: listAnswer('items'),
		evaluate: selectAnswer,
	},
	body: {
		fields: [
			choiceField<(typeof RATINGS)[number]>('rating', 'Rating', 'What people think of the answer', {
				like: 'Like',
				dislike: 'Dislike',
			}),
			fieldCollection('additionalFields', [
				textField('content', 'Comment', 'Why, in words', {
					typeOptions: { rows: 3 },
					placeholder: 'e.g. Right and short',
				}),
			]),
		],
		schema: rating,
	},
	answer: recordWith('id', 'messageId'),
});

function runFilter(item: Item): { executionId?: string } {
	const runId = item.text('options.runId').trim();
	if (runId === '') return {};
	item.checkId({ field: '"Run ID"', id: runId });
	return { executionId: runId };
}

const latestAnswer = z
	.tuple([z.object({ id: z.string().min(1), role: z.literal('ai') })])
	.rest(z.unknown());

/**
 * Selects the answer to rate. Servers also rate questions, and answer with a database error if the message is missing.
 */
function selectAnswer(answer: unknown, item: Item): PrecheckResult {
	const { data: latest } = latestAnswer.safeParse(answer);
	if (latest) return { found: { messageId: latest[0].id } };
	throw item.operationError(
		`There is no answer to rate${item.suffix}`,
		'Check "Conversation" and "Run ID": the conversation, or the run in it, has no answer.',
	);
}
