import { z } from 'zod';

import { freeForm } from './common';

/** The filters of E7 and E9. */
export const assistantFilter = z
	.object({
		graph_id: z.string().min(1).optional(),
		metadata: freeForm.optional(),
	})
	.passthrough();
