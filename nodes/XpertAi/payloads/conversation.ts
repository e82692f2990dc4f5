import { z } from 'zod';

import { eachOf, freeForm, nullableText, openObject, textIfAny } from './common';

/** The body of a new conversation; every field is optional. `threadId` may be any text. */
export const conversation = openObject({
	...eachOf(nullableText, 'title', 'threadId', 'xpertId', 'projectId'),
	options: freeForm.nullish(),
});

/** The fields of a conversation that can be changed. */
export const conversationTitle = openObject({ title: z.string().trim().min(1) });

/** The rating of an answer; servers do not validate it. */
export const RATINGS = ['like', 'dislike'] as const;
export const rating = openObject({ rating: z.enum(RATINGS), content: z.string().optional() });

/** Roles and statuses of messages in a conversation, as servers record them. */
export const MESSAGE_ROLES = ['human', 'ai'] as const;
export const MESSAGE_STATUSES = ['error', 'success', 'thinking'] as const;

/** The filter for messages of a conversation; results are sorted oldest first. */
export const messageSearch = openObject({
	where: openObject({
		role: z.enum(MESSAGE_ROLES).optional(),
		status: z.enum(MESSAGE_STATUSES).optional(),
		executionId: z.string().optional(),
	}),
	order: z.record(z.enum(['ASC', 'DESC'])),
});

/** The fields of a conversation that a run needs; a field of another type counts as missing. */
export const conversationRecord = z.object({
	...eachOf(textIfAny, 'id', 'threadId', 'status', 'createdAt'),
	error: z.unknown(),
	operation: z
		.object({ tasks: z.array(z.unknown()) })
		.optional()
		.catch(undefined),
});

/** The filters of conversations. */
export const conversationSearch = openObject({
	search: z.string().optional(),
	where: freeForm.optional(),
	order: z.record(z.enum(['ASC', 'DESC'])).optional(),
});
