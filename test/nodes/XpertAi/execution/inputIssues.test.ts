import fc from 'fast-check';
import { z } from 'zod';

import { checked, issueMessage, jsonOf } from '../../../../nodes/XpertAi/execution/inputIssues';
import type { Naming, Refuse } from '../../../../nodes/XpertAi/execution/inputIssues';
import { DOCUMENT_NAMING } from '../../../../nodes/XpertAi/operations/document/submit/sources/mapping';
import { chunksField, pagesField } from '../../support/rows';
import { document, documentList } from '../../../../nodes/XpertAi/payloads/document';
import { knowledgebase } from '../../../../nodes/XpertAi/payloads/knowledgebase';
import { bodyOf } from '../../support/operations';
import { EMPTY_WORDS, thrownBy } from '../../support/thrown';

const refuse: Refuse = (flaw) => {
	throw new Error(issueMessage(flaw));
};

/** The message for a value that is held against a schema. */
const messageOf = (schema: z.ZodTypeAny, value: unknown, naming: Naming): string =>
	thrownBy(() => checked(refuse, schema, value, naming)).message;

/** The message for a value that is to be sent as JSON. */
const refusal = (value: unknown, naming: Naming = {}): string =>
	thrownBy(() => jsonOf(refuse, value, naming)).message;

const UUID = 'a UUID such as 123e4567-e89b-42d3-a456-426614174000';

describe('the message for a field', () => {
	it.each<[string, unknown, string]>([
		['knowledgebase create', {}, '"Name" is missing'],
		['knowledgebase create', { name: '' }, '"Name" must not be empty, but is ""'],
		[
			'knowledgebase create',
			{ name: 'a', recall: { topK: 2.5 } },
			'"Top K" in "Recall" must be a whole number, but is 2.5',
		],
		[
			'knowledgebase create',
			{ name: 'a', permission: 'Private', recall: { topK: 'y' } },
			'"Permission" must be one of private, organization, public, but is "Private"',
		],
		[
			'knowledgebase update',
			{ workspaceId: 'main' },
			`"Workspace ID" must be ${UUID}, but is "main"`,
		],
		[
			'knowledgebase update',
			{ recall: { score: 1 / 0 } },
			'"Score" in "Recall" must be a number, but is Infinity',
		],
		[
			'knowledgebase update',
			{ parserConfig: { chunkSize: [500] } },
			'"Chunk Size" in "Parser Config" must be a number, but is [500]',
		],
		['chatSession create', { assistant: { id: 5 } }, '"Assistant" must be text, but is 5'],
		[
			'store searchItems',
			{ namespace_prefix: ['a', 5] },
			'"Namespace Prefix" must be text, but is 5',
		],
	])('of %s in %j is: %s', (operation, body, message) => {
		const [resource = '', name = ''] = operation.split(' ');
		const { schema, fields, fieldByPath } = bodyOf(resource, name);
		expect(messageOf(schema, body, { fields, fieldByPath })).toBe(message);
		expect(message).not.toMatch(EMPTY_WORDS);
	});

	const PARTS = { fields: [pagesField, chunksField] };
	const DATE = 'an ISO 8601 date-time such as 2026-01-31T08:00:00Z';

	it.each<[unknown, Naming, string]>([
		[{ pages: [{ pageContent: 1 }] }, PARTS, '"Content" in "Pages" must be text, but is 1'],
		[
			{ chunks: [{ createdAt: 'x' }] },
			PARTS,
			`"Created At" in "Chunks" must be ${DATE}, but is "x"`,
		],
		[{ size: 'big' }, PARTS, '"size" must be a number, but is "big"'],
		[{ size: 'big' }, DOCUMENT_NAMING, '"Size" must be a number, but is "big"'],
		[
			{ parserConfig: { chunkSize: 'big' } },
			DOCUMENT_NAMING,
			'"Chunk Size" in "Parser Config" must be a number, but is "big"',
		],
		// A name that every object inherits is no name of a field.
		[{ size: 'big' }, { fields: [], fieldByPath: {} }, '"size" must be a number, but is "big"'],
	])('of a document %j is (%#): %s', (body, naming, message) => {
		expect(messageOf(document, body, naming)).toBe(message);
	});

	it.each(['constructor', 'toString', 'valueOf'])('is not misled by a key called %s', (key) => {
		const naming = { fields: [pagesField], fieldByPath: {} };
		const schema = z.object({ [key]: z.number() });
		expect(messageOf(schema, { [key]: 'x' }, naming)).toBe(`"${key}" must be a number, but is "x"`);
	});
});

describe('the message for a JSON body', () => {
	const naming = { parameter: 'JSON Body' };

	it.each([
		[documentList(), 5, ' must be a list (JSON array), but is 5'],
		[documentList(), null, ' must be a list (JSON array), but is null'],
		[documentList(), [5], ' at [0] must be an object (JSON), but is 5'],
		[documentList(), [{}, { size: 'x' }], ' at [1].size must be a number, but is "x"'],
		[
			documentList(),
			[{ pages: [{ status: 1 }] }],
			' at [0].pages[0].status must be text, but is 1',
		],
		[
			knowledgebase,
			{ name: 'a', recall: { topK: '5' } },
			' at recall.topK must be a number, but is "5"',
		],
		[z.number().min(1), 0, ' must be at least 1, but is 0'],
		[z.number().max(9), 10, ' must be at most 9, but is 10'],
		[z.number().positive(), 0, ' must be more than 0, but is 0'],
		[z.number().int(), Infinity, ' must be a whole number, but is Infinity'],
		[z.boolean(), 'maybe', ' must be true or false, but is "maybe"'],
	])('(%#) of %j is: %s', (schema, body, message) => {
		expect(messageOf(schema, body, naming)).toBe(`"JSON Body"${message}`);
	});

	it('cuts a long value', () => {
		const message = messageOf(z.number(), 'long '.repeat(1000), naming);
		expect(message).toMatch(/but is "long long .{60,80}$/);
		expect(message.length).toBeLessThan(160);
	});
});

describe('what JSON cannot hold', () => {
	const HALF =
		'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';

	it.each(['\ud83d', 'cut \ud83d', '\ude00\ud83d'])('is half of a character: %j', (text) => {
		expect(refusal({ a: [{ text }] })).toBe(`"JSON Body" at a[0].text ${HALF}`);
		expect(refusal({ name: text }, DOCUMENT_NAMING)).toBe(`"Name" ${HALF}`);
		const inName = `"Fields" has a field whose name ${HALF}`;
		expect(refusal({ [text]: 1 }, DOCUMENT_NAMING)).toBe(inName);
	});

	it.each([Infinity, -Infinity, NaN])('is the number %p', (number) => {
		const words = `must be a number, but is ${number}`;
		expect(refusal({ where: { all: [1, { size: number }] } })).toBe(
			`"JSON Body" at where.all[1].size ${words}`,
		);
		expect(refusal(number)).toBe(`"JSON Body" ${words}`);
		const metadata = { lines: [number] };
		expect(refusal({ metadata }, DOCUMENT_NAMING)).toBe(`"lines[0]" in "Metadata" ${words}`);
	});

	it('is a value of many levels', () => {
		let deep: unknown = 'x';
		for (let level = 0; level < 20_000; level++) deep = { a: deep };
		const rule = 'is nested too deeply or too long to be sent';
		expect(refusal({ fine: 1, deep })).toBe(`"JSON Body" at deep ${rule}`);
	});

	it('is named where it stands first', () => {
		const value = { a: [1, { b: NaN }], c: Infinity };
		expect(refusal(value)).toBe('"JSON Body" at a[1].b must be a number, but is NaN');
	});

	it('is nothing else, and of a date only what is written of it', () => {
		const date = { inside: NaN, toJSON: () => '2026-01-31' };
		const looksLike = fc.constantFrom<unknown>('😀', '\\ud83d', 'null', null, new Date(0), date);
		fc.assert(
			fc.property(fc.jsonValue(), looksLike, (json, like) => {
				const value = { json, like };
				expect(jsonOf(refuse, value, {})).toBe(JSON.stringify(value));
				expect(checked(refuse, z.unknown(), value, {})).toBe(value);
			}),
		);
	});
});
