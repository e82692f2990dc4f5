import { z } from 'zod';

/** The longest life of a session made of fields, in seconds: a secret can do all that its key can. */
const A_DAY = 86_400;

/** The body of E6. `expires_after` is in seconds; servers take 600 for 0 and less, and any number above. */
export const chatSession = z
	.object({
		assistant: z.object({ id: z.string().min(1) }).optional(),
		user: z.string().optional(),
		expires_after: z.number().int().min(1).max(A_DAY).optional(),
	})
	.passthrough();
