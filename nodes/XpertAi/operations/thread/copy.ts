import { anyJson } from '../../payloads/common';
import { answerMustBe, hasFields } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { threadLocator } from '../../pickers/locators';

export const copy = declare({
	value: 'copy',
	name: 'Copy',
	action: 'Copy thread',
	description: 'Copy a thread with its messages (Xpert AI servers cannot do it yet)',
	method: 'POST',
	path: '/threads/{threadId}/copy',
	ids: [threadLocator()],
	body: { fields: [], schema: anyJson, notShown: true, example: '{}' },
	checkAnswer: answerMustBe(
		(answer) => ['thread_id', 'threadId', 'id'].some((key) => hasFields(answer, key)),
		'it names no thread',
	),
});
