import {
	documentChunkSchema,
	documentPageSchema,
	documentSchema,
	documentSchemaFor,
} from 'nodes/XpertAi/payloads/document';
import { CONTRACT, followsTable } from '../../support/contract';

describe('a page', () => followsTable(documentPageSchema, CONTRACT.page));
describe('a chunk', () => followsTable(documentChunkSchema, CONTRACT.chunk));

describe('a document record', () => {
	followsTable(documentSchema, CONTRACT.document);

	it('needs no field', () => expect(documentSchema.parse({})).toEqual({}));

	it.each(Object.keys(CONTRACT.document))('takes null for %s', (field) => {
		expect(documentSchema.parse({ [field]: null })).toEqual({ [field]: null });
	});

	// The contract has no correctly spelled processDuration, and asks for no UUID.
	it.each([
		['an unknown field', { processDuration: 'x' }],
		['any text as ID', { id: 'manual-1' }],
	])('takes %s', (_, record) => {
		expect(documentSchema.parse(record)).toEqual(record);
	});
});

it('the fields of a record in another order are checked with the same schema', () => {
	const record = { name: 'a', id: 'b', size: 1, mood: 'good' };
	const reversed = Object.fromEntries(Object.entries(record).reverse());
	expect(documentSchemaFor(reversed)).toBe(documentSchemaFor(record));
	expect(documentSchemaFor({ name: 'a' })).not.toBe(documentSchemaFor(record));
});
