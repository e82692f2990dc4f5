import { z } from 'zod';

import { freeForm } from './common';

/** The body of E13; every field is optional. `threadId` may be any text. */
export const conversation = z
	.object({
		title: z.string().nullish(),
		threadId: z.string().nullish(),
		xpertId: z.string().nullish(),
		projectId: z.string().nullish(),
		options: freeForm.nullish(),
	})
	.passthrough();

/** The filters of E5. */
export const conversationSearch = z
	.object({
		search: z.string().optional(),
		where: freeForm.optional(),
		order: z.record(z.enum(['ASC', 'DESC'])).optional(),
	})
	.passthrough();
