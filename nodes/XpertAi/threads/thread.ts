import { z } from 'zod';

import { textIfAny } from '../payloads/common';
import { buildPath } from '../transport/api';
import { call } from '../transport/call';
import type { ApiClient, Result } from '../transport/call';

/** An object with these and any other fields; anything else counts as missing. */
const loose = <Shape extends z.ZodRawShape>(shape: Shape) =>
	z.object(shape).passthrough().nullish().catch(undefined);

/** A message of a thread; its fields tell who sent it (recorded, E15). */
const threadMessage = z
	.object({
		id: textIfAny,
		content: z.unknown(),
		tool_calls: z.unknown(),
		tool_call_id: z.unknown(),
	})
	.passthrough();

/** The answer of E15. Each part is parsed by itself: one malformed message must not hide that a thread is busy. */
export const threadState = z
	.object({
		thread_id: textIfAny,
		/** Null (unknown) if the server answers for a conversation that never ran (recorded). */
		status: z.string().nullish().catch(undefined),
		/** `id` is the ID of the conversation. */
		metadata: loose({ id: textIfAny, assistant_id: textIfAny }),
		values: loose({
			/** The input of the last run, also if that left no message. */
			input: textIfAny.nullish(),
			messages: z.array(threadMessage.catch({})).nullish().catch(undefined),
		}),
	})
	.passthrough();

export type ThreadMessage = z.infer<typeof threadMessage>;
export type ThreadState = z.infer<typeof threadState>;

/** The state of this thread, with its status (E15). */
export const stateOf = (threadId: string) =>
	threadState.refine(
		(state) => state.thread_id === threadId && state.status !== undefined,
		'it is not this thread',
	);

/**
 * Reads a thread (E15). With one try, for callers that poll, a failure that counts only when it repeats, such as a
 * missing route, is transient.
 */
export async function readThread(
	client: ApiClient,
	threadId: string,
	maxTries?: number,
): Promise<Result<ThreadState>> {
	const path = buildPath('/threads/{threadId}', { threadId });
	return await call(client, {
		method: 'GET',
		repeatable: true,
		path,
		schema: stateOf(threadId),
		maxTries,
	});
}
