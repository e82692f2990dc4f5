import { findKey, mapKeys, noop, pick } from 'lodash';
import { isExpression } from 'n8n-workflow';
import { type AnyZodObject, z } from 'zod';

import type { FieldValues } from '../../../execution/fieldBuilders';
import { findPath } from '../../../execution/jsonParts';
import { shownValue } from '../../../execution/issueText';
import type { Item } from '../../../execution/item';
import type { OutputFormat } from '../../../execution/outputs';
import type { ParameterReader } from '../../../execution/parameterReader';
import { timeoutSecondsSchema } from '../../../execution/runOperation';
import { finiteNumber, positiveInteger } from '../../../payloads/zodHelpers';
import { MINUTE_MS } from '../../../transport/clock';
import { submitFields } from './fields';

const MEGABYTE = 1024 * 1024;

const minutesSchema = finiteNumber.min(0);

export const submitSettingsSchema = z.object({
	mode: z.enum(['all', 'changed', 'mirror']),
	options: z.object({
		afterStoring: z.enum(['wait', 'process', 'nothing']),
		disableInManualRuns: z.boolean(),
		dryRun: z.boolean(),
		output: z.enum(['documents', 'summary']),
		maxGonePercent: finiteNumber.min(0),
		resendAll: z.boolean(),
		waitMinutes: minutesSchema,
	}),
	tuning: z.object({
		batchSize: positiveInteger,
		batchMegabytes: finiteNumber.positive(),
		concurrency: positiveInteger,
		forgetDamage: z.boolean(),
		retryMinutes: minutesSchema,
		/** The run stops sending after this number of consecutive failures with the same reason. 0 means no limit. */
		stopAfterFailures: finiteNumber.int().min(0),
		timeout: timeoutSecondsSchema,
	}),
});

/**
 * Returns a function that compares the settings of an item with those of the first item.
 *
 * @returns a function that throws NodeOperationError if a setting of the item is not valid, or not the same. The function
 * does nothing if no setting is an expression.
 * @throws NodeOperationError if a setting is an expression, and a setting of the first item is not valid
 */
export function sameSettingsCheck(first: Item, schema: AnyZodObject): (item: Item) => void {
	const given = pick(first.context.getNode().parameters, Object.keys(schema.shape));
	// Without expressions, all items have the same settings.
	if (!findPath(given, isExpression)) return noop;
	const read = (item: Item): FieldValues => {
		const { options, tuning, ...others } = item.settings(schema);
		return {
			...others,
			...mapKeys(options, (_, name) => `options.${name}`),
			...mapKeys(tuning, (_, name) => `tuning.${name}`),
		};
	};
	const settingsOfFirst = read(first);
	return (item) => {
		const settings = read(item);
		const different = findKey(settingsOfFirst, (value, name) => value !== settings[name]);
		if (different === undefined) return;
		const [here, before] = [settings[different], settingsOfFirst[different]].map(shownValue);
		item.throwFieldIssue(
			different,
			`must be the same for all items, but is ${here} here and ${before} in the first one`,
			undefined,
			'Split the items before, with one node behind each branch.',
		);
	};
}

/** The settings of a run of Submit or Find Changes, from the parameters of the first item. */
export interface SubmitSettings
	extends OutputFormat,
		Omit<ReturnType<typeof readSubmitSettings>, 'startsProcessing'> {
	/** Whether the server processes stored documents. Find Changes has no such setting, and uses that of the last run. */
	startsProcessing?: boolean;
	/** A hint: a linked node has another source, or another node mirrors the same one (see `adjustedToLinkedNodes`). */
	linkedNodesHint?: string;
}

/**
 * Reads and checks the settings that apply to all items. A setting that is not set, or that the operation does not have
 * (Find Changes has no `mode` and no `tuning`), gets its default (see
 * `valueIfAbsent`).
 *
 * @returns the settings, with times in milliseconds and sizes in bytes
 * @throws NodeOperationError if a setting is not valid. The message names the setting and the requirement.
 */
export function readSubmitSettings(item: Item) {
	const resolve: ParameterReader['readWithoutChecks'] = (name, initial) =>
		item.hasParameter(name) ? item.readWithoutChecks(name, initial) : initial;
	const { mode, options, tuning } = item
		.withFields(submitFields, resolve)
		.settings(submitSettingsSchema);
	const { afterStoring, waitMinutes, ...others } = options;
	const { batchSize, batchMegabytes, retryMinutes, timeout, ...tuned } = tuning;
	return {
		...others,
		...tuned,
		/** Whether the run uses the memory of earlier runs to skip unchanged documents. */
		remembers: mode !== 'all',
		/** Whether the run disables stored documents that are missing from the source. */
		mirrors: mode === 'mirror',
		batchLimits: { maxCount: batchSize, maxBytes: batchMegabytes * MEGABYTE },
		// A server may need minutes to restart, so the limit for retries is a duration. 0 minutes means no retry.
		retryLimits: {
			maxTries: retryMinutes === 0 ? 1 : Infinity,
			maxElapsedMs: retryMinutes * MINUTE_MS,
		},
		timeoutMs: timeout * 1000,
		startsProcessing: afterStoring !== 'nothing',
		waitMs: afterStoring === 'wait' ? waitMinutes * MINUTE_MS : undefined,
	};
}
