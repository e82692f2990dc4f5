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

	it('does not check a correctly spelled processDuration: the contract has no such field', () => {
		expect(document.parse({ processDuration: 'x' })).toEqual({ processDuration: 'x' });
	});

	it('does not ask for a UUID as id, because the contract does not', () => {
		expect(document.parse({ id: 'manual-1' })).toEqual({ id: 'manual-1' });
	});
});

describe('a JSON body of documents', () => {
	const documents = documentList();

	it('is the array of the contract, also an empty one', () => {
		expect(documents.parse([{ name: 'a' }, { name: 'b' }])).toEqual([{ name: 'a' }, { name: 'b' }]);
		expect(documents.parse([])).toEqual([]);
	});

	it('may be one document on its own', () => {
		expect(documents.parse({ name: 'a' })).toEqual([{ name: 'a' }]);
	});

	it.each([null, 'a', 1, true, [[]], [null], [{ size: '1' }]])('is not %j', (body) => {
		expect(documents.safeParse(body).success).toBe(false);
	});
});
