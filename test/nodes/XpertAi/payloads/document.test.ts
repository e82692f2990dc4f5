import { chunk, document, documentList, page } from '../../../../nodes/XpertAi/payloads/document';
import { DOCUMENT, RECORD_ROWS, followsTable } from '../../support/contract';
import type { ContractTable } from '../../support/contract';

/** The contract's "Page", and "Chunk" beside it. */
const PAGE: ContractTable = {
	...RECORD_ROWS,
	pageContent: 'string',
	metadata: 'object',
	status: 'string',
};
const CHUNK: ContractTable = { ...PAGE, parent: 'any' };

describe('a page', () => followsTable(page, PAGE));
describe('a chunk', () => followsTable(chunk, CHUNK));

describe('a document record', () => {
	followsTable(document, DOCUMENT);

	it('needs no field', () => expect(document.parse({})).toEqual({}));

	it.each(Object.keys(DOCUMENT))('takes null for %s', (field) => {
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
