import { overloads, mayBeStored, namesFile } from '../../../../nodes/XpertAi/ingest/storing';
import type { Attempted, PartlyDone } from '../../../../nodes/XpertAi/ingest/storing';
import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import { prepared } from '../../support/documents';

const request = { method: 'POST', path: '/api/ai/x' };
const status = (code: number, more: Partial<Failure> = {}): Failure => ({
	...{ kind: 'status', status: code, ...request, ...more },
});
const cutOff: Failure = { kind: 'network', code: 'ECONNRESET', ...request };
const notInTime: Failure = { kind: 'timeout', ...request };

const A = prepared({ name: 'A' }, 0);
const B = prepared({ name: 'B' }, 1);
const ofBytes = (bytes: number) => ({ ...A, bytes });

describe('a batch that fails again and again', () => {
	it('is too much from the third time on that it finds no time', () => {
		for (const failure of [notInTime, status(504)]) {
			const tries = [1, 2, 3, 4].map((attempts) => overloads([A, B], failure, attempts));
			expect(tries).toEqual([false, false, true, true]);
		}
		expect(overloads([A, B], status(502), 9)).toBe(false);
	});

	it('is too much where its connection is closed, from one MiB on', () => {
		const MIB = 1024 * 1024;
		// The brackets of the array count as well.
		expect(overloads([ofBytes(MIB - 2)], cutOff, 3)).toBe(true);
		expect(overloads([ofBytes(MIB - 3)], cutOff, 3)).toBe(false);
		expect(overloads([ofBytes(MIB)], cutOff, 2)).toBe(false);
		expect(overloads([ofBytes(MIB)], status(502), 3)).toBe(false);
	});
});

describe('a document that names an uploaded file', () => {
	it('has its id', () => {
		expect(namesFile(prepared({ name: 'A', storageFileId: 'f' }, 0))).toBe(true);
		expect(namesFile(A)).toBe(false);
	});
});

describe('documents of a batch that failed for good', () => {
	const REFUSED = status(400, { reason: 'no such parser' });
	const attempted = (more: Partial<Attempted<unknown>> = {}): Attempted<unknown> => ({
		...{ batch: [A], number: 1, attempts: 1, partlyDone: [], ...more },
	});

	it('are not stored where the one of them was refused', () => {
		expect(mayBeStored(attempted(), REFUSED)).toBe(false);
		expect(mayBeStored(attempted({ mayBeDone: false }), status(403))).toBe(false);
	});

	it('may be stored where a request may have been done without our knowing', () => {
		expect(mayBeStored(attempted({ mayBeDone: true }), REFUSED)).toBe(true);
		expect(mayBeStored(attempted(), { kind: 'cancelled', ...request })).toBe(true);
	});

	it('may be stored where others of the batch are: it was refused half-way', () => {
		for (const failure of [REFUSED, status(500)])
			expect(mayBeStored(attempted({ batch: [A, B] }), failure)).toBe(true);
		expect(mayBeStored(attempted({ batch: [A, B] }), status(403))).toBe(false);
		expect(mayBeStored(attempted(), status(500))).toBe(false);
	});

	describe('where an earlier request with it was refused half-way', () => {
		const after = (earlier: Partial<PartlyDone>, more: Partial<Attempted<unknown>> = {}) =>
			attempted({ partlyDone: [{ failure: REFUSED, ended: false, ...earlier }], ...more });

		it('are not stored where it was refused for this document, in the same words', () => {
			expect(mayBeStored(after({}), REFUSED)).toBe(false);
		});

		it('may be stored where that was in other words', () => {
			for (const failure of [
				status(422, { reason: REFUSED.reason }),
				status(400, { reason: 'something else' }),
				status(400, { reason: REFUSED.reason, databaseCode: '23505' }),
			])
				expect(mayBeStored(after({ failure }), REFUSED)).toBe(true);
		});

		it('may be stored where the words say nothing of a document', () => {
			const failure = status(500, { reason: 'x' });
			expect(mayBeStored(after({ failure }), failure)).toBe(true);
		});

		it('may be stored where it brings chunks, which are refused because they are', () => {
			const chunks = [{ ...A, record: { ...A.record, chunks: [] } }];
			expect(mayBeStored(after({}, { batch: chunks }), REFUSED)).toBe(true);
		});

		it('are not stored where that request had certainly come to its refused document before', () => {
			const failure = status(400, { reason: 'something else' });
			expect(mayBeStored(after({ failure, ended: true }), REFUSED)).toBe(false);
		});

		it('may be stored where one of several such requests does not tell', () => {
			const other = { failure: status(400, { reason: 'something else' }), ended: false };
			const both = [{ failure: REFUSED, ended: false }, other];
			expect(mayBeStored(attempted({ partlyDone: both }), REFUSED)).toBe(true);
		});
	});
});
