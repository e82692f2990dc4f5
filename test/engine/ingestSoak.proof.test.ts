import type { INodeExecutionData, INodeParameters } from 'n8n-workflow';

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

function copiesByName(): Map<unknown, number> {
	const copies = new Map<unknown, number>();
	for (const name of storedNames()) copies.set(name, (copies.get(name) ?? 0) + 1);
	return copies;
}

const failedNames = (items: INodeExecutionData[] | undefined) =>
	(items ?? []).map(({ json }) => (json.details as { name: string }).name);

describe('20,000 documents, with a fault in one of five requests', () => {
	it.each([1, 5])(
		'with ids, %i requests at once: none is lost, none doubled, each reported once, in order',
		async (concurrency) => {
			const { outputs, hints } = await soak(
				concurrency,
				{ documentKeyField: 'filePath' },
				{ concurrency },
			);
			expect(faults()).toBeGreaterThan(5);
			expect(outputs[1] ?? []).toEqual([]);
			expect(column(outputs[0], 'name')).toEqual(NAMES);
			expect(new Set(column(outputs[0], 'outcome'))).toEqual(new Set(['stored']));
			expect(storedNames()).toHaveLength(COUNT);
			expect(new Set(storedNames())).toEqual(new Set(NAMES));
			expect(hints[0]?.message).toMatch(
				/^Documents: 20000 stored \(50 batches, \d+ requests tried again\)\.$/,
			);
		},
	);

	it.each([1, 5])(
		'without ids, %i requests at once: none is called stored that is not, and none is doubled',
		async (concurrency) => {
			const { outputs } = await soak(
				10 + concurrency,
				{ documentIdMode: 'server' },
				{ concurrency },
			);
			expect(faults()).toBeGreaterThan(5);
			const stored = column(outputs[0], 'name');
			const unknown = failedNames(outputs[1]);
			expect(unknown.length).toBeGreaterThan(0);
			expect(new Set([...stored, ...unknown])).toEqual(new Set(NAMES));
			expect(stored.length + unknown.length).toBe(COUNT);

			const copies = copiesByName();
			expect(stored.filter((name) => copies.get(name) !== 1)).toEqual([]);
			expect(unknown.filter((name) => (copies.get(name) ?? 0) > 1)).toEqual([]);
			// Some of them are stored, which is why they may not be called rejected.
			expect(unknown.some((name) => copies.get(name) === 1)).toBe(true);
			expect(
				(outputs[1] ?? []).every(
					({ json }) => (json.details as { outcome: string }).outcome === 'unknown',
				),
			).toBe(true);
		},
	);
});
