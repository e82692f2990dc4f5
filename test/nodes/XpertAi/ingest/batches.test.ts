import fc from 'fast-check';

import { batchBody, batchBytes, batches } from '../../../../nodes/XpertAi/ingest/batches';
import type { BatchLimits, Documents } from '../../../../nodes/XpertAi/ingest/batches';
import type { ReadyDocument } from '../../../../nodes/XpertAi/ingest/readyDocument';
import { prepared } from '../../support/documents';

const documents = fc
	.array(
		fc.record({
			name: fc.string({ unit: 'grapheme', maxLength: 30 }),
			metadata: fc.dictionary(fc.string(), fc.jsonValue()),
		}),
	)
	.map((values) => values.map((value, index) => prepared(value, index)));
const limits = fc.record({
	maxCount: fc.integer({ min: 1, max: 8 }),
	firstCount: fc.option(fc.integer({ min: 1, max: 8 }), { nil: undefined }),
	maxBytes: fc.integer({ min: 1, max: 400 }),
	reserved: fc.option(fc.record({ once: fc.nat(60), each: fc.nat(20) }), { nil: undefined }),
});

async function split(list: Documents<number>, limit: BatchLimits) {
	const all: Array<Array<ReadyDocument<number>>> = [];
	for await (const batch of batches<number>(list, limit)) all.push(batch);
	return all;
}

/** How many documents a batch may hold. */
const mostIn = ({ maxCount, firstCount = maxCount }: BatchLimits, index: number) =>
	index === 0 ? Math.min(firstCount, maxCount) : maxCount;

/** Bytes of a batch, with those that are kept free beside its documents. */
const sizeOf = (batch: Array<ReadyDocument<number>>, { reserved }: Partial<BatchLimits> = {}) =>
	Buffer.byteLength(batchBody(batch)) +
	(reserved ? reserved.once + reserved.each * batch.length : 0);

describe('batches', () => {
	it('hold each document once and in order, within the limits unless a single one is over, and are no more than needed', async () => {
		await fc.assert(
			fc.asyncProperty(documents, limits, async (list, limit) => {
				const all = await split(list, limit);
				const fits = (batch: Array<ReadyDocument<number>>, index: number) =>
					batch.length <= mostIn(limit, index) && sizeOf(batch, limit) <= limit.maxBytes;
				expect(all.flat()).toEqual(list);
				for (const [index, batch] of all.entries()) {
					expect(batch.length).toBeGreaterThan(0);
					expect(batch.length === 1 || fits(batch, index)).toBe(true);
					const next = all[index + 1];
					if (next) expect(fits([...batch, ...next.slice(0, 1)], index)).toBe(false);
				}
			}),
			{ numRuns: 1000 },
		);
	});

	it('are made one at a time, before all documents are read', async () => {
		let taken = 0;
		async function* endless() {
			for (;;) yield prepared({}, taken++);
		}
		const first = await batches(endless(), { maxCount: 3, maxBytes: 1000 }).next();
		expect(first.value).toHaveLength(3);
		expect(taken).toBe(4);
	});
});

describe('the body of a batch', () => {
	it('is the JSON array of its documents, and its size is known', () => {
		fc.assert(
			fc.property(documents, (list) => {
				expect(JSON.parse(batchBody(list))).toEqual(
					JSON.parse(JSON.stringify(list.map(({ record }) => record))),
				);
				fc.pre(list.length > 0);
				expect(batchBytes(list)).toBe(sizeOf(list));
			}),
		);
	});
});
