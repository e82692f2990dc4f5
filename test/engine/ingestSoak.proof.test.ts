import type { INodeParameters } from 'n8n-workflow';

import type { FaultRule } from '../../sandbox';
import { useFixture } from './support/fixture';
import { column, ingestOn } from './support/ingest';

const fixture = useFixture();
const { submit, file, storedNames } = ingestOn(fixture);

const COUNT = 20_000;
const NAMES = Array.from({ length: COUNT }, (_, index) => `doc ${index}`);

/** One request in five goes wrong, in one of these ways. */
function misbehave(seed: number): void {
	const soon = { 'retry-after': '0' };
	const actions: Extract<FaultRule, { do: 'oneOf' }>['actions'] = [
		{ do: 'status', status: 429, headers: soon },
		{ do: 'status', status: 503, headers: soon },
		{ do: 'status', status: 503 },
		{ do: 'status', status: 502, when: 'after' },
		{ do: 'status', status: 504, when: 'after' },
		{ do: 'status', status: 520, when: 'after' },
		{ do: 'status', status: 522 },
		{ do: 'drop', when: 'unread' },
		{ do: 'drop', when: 'before', reset: true },
		{ do: 'drop', when: 'after', reset: true },
		{ do: 'drop', when: 'after' },
		{ do: 'truncate' },
		{ do: 'delay', ms: 30 },
		{ do: 'delay', ms: 30, when: 'after' },
	];
	fixture.sandbox.faults.add({ endpoint: 'E3', probability: 0.2, seed, do: 'oneOf', actions });
}

/** How often the server did something wrong. */
const faults = () => fixture.sandbox.faults.list().reduce((sum, { fired }) => sum + fired, 0);

/**
 * Submits 20,000 documents out of a file, 400 a request. All are sent: by default the node stops after three requests
 * in a row that failed, and chance decides in what order requests sent at once end.
 */
async function soak(seed: number, parameters: INodeParameters, options: INodeParameters) {
	misbehave(seed);
	const text = NAMES.map((name, index) => JSON.stringify({ name, filePath: `/${index}` })).join(
		'\n',
	);
	return await submit(
		{
			source: 'records',
			...parameters,
			options: { batchSize: 400, stopAfterFailures: 0, ...options },
		},
		{ items: [await file(text)], onError: 'continueErrorOutput' },
	);
}

describe('20,000 documents, with a fault in one of five requests', () => {
	it.each([
		['of their own', 1, { documentKeyField: 'filePath' }],
		['of their own', 5, { documentKeyField: 'filePath' }],
		['that are new each time', 1, { documentIdMode: 'new' }],
		['that are new each time', 5, { documentIdMode: 'new' }],
	])(
		'with IDs %s, %i requests at once: none is lost, none doubled, each reported once, in order',
		async (_, concurrency, ids) => {
			const { outputs, hints } = await soak(concurrency, ids, { concurrency });
			expect(faults()).toBeGreaterThan(5);
			expect(outputs[1] ?? []).toEqual([]);
			expect(column(outputs[0], 'name')).toEqual(NAMES);
			expect(new Set(column(outputs[0], 'outcome'))).toEqual(new Set(['stored']));
			expect(storedNames()).toHaveLength(COUNT);
			expect(new Set(storedNames())).toEqual(new Set(NAMES));
			expect(hints[0]?.message).toMatch(
				/^Documents: 20000 stored \(51 batches, \d+ requests tried again\)\.$/,
			);
		},
	);
});
