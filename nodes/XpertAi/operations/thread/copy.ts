import { z } from 'zod';

import { declare } from '../../execution/operation';
import { freeForm } from '../../payloads/zodHelpers';
import { threadLocator } from '../../pickers/locators';

export const copy = declare({
	value: 'copy',
	name: 'Copy',
	endpoint: 'E10',
	description: 'Copy a thread with its messages (Xpert AI servers cannot do it yet)',
	route: 'POST /threads/{threadId}/copy',
	idFields: [threadLocator()],
	body: { fields: [], schema: freeForm },
	answerSchema: z
		.record(z.unknown())
		.refine(
			({ thread_id: threadId, ...one }) => threadId ?? one.threadId ?? one.id,
			'it names no thread',
		),
});
