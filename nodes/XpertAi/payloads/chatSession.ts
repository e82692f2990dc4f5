import { z } from 'zod';

/** The body of E6. `expires_after` is in seconds; servers take 600 for 0 and less, and any number above. */
export const chatSession = z
	.object({
		assistant: z.object({ id: z.string().min(1) }).optional(),
		user: z.string().optional(),
		expires_after: z.number().int().min(1).optional(),
	})
	.passthrough();
