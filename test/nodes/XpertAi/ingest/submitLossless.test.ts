import fc from 'fast-check';

import { BulkServer, FAULTS } from './support/bulkServer';
import type { Fault, ModelDocument } from './support/bulkServer';
import { submitTo } from './support/submitting';
import type { Submitted } from './support/submitting';

/** The status a document is refused with; most are good. */
const bad = fc.option(fc.constantFrom(400, 422, 500), { freq: 8, nil: undefined });
const faults = fc.array(fc.constantFrom<Fault>('none', 'none', ...FAULTS), { maxLength: 25 });
const limits = fc.record({
	maxCount: fc.integer({ min: 1, max: 12 }),
	maxBytes: fc.integer({ min: 40, max: 400 }),
});
const concurrency = fc.integer({ min: 1, max: 20 });
const maxTries = fc.integer({ min: 1, max: 4 });
const serverBytes = fc.oneof(fc.constant(Infinity), fc.integer({ min: 60, max: 300 }));

function documents(hasId: fc.Arbitrary<boolean>): fc.Arbitrary<ModelDocument[]> {
	return fc.array(fc.record({ bad, hasId }), { maxLength: 50 }).map((drawn) =>
		drawn.map((one, key) => ({
			key,
			...(one.hasId ? { id: `id-${key}` } : {}),
			...(one.bad === undefined ? {} : { bad: one.bad }),
		})),
	);
}

const allWithIds = documents(fc.constant(true));
const noneWithIds = documents(fc.constant(false));
const someWithIds = documents(fc.boolean());

function expectToldOnce({ told }: Submitted, models: ModelDocument[]): void {
	const places = told.map(({ document }) => document.origin);
	expect(places.sort((one, other) => one - other)).toEqual(models.map(({ key }) => key));
}

/** What is reported must be true: stored is stored, and rejected is not. */
function expectHonest({ placesOf }: Submitted, server: BulkServer): void {
	expect(placesOf('stored').filter((key) => server.copiesOf(key) === 0)).toEqual([]);
	expect(placesOf('rejected').filter((key) => server.copiesOf(key) > 0)).toEqual([]);
}

describe('documents with ids', () => {
	it('are all stored, once, but for those the server rejects, when what is wrong passes', async () => {
		await fc.assert(
			fc.asyncProperty(
				allWithIds,
				faults,
				limits,
				concurrency,
				async (models, wrong, batchLimits, atOnce) => {
					const server = new BulkServer(wrong);
					const submitted = await submitTo(server, models, {
						batchLimits,
						concurrency: atOnce,
						retryLimits: { maxTries: wrong.length + 1, maxElapsedMs: Infinity },
					});
					const good = models.filter((model) => model.bad === undefined).map(({ key }) => key);
					expectToldOnce(submitted, models);
					expect(submitted.placesOf('stored')).toEqual(good);
					expect(server.rows.map(({ key }) => key).sort((a, b) => a - b)).toEqual(good);
				},
			),
			{ numRuns: 300 },
		);
	});

	it('are reported as what they are, whatever goes wrong and for however long', async () => {
		await fc.assert(
			fc.asyncProperty(
				allWithIds,
				faults,
				limits,
				concurrency,
				maxTries,
				serverBytes,
				async (models, wrong, batchLimits, atOnce, tries, most) => {
					const server = new BulkServer(wrong, most);
					const submitted = await submitTo(server, models, {
						batchLimits,
						concurrency: atOnce,
						retryLimits: { maxTries: tries, maxElapsedMs: Infinity },
					});
					expectToldOnce(submitted, models);
					expectHonest(submitted, server);
					expect(new Set(server.rows.map(({ id }) => id)).size).toBe(server.rows.length);
				},
			),
			{ numRuns: 500 },
		);
	});
});

describe('documents without ids', () => {
	it('are never stored twice, and what may be stored is not called stored or rejected', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.oneof(noneWithIds, someWithIds),
				faults,
				limits,
				concurrency,
				maxTries,
				serverBytes,
				async (models, wrong, batchLimits, atOnce, tries, most) => {
					const server = new BulkServer(wrong, most);
					const submitted = await submitTo(server, models, {
						batchLimits,
						concurrency: atOnce,
						retryLimits: { maxTries: tries, maxElapsedMs: Infinity },
					});
					expectToldOnce(submitted, models);
					expectHonest(submitted, server);
					expect(models.filter(({ key }) => server.copiesOf(key) > 1)).toEqual([]);
				},
			),
			{ numRuns: 500 },
		);
	});

	it('are all stored once when nothing worse than "not now" is answered', async () => {
		const harmless = fc.array(fc.constantFrom<Fault>('none', 'refused', 'limited', 'unavailable'));
		await fc.assert(
			fc.asyncProperty(
				fc.nat({ max: 50 }),
				harmless,
				limits,
				concurrency,
				async (count, wrong, batchLimits, atOnce) => {
					const models = Array.from({ length: count }, (_, key) => ({ key }));
					const server = new BulkServer(wrong);
					const submitted = await submitTo(server, models, {
						batchLimits,
						concurrency: atOnce,
						retryLimits: { maxTries: wrong.length + 1, maxElapsedMs: Infinity },
					});
					expect(submitted.placesOf('stored')).toEqual(models.map(({ key }) => key));
					expect(models.filter(({ key }) => server.copiesOf(key) !== 1)).toEqual([]);
				},
			),
		);
	});

	it('are reported as what they are also when their batches are cut up', async () => {
		await fc.assert(
			fc.asyncProperty(
				noneWithIds,
				faults,
				limits,
				maxTries,
				async (models, wrong, batchLimits, tries) => {
					const server = new BulkServer(wrong);
					const submitted = await submitTo(server, models, {
						batchLimits,
						isolateWithoutIds: true,
						retryLimits: { maxTries: tries, maxElapsedMs: Infinity },
					});
					expectToldOnce(submitted, models);
					expectHonest(submitted, server);
				},
			),
			{ numRuns: 300 },
		);
	});
});

it('has no more requests under way than asked for', async () => {
	await fc.assert(
		fc.asyncProperty(allWithIds, faults, concurrency, async (models, wrong, atOnce) => {
			const server = new BulkServer(wrong);
			await submitTo(server, models, {
				batchLimits: { maxCount: 2, maxBytes: Infinity },
				concurrency: atOnce,
			});
			expect(server.most).toBeLessThanOrEqual(atOnce);
		}),
	);
});

it('counts requests, retries and splits as they were', async () => {
	await fc.assert(
		fc.asyncProperty(allWithIds, faults, limits, async (models, wrong, batchLimits) => {
			const server = new BulkServer(wrong);
			const { counts } = await submitTo(server, models, { batchLimits });
			expect(counts.requests).toBe(server.requests);
			// Every batch is one request; a split makes two more of it, and a retry one.
			expect(counts.requests).toBe(counts.batches + 2 * counts.splits + counts.retries);
		}),
	);
});
