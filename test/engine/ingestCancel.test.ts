import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { AN_HOUR, stopOnce, useFixture } from './support/fixture';
import { BY_NAME, busyFor, ingestOn, rows } from './support/ingest';

const fixture = useFixture();
const { submit } = ingestOn(fixture);

const arrived = () => fixture.sandbox.requests.of('E3').length;
const refused = () =>
	fixture.sandbox.requests.of('E3').filter(({ status = 0 }) => status >= 400).length;
const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** Submits two hundred documents, ten a batch, and stops the execution once it has got so far. */
async function submitUntil(gotSoFar: () => boolean, options: INodeParameters = {}) {
	const stop = stopOnce(gotSoFar);
	const { run, items } = await submit(
		{
			...BY_NAME,
			documentKey: '={{ $json.name }}',
			options: { batchSize: 10, concurrency: 1, ...options },
		},
		{
			items: rows(200),
			onError: 'continueRegularOutput',
			onStart: stop.onStart,
		},
	);
	const waitedMs = stop.waitedMs();
	const atOnce = arrived();
	await pause(500);
	return { run, items, waitedMs, atOnce };
}

describe('an execution that is stopped', () => {
	it.each([1, 5])(
		'in the midst of sending %i at once ends within a second',
		async (concurrency) => {
			const nth = range(concurrency + 1, 2 * concurrency + 1);
			fixture.sandbox.faults.add({ endpoint: 'E3', nth, do: 'delay', ms: AN_HOUR });
			const { run, waitedMs, atOnce } = await submitUntil(() => arrived() === 2 * concurrency, {
				concurrency,
			});
			expect(run.status).toBe('canceled');
			expect(waitedMs).toBeLessThan(1000);
			expect(atOnce).toBe(2 * concurrency);
			expect(arrived()).toBe(atOnce);
		},
	);

	it('while a request hangs ends within a second', async () => {
		fixture.sandbox.faults.add({ endpoint: 'E3', do: 'delay', ms: AN_HOUR });
		const { run, waitedMs } = await submitUntil(() => arrived() === 1);
		expect(run.status).toBe('canceled');
		expect(waitedMs).toBeLessThan(1000);
		expect(arrived()).toBe(1);
	});

	it.each([1, 5])('while %i batches wait for a retry ends within a second', async (concurrency) => {
		fixture.sandbox.faults.add(busyFor(3600, 429));
		const { run, waitedMs } = await submitUntil(() => refused() === concurrency, {
			concurrency,
			retryMinutes: 120,
		});
		expect(run.status).toBe('canceled');
		expect(waitedMs).toBeLessThan(1000);
		expect(arrived()).toBe(concurrency);
	});

	it('while a bad batch is being cut up ends within a second', async () => {
		fixture.sandbox.faults.add({ endpoint: 'E3', nth: [1, 2, 3], do: 'status', status: 500 });
		fixture.sandbox.faults.add({ endpoint: 'E3', nth: 4, do: 'delay', ms: AN_HOUR });
		const { waitedMs, atOnce } = await submitUntil(() => arrived() === 4);
		expect([refused(), atOnce]).toEqual([3, 4]);
		expect(waitedMs).toBeLessThan(1000);
		expect(arrived()).toBe(atOnce);
	});
});
