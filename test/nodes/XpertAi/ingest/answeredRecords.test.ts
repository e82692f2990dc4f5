import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';

import { answeredRecords, storingFlaw } from '../../../../nodes/XpertAi/ingest/answeredRecords';
import type { ReadyDocument } from '../../../../nodes/XpertAi/ingest/readyDocument';
import type { DocumentRecord } from '../../../../nodes/XpertAi/payloads/document';
import { prepared } from '../../support/documents';

const ID_A = 'aaaaaaaa-0000-4000-8000-000000000000';
const ID_B = 'bbbbbbbb-0000-4000-8000-000000000000';

const A = prepared({ name: 'A' }, 0, ID_A);
const B = prepared({ name: 'B' }, 1, ID_B);
const ofNewId = {
	...prepared({ name: 'C' }, 2, 'cccccccc-1111-4000-8000-000000000000'),
	isNew: true,
};

const recordA = { id: ID_A, name: 'A' };
const recordB = { id: ID_B, name: 'B' };
const recordC = { id: 'cccccccc-0000-4000-8000-000000000000', name: 'C' };

describe('the record of each document in the answer', () => {
	const shouted = prepared({ name: 'B' }, 1, ID_B.toUpperCase());
	const first = { ...recordA, version: 1 };
	it.each<[string, Array<ReadyDocument<number>>, object[], Array<object | undefined>]>([
		['as sent', [A, B], [recordA, recordB], [recordA, recordB]],
		['in another order', [A, B], [recordB, recordA], [recordA, recordB]],
		['with more than were sent', [A, B], [recordC, recordB, recordA], [recordA, recordB]],
		['with IDs in another case', [A, shouted], [recordB, recordA], [recordA, recordB]],
		['without the first', [A, B], [recordB], [undefined, recordB]],
		[
			'with an ID of the server for a new one',
			[A, ofNewId],
			[recordA, recordC],
			[recordA, recordC],
		],
		["with another document's ID", [ofNewId, A], [recordA, recordC], [undefined, recordA]],
		['with one ID twice', [A, A], [first, recordA], [first, recordA]],
	])('is found where records come %s', (_, documents, answer, expected) => {
		expect(answeredRecords(documents, answer)).toEqual(expected);
	});

	it.each([
		['another id', [recordC, recordB]],
		['no id', [{ name: 'A' }, recordB]],
		['an empty id', [{ id: '' }, recordB]],
		['nothing in its place', [null, recordB]],
	])('is not one with %s', (_, answer) => {
		expect(answeredRecords([A, B], answer)).toEqual([undefined, recordB]);
		expect(answeredRecords([ofNewId, B], [{ name: 'C' }, recordB])).toEqual([undefined, recordB]);
	});

	it.each([
		['nothing', undefined],
		['an empty list', []],
		['an object', { statusCode: 500, message: 'Internal server error' }],
		['a list of something else', [{ success: false }]],
		['text', 'ok'],
		['records with empty ids', [{ id: '' }, { id: '' }]],
		['fewer records than were sent, with other ids', [recordC]],
		['more records than were sent, with other ids', [recordC, recordC, recordC]],
	])('is missing in %s', (_, answer) => {
		expect(answeredRecords([ofNewId, ofNewId], answer)).toEqual([undefined, undefined]);
		expect(answeredRecords([A], [answer])).toEqual([undefined]);
	});
});

describe('the record of a source, which a knowledgebase with incremental sync keeps under its first id', () => {
	const source = { sourceType: 'file', sourceKey: 'crm:42' };
	const moved = prepared({ name: 'A', ...source }, 0, ID_A);
	const kept = { id: recordC.id, ...source };

	it('is that of a document sent under another id', () => {
		expect(answeredRecords([moved], [kept])).toEqual([kept]);
	});

	it('is that of both documents of one source', () => {
		const first = { ...recordB, ...source };
		const second = prepared({ name: 'B', ...source }, 1, ID_B);
		expect(answeredRecords([second, moved], [first, first])).toEqual([first, first]);
	});

	it.each([
		['key', { ...kept, sourceKey: 'crm:43' }],
		['type', { ...kept, sourceType: 'web' }],
		['key and type', recordC],
	])('is not one of another %s', (_, record) => {
		expect(answeredRecords([moved], [record])).toEqual([undefined]);
	});

	it.each([{}, { sourceType: 'file' }, { sourceKey: 'crm:42' }])(
		'is not looked for where the document names none: %j',
		(named) => {
			const document = prepared({ name: 'A', ...named }, 0, ID_A);
			expect(answeredRecords([document], [{ ...recordC, ...named }])).toEqual([undefined]);
		},
	);
});

it.each([
	[undefined, [recordA], recordA],
	['it is empty, and shows no document as stored', undefined, undefined],
	['it shows 0 of 1 documents as stored', [], undefined],
])('an answer that lacks documents has the flaw: %s', (flaw, answer, record) => {
	expect(storingFlaw(answer, [record])).toBe(flaw);
});

/** Every recorded success of E3 that is there as a whole. */
function recordedSuccesses() {
	const folder = path.join(__dirname, '../../../recordings');
	return readdirSync(folder).flatMap((file) => {
		const { exchanges = [] } = JSON.parse(readFileSync(path.join(folder, file), 'utf8')) as {
			exchanges?: Array<{
				label: string;
				request?: { path?: string; body?: unknown };
				response: { status: number; body: unknown };
			}>;
		};
		return exchanges.flatMap(({ label, request, response }) => {
			if (!request?.path?.endsWith('/bulk') || response.status >= 300) return [];
			const { body: sent } = request;
			const { body: answer } = response;
			const name = `${file}: ${label}`;
			return Array.isArray(sent) && Array.isArray(answer) ? [{ name, sent, answer }] : [];
		});
	});
}

describe('every recorded success', () => {
	const all = recordedSuccesses();
	it('is checked', () => expect(all.length).toBeGreaterThan(30));

	it.each(all)('shows all documents as stored: $name', ({ sent, answer }) => {
		const documents = sent.map((document: unknown, place) => {
			const { id } = Object(document) as { id?: string };
			return { ...prepared(document as DocumentRecord, place, id), isNew: id === undefined };
		});
		expect(storingFlaw(answer, answeredRecords(documents, answer))).toBeUndefined();
	});
});
