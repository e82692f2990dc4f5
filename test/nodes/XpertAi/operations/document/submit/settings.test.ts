import { submitFields } from 'nodes/XpertAi/operations/document/submit/fields';
import { readSubmitSettings } from 'nodes/XpertAi/operations/document/submit/settings';
import { itemOf } from 'test/nodes/support/context';
import { thrownBy } from 'test/nodes/support/thrown';

const read = (parameters: Record<string, unknown> = {}) =>
	readSubmitSettings(itemOf(parameters, { fields: submitFields }));

describe('the settings of a submission', () => {
	it('are these when nothing is chosen', () => {
		expect(read()).toEqual({
			batchLimits: { maxCount: 100, maxBytes: 8 * 1024 * 1024 },
			retryLimits: { maxTries: Infinity, maxElapsedMs: 600_000 },
			concurrency: 5,
			dryRun: false,
			forgetDamage: false,
			timeoutMs: 300_000,
			remembers: false,
			mirrors: false,
			stopAfterFailures: 100,
			disableInManualRuns: false,
			maxGonePercent: 20,
			resendAll: false,
			startsProcessing: true,
			waitMs: 1_800_000,
			output: 'documents',
		});
	});

	it('are the ones chosen', () => {
		const tuning = {
			batchSize: 7,
			batchMegabytes: 0.5,
			retryMinutes: 0.5,
			concurrency: '3',
			timeout: 10,
			forgetDamage: true,
		};
		const options = {
			waitMinutes: 2,
			output: 'summary',
			afterStoring: 'nothing',
			maxGonePercent: 5,
			resendAll: true,
		};
		expect(read({ mode: 'mirror', options, tuning })).toMatchObject({
			batchLimits: { maxCount: 7, maxBytes: 524_288 },
			retryLimits: { maxTries: Infinity, maxElapsedMs: 30_000 },
			concurrency: 3,
			timeoutMs: 10_000,
			forgetDamage: true,
			remembers: true,
			mirrors: true,
			maxGonePercent: 5,
			resendAll: true,
			waitMs: undefined,
			output: 'summary',
		});
	});

	it.each([
		['remember with the mode "changed"', { mode: 'changed' }, { remembers: true, mirrors: false }],
		[
			'try once with no minutes to retry',
			{ tuning: { retryMinutes: 0 } },
			{ retryLimits: { maxTries: 1, maxElapsedMs: 0 } },
		],
		[
			'process nothing where they say so',
			{ options: { afterStoring: 'nothing' } },
			{ startsProcessing: false, waitMs: undefined },
		],
		[
			'wait for nothing where they only start',
			{ options: { afterStoring: 'process' } },
			{ startsProcessing: true, waitMs: undefined },
		],
		[
			'wait for no time where they say so',
			{ options: { waitMinutes: 0 } },
			{ startsProcessing: true, waitMs: 0 },
		],
	])('%s', (_, parameters, expected) => {
		expect(read(parameters)).toMatchObject(expected);
	});

	it('let a batch be as large as servers take, and no larger', () => {
		expect(read({ tuning: { batchMegabytes: 50 } }).batchLimits.maxBytes).toBe(52_428_800);
		expect(thrownBy(() => read({ tuning: { batchMegabytes: 50.01 } })).message).toBe(
			'"Batch Size (MB)" in "Tuning and Repair" must be at most 50, but is 50.01',
		);
	});

	it.each([
		['"Batch Size" in "Tuning and Repair" must be at least 1', { tuning: { batchSize: 0 } }],
		['"Batch Size" in "Tuning and Repair" must be a whole number', { tuning: { batchSize: 1.5 } }],
		[
			'"Batch Size (MB)" in "Tuning and Repair" must be more than 0',
			{ tuning: { batchMegabytes: 0 } },
		],
		[
			'"Requests at Once" in "Tuning and Repair" must be at most 20',
			{ tuning: { concurrency: 21 } },
		],
		[
			'"Requests at Once" in "Tuning and Repair" must be at least 1',
			{ tuning: { concurrency: 0 } },
		],
		[
			'"Retry for (Minutes)" in "Tuning and Repair" must be at least 0',
			{ tuning: { retryMinutes: -1 } },
		],
		[
			'"Wait for Processing (Minutes)" in "Options" must be at least 0',
			{ options: { waitMinutes: -1 } },
		],
		['must be more than 0', { tuning: { timeout: 0 } }],
		[
			'"Batch Size" in "Tuning and Repair" must be a number, but is "many"',
			{ tuning: { batchSize: 'many' } },
		],
	])('refuse: %s', (message, parameters) => {
		expect(thrownBy(() => read(parameters)).message).toContain(message);
	});
});
