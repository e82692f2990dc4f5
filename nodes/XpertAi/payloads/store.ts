import { z } from 'zod';

import { freeForm } from './common';

/** The elements of a namespace, from the outside in, e.g. `["memories", "user-1"]`. */
const namespace = z.array(z.string().min(1));

/** The filters of E8. */
export const storeSearch = z
	.object({
		namespace_prefix: namespace,
		query: z.string().optional(),
		filter: freeForm.optional(),
	})
	.passthrough();

/** The body of E11. */
export const storeNamespace = z
	.object({
		prefix: namespace.optional(),
		suffix: namespace.optional(),
		max_depth: z.number().int().optional(),
		limit: z.number().int().min(1).optional(),
		offset: z.number().int().min(0).optional(),
	})
	.passthrough();
