import { z } from 'zod';

/** A message for an assistant, in the shape Xpert servers take (E4, `input`). */
export const sendMessage = z.object({
	action: z.literal('send'),
	message: z.object({
		input: z.object({
			input: z.string().min(1),
			files: z.array(z.object({ id: z.string().min(1) })).optional(),
		}),
	}),
});

/** The body of E4. */
export const run = z.object({
	assistant_id: z.string().min(1),
	input: sendMessage,
});

export type Run = z.infer<typeof run>;
