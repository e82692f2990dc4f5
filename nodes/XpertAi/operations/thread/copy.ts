import { z } from 'zod';

import { anyJson } from '../../payloads/common';
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
	answer: z
		.record(z.unknown())
		.refine(
			({ thread_id: threadId, ...one }) => threadId ?? one.threadId ?? one.id,
			'it names no thread',
		),
});
