import { chunk, document, documentList, page } from '../../../../nodes/XpertAi/payloads/document';
import { CONTRACT, followsTable } from '../../support/contract';

describe('a page', () => followsTable(page, CONTRACT.page));
describe('a chunk', () => followsTable(chunk, CONTRACT.chunk));

describe('a document record', () => {
	followsTable(document, CONTRACT.document);

	it('needs no field', () => expect(document.parse({})).toEqual({}));

	it.each(Object.keys(CONTRACT.document))('takes null for %s', (field) => {
		expect(document.parse({ [field]: null })).toEqual({ [field]: null });
	});

	// The contract has no correctly spelled processDuration, and asks for no UUID.
	it.each([{ processDuration: 'x' }, { id: 'manual-1' }])('takes %j', (record) => {
		expect(document.parse(record)).toEqual(record);
	});
});

describe('a JSON body of documents', () => {
	const documents = documentList();

	it.each<[unknown, unknown]>([
		[
			[{ name: 'a' }, { name: 'b' }],
			[{ name: 'a' }, { name: 'b' }],
		],
		[[], []],
		[{ name: 'a' }, [{ name: 'a' }]],
	])('may be %j', (body, list) => expect(documents.parse(body)).toEqual(list));

	it.each([null, 'a', 1, true, [[]], [null], [{ size: '1' }]])('is not %j', (body) => {
		expect(documents.safeParse(body).success).toBe(false);
	});
});
