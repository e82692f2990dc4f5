import type { INodeParameters } from 'n8n-workflow';

import { stopOnce, useFixture } from './support/fixture';
import { BY_NAME, busyFor, ingestOn, rows } from './support/ingest';

const fixture = useFixture();
const { submit } = ingestOn(fixture);

const arrived = () => fixture.sandbox.requests.of('E3').length;
const refused = () =>
	fixture.sandbox.requests.of('E3').filter(({ status = 0 }) => status >= 400).length;
const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** Submits a hundred documents, ten a batch, and stops the execution once it has got so far. */
async function submitUntil(gotSoFar: () => boolean, options: INodeParameters = {}) {
	const stop = stopOnce(gotSoFar);
	const { run, items } = await submit(
		{
			...BY_NAME,
			documentKey: '={{ $json.name }}',
			options: { batchSize: 10, concurrency: 1, ...options },
		},
		{
			items: rows(100),
			onError: 'continueRegularOutput',
			onStart: stop.onStart,
		},
	);
	const took = stop.tookMs();
	const atOnce = arrived();
	await pause(500);
	return { run, items, took, atOnce };
}

describe('an execution that is stopped', () => {
	it.each([1, 5])(
		'in the midst of sending %i at once ends within a second',
		async (concurrency) => {
			fixture.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: 500 });
			const { run, took, atOnce } = await submitUntil(() => arrived() >= concurrency, {
				concurrency,
			});
			expect(run.status).toBe('canceled');
			expect(took).toBeLessThan(1000);
			expect(atOnce).toBeGreaterThanOrEqual(concurrency);
			expect(atOnce).toBeLessThan(100);
			expect(arrived()).toBe(atOnce);
		},
	);

	it('while a request hangs ends within a second', async () => {
		fixture.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: 10_000 });
		const { run, took } = await submitUntil(() => arrived() === 1);
		expect(run.status).toBe('canceled');
		expect(took).toBeLessThan(1000);
		expect(arrived()).toBe(1);
	});

	it.each([1, 5])('while %i batches wait for a retry ends within a second', async (concurrency) => {
		fixture.sandbox.faults.add(busyFor(3600, 429));
		const { run, took } = await submitUntil(() => refused() === concurrency, {
			concurrency,
			retryMinutes: 120,
		});
		expect(run.status).toBe('canceled');
		expect(took).toBeLessThan(1000);
		expect(arrived()).toBe(concurrency);
	});

	it('while a bad batch is being cut up ends within a second', async () => {
		fixture.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: 100 });
		fixture.sandbox.faults.add({ endpoint: 'E3', do: 'status', status: 500 });
		const { took, atOnce } = await submitUntil(() => refused() >= 3);
		expect(took).toBeLessThan(1000);
		expect(arrived()).toBe(atOnce);
	});
});
