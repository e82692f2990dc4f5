import get from 'lodash/get';
import noop from 'lodash/noop';
import pick from 'lodash/pick';
import { isExpression } from 'n8n-workflow';
import { z } from 'zod';
import type { AnyZodObject } from 'zod';

import { readAnswerOutput } from '../../../execution/outputFor';
import { findPath } from '../../../execution/inputIssues';
import { timeoutSeconds } from '../../../execution/runOperation';
import type { Item } from '../../../execution/item';
import { keyIfGiven } from '../../../execution/keys';
import { finite } from '../../../payloads/common';
import { isJsonObject } from '../../../transport/answer';
import { MINUTE_MS } from '../../../transport/clock';

const MEGABYTE = 1024 * 1024;

const wholeFrom1 = finite.int().min(1);
const minutes = finite.min(0);

export const submitParameters = z.object({
	mode: z.enum(['all', 'changed', 'mirror']),
	options: z.object({
		afterStoring: z.enum(['wait', 'process', 'nothing']),
		batchSize: wholeFrom1,
		batchMegabytes: z.number().positive(),
		/** Whether the run only reports what the next one would do. */
		dryRun: z.boolean(),
		/** Whether the user has acknowledged what the memory lost. */
		forgetDamage: z.boolean(),
		concurrency: wholeFrom1,
		output: z.enum(['documents', 'summary']),
		maxGonePercent: finite.min(0),
		resendAll: z.boolean(),
		retryMinutes: minutes,
		/** This many consecutive failures with the same reason stop the sending; 0 never does. */
		stopAfterFailures: finite.int().min(0),
		timeout: timeoutSeconds,
		waitMinutes: minutes,
	}),
});

/** The source that an item belongs to; the names are empty where none is given. */
export const sourceOf = (item: Item) => ({
	sourceName: keyIfGiven(item, 'sourceName') ?? '',
	shard: keyIfGiven(item, 'options.shard') ?? '',
});

export type Source = ReturnType<typeof sourceOf>;

/**
 * Makes the check that an item has the settings that are read from the first item and apply to all.
 *
 * @param schema of the settings
 * @returns a function that throws NodeOperationError naming the setting whose expression gives something else
 */
export function sameSettingsCheck(first: Item, schema: AnyZodObject): (item: Item) => void {
	const given = pick(first.context.getNode().parameters, Object.keys(schema.shape));
	if (!findPath(given, isExpression)) return noop;
	const settings = first.settings(schema);
	const names = Object.entries(settings).flatMap(([name, value]) =>
		isJsonObject(value) ? Object.keys(value).map((option) => `${name}.${option}`) : name,
	);
	return (item) => {
		const own = item.settings(schema);
		const other = names.find((path) => get(own, path) !== get(settings, path));
		if (other !== undefined) item.refuseField(other, 'must be the same for all items');
	};
}

/** The settings of a submission, from the parameters of the first item. */
export type SubmitSettings = Omit<ReturnType<typeof readSubmitSettings>, 'process'> & {
	/** Whether a stored document is processed; left out, the memory says whether earlier runs did that. */
	process?: boolean;
};

/**
 * Reads and checks the settings that apply to all items.
 *
 * @returns times in milliseconds, sizes in bytes; `waitMs` only if the run waits for the end of processing
 * @throws NodeOperationError naming the option and what it must be
 */
export function readSubmitSettings(item: Item) {
	const { mode, options } = item.settings(submitParameters);
	const { afterStoring, batchSize, batchMegabytes, retryMinutes, timeout, waitMinutes, ...others } =
		options;
	return {
		...others,
		...readAnswerOutput(item),
		/** Whether stored documents are remembered, so that unchanged ones are left out. */
		remembers: mode !== 'all',
		/** Whether documents that are missing from the source are disabled. */
		mirrors: mode === 'mirror',
		batchLimits: { maxCount: batchSize, maxBytes: batchMegabytes * MEGABYTE },
		// Only time limits retries: a count says nothing about how long a server takes to restart.
		retryLimits: {
			maxTries: retryMinutes === 0 ? 1 : Infinity,
			maxElapsedMs: retryMinutes * MINUTE_MS,
		},
		timeoutMs: timeout * 1000,
		process: afterStoring !== 'nothing',
		waitMs: afterStoring === 'wait' ? waitMinutes * MINUTE_MS : undefined,
	};
}
