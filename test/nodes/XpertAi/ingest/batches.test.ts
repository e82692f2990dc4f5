import fc from 'fast-check';

import { batchBody, batchBytes, batches, halves } from '../../../../nodes/XpertAi/ingest/batches';
import type {
	BatchLimits,
	Documents,
	ReadyDocument,
} from '../../../../nodes/XpertAi/ingest/batches';
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
	for await (const batch of batches(list, limit)) all.push(batch);
	return all;
}

const origins = async (list: Array<ReadyDocument<number>>, maxCount: number, maxBytes: number) =>
	(await split(list, { maxCount, maxBytes })).map((batch) => batch.map(({ origin }) => origin));

/** A document whose JSON text has exactly so many bytes. */
const sized = (bytes: number, origin: number) =>
	prepared({ name: 'x'.repeat(bytes - '{"name":""}'.length) }, origin);

/** How many documents a batch may hold. */
const mostIn = ({ maxCount, firstCount = maxCount }: BatchLimits, index: number) =>
	index === 0 ? Math.min(firstCount, maxCount) : maxCount;

/** Bytes of a batch, with those that are kept free beside its documents. */
const sizeOf = (batch: Array<ReadyDocument<number>>, { reserved }: Partial<BatchLimits> = {}) =>
	Buffer.byteLength(batchBody(batch)) +
	(reserved ? reserved.once + reserved.each * batch.length : 0);

describe('batches', () => {
	it('hold every document exactly once and in order', async () => {
		await fc.assert(
			fc.asyncProperty(documents, limits, async (list, limit) => {
				expect((await split(list, limit)).flat()).toEqual(list);
			}),
		);
	});

	it('are never empty and never over count or bytes, unless a single document is', async () => {
		await fc.assert(
			fc.asyncProperty(documents, limits, async (list, limit) => {
				for (const [index, batch] of (await split(list, limit)).entries()) {
					expect(batch.length).toBeGreaterThan(0);
					expect(batch.length).toBeLessThanOrEqual(mostIn(limit, index));
					if (batch.length > 1) expect(sizeOf(batch, limit)).toBeLessThanOrEqual(limit.maxBytes);
				}
			}),
		);
	});

	it('are no more than needed: none could take the document that starts the next one', async () => {
		await fc.assert(
			fc.asyncProperty(documents, limits, async (list, limit) => {
				const all = await split(list, limit);
				for (const [index, batch] of all.slice(0, -1).entries()) {
					const more = [...batch, ...(all[index + 1]?.slice(0, 1) ?? [])];
					const fits = more.length <= mostIn(limit, index) && sizeOf(more, limit) <= limit.maxBytes;
					expect(fits).toBe(false);
				}
			}),
		);
	});

	it('are cut by count', async () => {
		const five = [0, 1, 2, 3, 4].map((index) => prepared({}, index));
		expect(await origins(five, 2, 1000)).toEqual([[0, 1], [2, 3], [4]]);
		expect(await origins(five, 5, 1000)).toEqual([[0, 1, 2, 3, 4]]);
		expect(await origins(five, 1, 1000)).toEqual([[0], [1], [2], [3], [4]]);
		expect(await origins([], 5, 1000)).toEqual([]);
	});

	it('are cut by bytes, the brackets and commas included', async () => {
		const three = [sized(20, 0), sized(20, 1), sized(20, 2)];
		expect(await origins(three, 100, 64)).toEqual([[0, 1, 2]]);
		expect(await origins(three, 100, 63)).toEqual([[0, 1], [2]]);
		expect(await origins(three, 100, 43)).toEqual([[0, 1], [2]]);
		expect(await origins(three, 100, 42)).toEqual([[0], [1], [2]]);
	});

	it('are cut by bytes, with those of what goes beside each document and each batch', async () => {
		const three = [0, 1, 2].map((index) => sized(20, index));
		const reserved = { once: 10, each: 5 };
		const cut = async (maxBytes: number) =>
			(await split(three, { maxCount: 100, maxBytes, reserved })).map(({ length }) => length);
		expect([await cut(89), await cut(88), await cut(63), await cut(62)]).toEqual([
			[3],
			[2, 1],
			[2, 1],
			[1, 1, 1],
		]);
	});

	it('give a document that is too large a batch of its own', async () => {
		const mixed = [sized(15, 0), sized(500, 1), sized(15, 2), sized(15, 3)];
		expect(await origins(mixed, 100, 50)).toEqual([[0], [1], [2, 3]]);
	});

	it('are made one at a time, while documents still come in', async () => {
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

describe('the halves of a batch', () => {
	it('are both smaller than it and hold all of it, in order', () => {
		fc.assert(
			fc.property(fc.array(fc.nat(), { minLength: 2 }), (batch) => {
				const [first, second] = halves(batch);
				expect([...first, ...second]).toEqual(batch);
				expect(first.length).toBeLessThan(batch.length);
				expect(second.length).toBeLessThan(batch.length);
			}),
		);
	});
});
