import { answeredRecords } from '../../../../nodes/XpertAi/ingest/answeredRecords';
import { prepared } from '../../support/documents';

const ID_A = 'aaaaaaaa-0000-4000-8000-000000000000';
const ID_B = 'bbbbbbbb-0000-4000-8000-000000000000';

const A = prepared({ name: 'A' }, 0, ID_A);
const B = prepared({ name: 'B' }, 1, ID_B);
const withoutId = prepared({ name: 'C' }, 2);

const recordA = { id: ID_A, name: 'A' };
const recordB = { id: ID_B, name: 'B' };
const recordC = { id: 'cccccccc-0000-4000-8000-000000000000', name: 'C' };

describe('the record of each document in the answer', () => {
	it.each([
		['as sent', [recordA, recordB]],
		['in another order', [recordB, recordA]],
		['with more records than were sent', [recordC, recordB, recordA]],
	])('is told by its id when they come %s', (_, answer) => {
		expect(answeredRecords([A, B], answer)).toEqual([recordA, recordB]);
	});

	it('is told by its id in whatever case the server gives it', () => {
		const shouted = prepared({ name: 'B' }, 1, ID_B.toUpperCase());
		expect(answeredRecords([A, shouted], [recordB, recordA])).toEqual([recordA, recordB]);
	});

	it('is missing for a document the answer leaves out', () => {
		expect(answeredRecords([A, B], [recordB])).toEqual([undefined, recordB]);
	});

	it('is the one in its place for a document without an id', () => {
		expect(answeredRecords([A, withoutId, B], [recordA, recordC, recordB])).toEqual([
			recordA,
			recordC,
			recordB,
		]);
	});

	it("is never that of another document's id", () => {
		expect(answeredRecords([withoutId, A], [recordA, recordC])).toEqual([undefined, recordA]);
	});

	it('is the one in its place when the server gives ids of its own', () => {
		const own = { id: '1', name: 'A' };
		expect(answeredRecords([A], [own])).toEqual([own]);
	});

	it('of two documents with the same id is each in its place', () => {
		const first = { ...recordA, version: 1 };
		expect(answeredRecords([A, A], [first, recordA])).toEqual([first, recordA]);
	});
});
