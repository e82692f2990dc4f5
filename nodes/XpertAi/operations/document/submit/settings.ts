import { z } from 'zod';

import { keyIfGiven } from '../../../execution/keys';
import { timeoutSeconds } from '../../../execution/declared';
import type { Item } from '../../../execution/item';
import { finite } from '../../../payloads/common';
import { MINUTE_MS } from '../../../transport/clock';
import type { RetryLimits } from '../../../transport/retryPolicy';

const MEGABYTE = 1024 * 1024;

const wholeFrom1 = finite.int().min(1);
const minutes = finite.min(0);

const parameters = z.object({
	mode: z.enum(['all', 'changed', 'mirror']),
	options: z.object({
		afterStoring: z.enum(['wait', 'process', 'nothing']),
		batchSize: wholeFrom1,
		batchMegabytes: z.number().positive(),
		dryRun: z.boolean(),
		forgetDamage: z.boolean(),
		concurrency: wholeFrom1,
		output: z.enum(['documents', 'summary']),
		maxGonePercent: finite.min(0),
		resendAll: z.boolean(),
		retryMinutes: minutes,
		stopAfterFailures: finite.int().min(0),
		timeout: timeoutSeconds,
		waitMinutes: minutes,
	}),
});

/** How a submission works, from the parameters of the first item. */
export type SubmitSettings = ReturnType<typeof readSubmitSettings>;

/**
 * Reads and checks what all items have in common.
 *
 * @returns times in milliseconds, sizes in bytes; `waitMs` only where the end of the processing is waited for
 * @throws NodeOperationError naming the option and what it must be
 */
export function readSubmitSettings(item: Item) {
	const { mode, options } = item.settings(parameters);
	const { afterStoring, concurrency, dryRun, forgetDamage } = options;
	const { maxGonePercent, output, resendAll, stopAfterFailures } = options;
	return {
		simplify: item.isSimplified,
		maxGonePercent,
		resendAll,
		concurrency,
		/** Whether the run only tells what the next one would do. */
		dryRun,
		/** Whether the user has taken note of what the memory has lost. */
		forgetDamage,
		output,
		sourceName: keyIfGiven(item, 'sourceName') ?? '',
		shard: keyIfGiven(item, 'options.shard') ?? '',
		/** So many documents that fail one after another for the same reason end the sending; never with 0. */
		stopAfterFailures,
		/** Whether what is stored is remembered, so that unchanged documents are left out. */
		remembers: mode !== 'all',
		/** Whether documents that are gone from the source are taken out of answers. */
		mirrors: mode === 'mirror',
		batchLimits: {
			maxCount: options.batchSize,
			maxBytes: options.batchMegabytes * MEGABYTE,
		},
		retryLimits: retriesFor(options.retryMinutes),
		timeoutMs: options.timeout * 1000,
		process: afterStoring !== 'nothing',
		waitMs: afterStoring === 'wait' ? options.waitMinutes * MINUTE_MS : undefined,
	};
}

/** Time is the only limit: how often a server that restarts is asked meanwhile says nothing about it. */
function retriesFor(time: number): RetryLimits {
	return { maxTries: time === 0 ? 1 : Infinity, maxElapsedMs: time * MINUTE_MS };
}
