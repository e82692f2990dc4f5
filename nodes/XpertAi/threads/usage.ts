import sumBy from 'lodash/sumBy';
import { z } from 'zod';

import type { ThreadMessage } from './state';

/** What a model says it has used for a message (recorded, E15); some say nothing, and their `usage` is empty. */
const counted = z
	.object({
		response_metadata: z.object({
			usage: z.object({
				prompt_tokens: z.number(),
				completion_tokens: z.number(),
				total_tokens: z.number(),
			}),
		}),
	})
	.transform(({ response_metadata: { usage } }) => ({
		inputTokens: usage.prompt_tokens,
		outputTokens: usage.completion_tokens,
		totalTokens: usage.total_tokens,
	}));

/** The tokens that a run has used. */
export type Usage = z.infer<typeof counted>;

/**
 * What the models of a run have used, by the assistant's messages of it.
 *
 * @returns undefined where the server does not say so
 */
export function usageIn(messages: ThreadMessage[]): Usage | undefined {
	const all = messages.flatMap((one) => counted.safeParse(one).data ?? []);
	if (all.length === 0) return undefined;
	return {
		inputTokens: sumBy(all, 'inputTokens'),
		outputTokens: sumBy(all, 'outputTokens'),
		totalTokens: sumBy(all, 'totalTokens'),
	};
}
