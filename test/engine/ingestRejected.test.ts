import { range } from 'lodash';

import { useFixture } from './support/fixture';
import {
	BY_NAME,
	REFUSED_SOURCE_TYPE,
	busyFor,
	column,
	hintsOf,
	ingestOn,
	origins,
	rows,
} from './support/ingest';

const fixture = useFixture();
const { submit, storedNames, batchSizes } = ingestOn(fixture);

const withIds = { ...BY_NAME, documentKey: '={{ $json.name }}' };
const REASON =
	/^The server answered 400: The server's database refused the data: a text is too long/;
const refused = (bad: number[]) => (index: number) =>
	bad.includes(index) ? { sourceType: REFUSED_SOURCE_TYPE } : {};
const viaJson = (count: number, bad: number[], parameters = {}) => ({
	source: 'json',
	jsonBody: JSON.stringify(rows(count, refused(bad)).map(({ json }) => json)),
	...parameters,
});
const namesBut = (count: number, bad: number[]) =>
	column(rows(count), 'name').filter((_, index) => !bad.includes(index));

describe('a document the server rejects', () => {
	it('is found among 250 with ids; all others are stored, once', async () => {
		const result = await submit(viaJson(250, [137], { documentKeyField: 'name' }), {
			onError: 'continueErrorOutput',
		});
		expect(column(result.outputs[0], 'name')).toEqual(namesBut(250, [137]));
		expect(storedNames()).toHaveLength(249);
		expect(new Set(storedNames())).toEqual(new Set(namesBut(250, [137])));
		expect(column(result.outputs[1], 'error')).toEqual([expect.stringMatching(REASON)]);
		expect(column(result.outputs[1], 'details')).toEqual([
			expect.objectContaining({ name: 'doc 137', outcome: 'rejected', status: 400, batch: 3 }),
		]);
		expect(hintsOf(result)[0]).toBe('Documents: 249 stored, 1 rejected (4 batches).');
	});

	it('is named with the counts when the node stops', async () => {
		const { error } = await submit(
			viaJson(250, [137], { documentKeyField: 'name', options: { batchSize: 50, concurrency: 1 } }),
		);
		expect(error?.message).toMatch(REASON);
		expect(error?.message).toMatch(/\. Documents: 159 stored, 1 rejected, 90 not sent$/);
		expect(error?.description).toContain(
			'A second run replaces documents that carry a UUID as ID and stores all others again.',
		);
		expect(storedNames()).toHaveLength(159);
	});

	it('is found also where documents bring no IDs, and nothing is doubled', async () => {
		const { outputs } = await submit(
			viaJson(30, [14], { options: { batchSize: 10, concurrency: 1 } }),
			{ onError: 'continueErrorOutput' },
		);
		expect(column(outputs[1], 'details')).toEqual([
			expect.objectContaining({ name: 'doc 14', outcome: 'rejected' }),
		]);
		expect([...storedNames()].sort()).toEqual([...namesBut(30, [14])].sort());
	});
});

it('a document whose chunks changed is told what to do instead', async () => {
	const items = (text: string) => rows(1, () => ({ chunks: [{ pageContent: text }] }));
	await submit(withIds, { items: items('first') });
	const { error } = await submit(withIds, { items: items('changed') });
	expect(error?.message).toBe(
		'The server answered 400: it does not take a document again whose chunks changed. Send its text with "Documents From" set to Text, or its file with Files. Documents: 1 rejected',
	);
});

describe('a server that is busy', () => {
	const secondBatch = { endpoint: 'E3', nth: [2, 3] };

	it.each([429, 503] as const)(
		'answering %i with Retry-After gets the batch again, also without ids',
		async (status) => {
			fixture.sandbox.faults.add(busyFor(0, status, secondBatch));
			const result = await submit(
				{ ...BY_NAME, options: { batchSize: 10, concurrency: 1 } },
				{ items: rows(30) },
			);
			expect(column(result.items, 'attempts')).toEqual(
				[1, 3, 1].flatMap((attempts) => Array.from({ length: 10 }, () => attempts)),
			);
			expect(storedNames()).toEqual(namesBut(30, []));
			expect(hintsOf(result)[0]).toBe('Documents: 30 stored (3 batches, 2 requests tried again).');
		},
	);

	it('is waited for as long as it asks', async () => {
		fixture.sandbox.faults.add(busyFor(1, 429, { endpoint: 'E3', nth: 1 }));
		await submit(BY_NAME, { items: rows(1) });
		const [first, second] = fixture.sandbox.requests.of('E3').map(({ arrivedAt }) => arrivedAt);
		expect((second ?? 0) - (first ?? 0)).toBeGreaterThanOrEqual(1000);
	});

	it.each([
		['with IDs of their own', withIds],
		['with IDs that are new each time', BY_NAME],
	])(
		'gets a batch again that may be stored, and nothing is doubled: documents %s',
		async (_, own) => {
			fixture.sandbox.faults.add({ endpoint: 'E3', nth: 2, do: 'drop', when: 'after' });
			fixture.sandbox.faults.add({ endpoint: 'E3', nth: 3, do: 'truncate' });
			const result = await submit(
				{ ...own, options: { batchSize: 10, concurrency: 1 } },
				{ items: rows(30) },
			);
			expect(result.error).toBeUndefined();
			expect(origins(result.items)).toEqual(range(0, 30));
			expect(storedNames()).toEqual(namesBut(30, []));
		},
	);

	it('is given up when the time for retries is over', async () => {
		fixture.sandbox.faults.add(busyFor(0, 429, secondBatch));
		const { error } = await submit(
			{ ...BY_NAME, options: { batchSize: 10, concurrency: 1, retryMinutes: 0 } },
			{ items: rows(30) },
		);
		expect(error?.message).toMatch(
			/^The server answered 429: .*\. Documents: 10 stored, 10 rejected, 10 not sent$/,
		);
	});
});

describe('a batch that is too large', () => {
	it('is cut by bytes before it is sent', async () => {
		const items = rows(10, () => ({ folder: 'x'.repeat(4000) }));
		await submit({ ...BY_NAME, options: { batchMegabytes: 0.01 } }, { items });
		expect(batchSizes()).toEqual([2, 2, 2, 2, 2]);
	});

	it('is halved when the server answers 413, also without ids', async () => {
		fixture.sandbox.faults.add({ endpoint: 'E3', nth: [1, 2], do: 'status', status: 413 });
		const { items } = await submit(BY_NAME, { items: rows(8) });
		expect(batchSizes()).toEqual([8, 4, 2, 2, 4]);
		expect(origins(items)).toEqual(range(0, 8));
		expect(storedNames()).toEqual(namesBut(8, []));
	});
});
