import { z } from 'zod';

/** What is of another type than it should be counts as not there, so that it hides nothing beside it. */
const textIfAny = z.string().optional().catch(undefined);

/** A message of a thread, which says by what it holds who speaks (recorded, E15). */
const threadMessage = z
	.object({
		id: textIfAny,
		content: z.unknown(),
		tool_calls: z.unknown(),
		tool_call_id: z.unknown(),
	})
	.passthrough();

/** The answer of E15. Each part is read by itself: one odd message must not hide that a thread is busy. */
export const threadState = z
	.object({
		thread_id: textIfAny,
		/** None where the server does not tell. */
		status: textIfAny,
		/** `id` is that of the conversation. */
		metadata: z
			.object({ id: textIfAny, assistant_id: textIfAny })
			.passthrough()
			.nullish()
			.catch(undefined),
		values: z
			.object({
				/** What the last run was asked, also where it has left no message. */
				input: textIfAny.nullish(),
				messages: z.array(threadMessage.catch({})).nullish().catch(undefined),
			})
			.passthrough()
			.nullish()
			.catch(undefined),
	})
	.passthrough();

export type ThreadMessage = z.infer<typeof threadMessage>;
export type ThreadState = z.infer<typeof threadState>;
