import {
	chunk,
	document,
	documentWith,
	page,
	unsignedAddress,
} from 'nodes/XpertAi/payloads/document';
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
	it.each([
		['an unknown field', { processDuration: 'x' }],
		['any text as ID', { id: 'manual-1' }],
	])('takes %s', (_, record) => {
		expect(document.parse(record)).toEqual(record);
	});
});

it('the fields of a record in another order are checked with the same schema', () => {
	const record = { name: 'a', id: 'b', size: 1, mood: 'good' };
	const reversed = Object.fromEntries(Object.entries(record).reverse());
	expect(documentWith(reversed)).toBe(documentWith(record));
	expect(documentWith({ name: 'a' })).not.toBe(documentWith(record));
});

describe('the signature of an address', () => {
	const signed = (query: string) => `https://a.example/b%20c.pdf?v=1&${query}&w=%2F#page=2`;

	it.each([
		'X-Amz-Algorithm=A&X-Amz-Credential=C&X-Amz-Date=1&X-Amz-Expires=9&X-Amz-Signature=s',
		'X-Goog-Credential=C&X-Goog-Date=1&X-Goog-Expires=9&X-Goog-Signature=s',
		'sv=2024-11-04&st=1&se=2&sr=b&sp=r&skoid=o&sktid=t&spr=https&sig=s%3D',
		'Expires=1&Signature=s&Key-Pair-Id=k',
		'Policy=p&Signature=s&Key-Pair-Id=k',
		'AWSAccessKeyId=k&Expires=1&Signature=s&x-amz-security-token=t',
		'GoogleAccessId=k&Expires=1&Signature=s',
	])('is left out: %s', (query) => {
		expect(unsignedAddress(signed(query))).toBe('https://a.example/b%20c.pdf?v=1&w=%2F#page=2');
		expect(unsignedAddress(`https://a.example/b?${query}`)).toBe('https://a.example/b');
	});

	it('is kept in a fragment, which no server gets', () => {
		const address = 'https://a.example/b#page?Expires=1&Signature=s&Key-Pair-Id=k';
		expect(unsignedAddress(address)).toBe(address);
	});

	it.each([
		'X-Amz-Date=1',
		'sig=s&sp=r',
		'sv=1',
		'Signature=s&Expires=1',
		'Expires=1&Key-Pair-Id=k',
	])('is kept where it is not whole: %s', (query) =>
		expect(unsignedAddress(signed(query))).toBe(signed(query)),
	);
});
