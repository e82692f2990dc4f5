import { z } from 'zod';
import type { ZodNumber } from 'zod';

import { timeoutSeconds } from '../../../execution/declared';
import { MOST_AT_ONCE } from '../../../execution/fields';
import type { Item } from '../../../execution/item';
import type { BatchLimits } from '../../../ingest/batches';
import { MINUTE_MS } from '../../../transport/clock';
import type { RetryLimits } from '../../../transport/retryPolicy';

const MEGABYTE = 1024 * 1024;

const afterStoring = z.enum(['wait', 'process', 'nothing']);

const whenGone = z.enum(['keep', 'disable']);

const wholeFrom1 = z.number().int().min(1);

/** How a submission works, from the parameters of the first item. */
export interface SubmitSettings {
	batchLimits: BatchLimits;
	retryLimits: RetryLimits;
	concurrency: number;
	timeoutMs: number;
	isolateWithoutIds: boolean;
	skipUnchanged: boolean;
	resendAll: boolean;
	/** What the source is known by, if its user says so. */
	sourceName: string;
	/** Which part of the source is brought, where several runs bring one each. */
	shard: string;
	/** Whether documents that are gone from the source are taken out of answers. */
	disableGone: boolean;
	/** The largest share of documents that may be gone, in percent. */
	maxGonePercent: number;
	process: boolean;
	/** How long to wait for the processing; not at all without it. */
	waitMs?: number;
	summaryOnly: boolean;
	simplify: boolean;
}

/**
 * Reads and checks the options of Submit.
 *
 * @throws NodeOperationError naming the option and what it must be
 */
export function readSettings(item: Item): SubmitSettings {
	const number = (name: string, schema: ZodNumber) => item.number(`options.${name}`, schema);
	const after = item.choice('afterStoring', afterStoring);
	const on = (name: string) => item.switch(`options.${name}`);
	return {
		batchLimits: {
			maxCount: number('batchSize', wholeFrom1),
			maxBytes: number('batchMegabytes', z.number().positive().max(50)) * MEGABYTE,
		},
		retryLimits: retriesFor(number('retryMinutes', z.number().min(0))),
		concurrency: number('concurrency', wholeFrom1.max(MOST_AT_ONCE)),
		timeoutMs: number('timeout', timeoutSeconds) * 1000,
		isolateWithoutIds: on('isolateWithoutIds'),
		skipUnchanged: on('skipUnchanged'),
		resendAll: on('resendAll'),
		sourceName: item.text('options.sourceName').trim(),
		shard: item.text('options.shard').trim(),
		disableGone: item.choice('options.whenGone', whenGone) === 'disable',
		maxGonePercent: number('maxGonePercent', z.number().min(0).max(100)),
		process: after !== 'nothing',
		waitMs: after === 'wait' ? number('waitMinutes', z.number().min(0)) * MINUTE_MS : undefined,
		summaryOnly: item.parameter('output', 'documents') === 'summary',
		simplify: item.switch('simplify'),
	};
}

/** Time is the only limit: how often a server that restarts is asked meanwhile says nothing about it. */
function retriesFor(minutes: number): RetryLimits {
	return { maxTries: minutes === 0 ? 1 : Infinity, maxElapsedMs: minutes * MINUTE_MS };
}
