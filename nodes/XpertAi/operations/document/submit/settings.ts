import { z } from 'zod';

import { timeoutSeconds } from '../../../execution/declared';
import { MOST_AT_ONCE } from '../../../execution/fields';
import type { Item } from '../../../execution/item';
import { finite } from '../../../payloads/common';
import { MINUTE_MS } from '../../../transport/clock';
import type { RetryLimits } from '../../../transport/retryPolicy';

const MEGABYTE = 1024 * 1024;

const wholeFrom1 = finite.int().min(1);
const minutes = finite.min(0);
const name = z.string().trim();

const parameters = z.object({
	afterStoring: z.enum(['wait', 'process', 'nothing']),
	output: z.enum(['documents', 'summary']),
	simplify: z.boolean(),
	options: z.object({
		batchSize: wholeFrom1,
		batchMegabytes: z.number().positive().max(50),
		concurrency: wholeFrom1.max(MOST_AT_ONCE),
		isolateWithoutIds: z.boolean(),
		maxGonePercent: z.number().min(0).max(100),
		resendAll: z.boolean(),
		retryMinutes: minutes,
		shard: name,
		skipUnchanged: z.boolean(),
		sourceName: name,
		timeout: timeoutSeconds,
		waitMinutes: minutes,
		whenGone: z.enum(['keep', 'disable']),
	}),
});

/** How a submission works, from the parameters of the first item. */
export type SubmitSettings = ReturnType<typeof readSettings>;

/**
 * Reads and checks what all items have in common.
 *
 * @returns times in milliseconds, sizes in bytes; `waitMs` only where the end of the processing is waited for
 * @throws NodeOperationError naming the option and what it must be
 */
export function readSettings(item: Item) {
	const { afterStoring, output, simplify, options } = item.settings(parameters);
	const { batchSize, batchMegabytes, retryMinutes, waitMinutes, timeout, whenGone, ...rest } =
		options;
	return {
		...rest,
		batchLimits: { maxCount: batchSize, maxBytes: batchMegabytes * MEGABYTE },
		retryLimits: retriesFor(retryMinutes),
		timeoutMs: timeout * 1000,
		disableGone: whenGone === 'disable',
		process: afterStoring !== 'nothing',
		waitMs: afterStoring === 'wait' ? waitMinutes * MINUTE_MS : undefined,
		summaryOnly: output === 'summary',
		simplify,
	};
}

/** Time is the only limit: how often a server that restarts is asked meanwhile says nothing about it. */
function retriesFor(time: number): RetryLimits {
	return { maxTries: time === 0 ? 1 : Infinity, maxElapsedMs: time * MINUTE_MS };
}
