import fc from 'fast-check';
import { z } from 'zod';

import { checked, flawMessage, jsonOf } from '../../../../nodes/XpertAi/execution/badInput';
import type { Naming, Refuse } from '../../../../nodes/XpertAi/execution/badInput';
import { DOCUMENT_NAMING } from '../../../../nodes/XpertAi/operations/document/submit/sources/mapping';
import {
	chunksField,
	pagesField,
} from '../../../../nodes/XpertAi/operations/document/submit/sources/parts';
import { document, documentList } from '../../../../nodes/XpertAi/payloads/document';
import { knowledgebase } from '../../../../nodes/XpertAi/payloads/knowledgebase';
import { bodyOf } from '../../support/operations';
import { EMPTY_WORDS, thrownBy } from '../../support/thrown';

const refuse: Refuse = (flaw) => {
	throw new Error(flawMessage(flaw));
};

/** The message for a value that is held against a schema. */
const messageOf = (schema: z.ZodTypeAny, value: unknown, naming: Naming): string =>
	thrownBy(() => checked(refuse, schema, value, naming)).message;

/** The message for a value that is to be sent as JSON. */
const refusal = (value: unknown, naming: Naming = {}): string =>
	thrownBy(() => jsonOf(refuse, value, naming)).message;

/** The message for a body made of the fields of an operation. */
function messageFor(resource: string, operation: string, body: unknown): string {
	const { schema, fields, fieldByPath } = bodyOf(resource, operation);
	return messageOf(schema, body, { fields, fieldByPath });
}

/** Operation, a wrong body, and the whole message. */
const WORDING: Array<[string, string, unknown, string]> = [
	['knowledgebase', 'create', {}, '"Name" is missing'],
	['knowledgebase', 'create', { name: '' }, '"Name" must not be empty, but is ""'],
	[
		'knowledgebase',
		'create',
		{ name: 'a', recall: { topK: 2.5 } },
		'"Top K" in "Recall" must be a whole number, but is 2.5',
	],
	[
		'knowledgebase',
		'create',
		{ name: 'a', recall: { score: 'high' } },
		'"Score" in "Recall" must be a number, but is "high"',
	],
	[
		'knowledgebase',
		'update',
		{ recall: { score: 1 / 0 } },
		'"Score" in "Recall" must be a number, but is Infinity',
	],
	[
		'knowledgebase',
		'create',
		{ name: 'a', permission: 'Private' },
		'"Permission" must be one of private, organization, public, but is "Private"',
	],
	[
		'knowledgebase',
		'update',
		{ type: 'x' },
		'"Type" must be one of standard, external, but is "x"',
	],
	[
		'knowledgebase',
		'update',
		{ workspaceId: 'main' },
		'"Workspace ID" must be a UUID such as 123e4567-e89b-42d3-a456-426614174000, but is "main"',
	],
	[
		'knowledgebase',
		'update',
		{ parserConfig: { chunkSize: [500] } },
		'"Chunk Size" in "Parser Config" must be a number, but is [500]',
	],
	[
		'knowledgebase',
		'update',
		{ copilotModel: { model: 5 } },
		'"Model" in "Embedding Model" must be text, but is 5',
	],
	['chatSession', 'create', { assistant: { id: 5 } }, '"Assistant" must be text, but is 5'],
	[
		'chatSession',
		'create',
		{ expires_after: 1.5 },
		'"Expires After (Seconds)" must be a whole number, but is 1.5',
	],
	[
		'assistant',
		'search',
		{ metadata: 'slug' },
		'"Metadata" must be an object (JSON), but is "slug"',
	],
	['store', 'createNamespace', { max_depth: 'all' }, '"Max Depth" must be a number, but is "all"'],
	[
		'store',
		'searchItems',
		{ namespace_prefix: ['a', 5] },
		'"Namespace Prefix" must be text, but is 5',
	],
];

describe('the message for a field', () => {
	it.each(WORDING)('%s: %s %j', (resource, operation, body, message) => {
		expect(messageFor(resource, operation, body)).toBe(message);
	});

	it('is about the first field that is wrong', () => {
		const body = { name: 'a', permission: 'x', recall: { topK: 'y' } };
		expect(messageFor('knowledgebase', 'create', body)).toContain('"Permission"');
	});

	it('names the list that holds a wrong page or chunk', () => {
		const naming = { fields: [pagesField, chunksField] };
		expect(messageOf(document, { pages: [{ pageContent: 1 }] }, naming)).toBe(
			'"Content" in "Pages" must be text, but is 1',
		);
		expect(messageOf(document, { chunks: [{ createdAt: '31.01.2026' }] }, naming)).toBe(
			'"Created At" in "Chunks" must be an ISO 8601 date-time such as 2026-01-31T08:00:00Z, but is "31.01.2026"',
		);
	});

	it('names what lies below a column of a document as well', () => {
		expect(messageOf(document, { parserConfig: { chunkSize: 'big' } }, DOCUMENT_NAMING)).toBe(
			'"Chunk Size" in "Parser Config" must be a number, but is "big"',
		);
		expect(messageOf(document, { size: 'big' }, DOCUMENT_NAMING)).toBe(
			'"Size" must be a number, but is "big"',
		);
	});

	it('names a column that no field stands for by its own name', () => {
		const naming = { fields: [pagesField, chunksField] };
		expect(messageOf(document, { size: 'big' }, naming)).toBe(
			'"size" must be a number, but is "big"',
		);
	});
});

describe('the message for a JSON body', () => {
	const naming = { parameter: 'JSON Body' };

	it.each([
		[5, '"JSON Body" must be a list (JSON array), but is 5'],
		[null, '"JSON Body" must be a list (JSON array), but is null'],
		[[5], '"JSON Body" at [0] must be an object (JSON), but is 5'],
		[[{}, { size: 'x' }], '"JSON Body" at [1].size must be a number, but is "x"'],
		[[{ pages: [{}, { status: 1 }] }], '"JSON Body" at [0].pages[1].status must be text, but is 1'],
	])('of documents %j', (body, message) => {
		expect(messageOf(documentList(), body, naming)).toBe(message);
	});

	it('starts a path without a dot', () => {
		const body = { name: 'a', recall: { topK: '5' } };
		expect(messageOf(knowledgebase, body, naming)).toBe(
			'"JSON Body" at recall.topK must be a number, but is "5"',
		);
	});
});

describe('every message', () => {
	const limit = { parameter: 'Limit' };

	it('cuts a long value', () => {
		const message = messageOf(z.number(), 'long '.repeat(1000), limit);
		expect(message).toContain('but is "long long');
		expect(message.length).toBeLessThan(160);
	});

	it.each([
		[z.number().min(1), 0, '"Limit" must be at least 1, but is 0'],
		[z.number().max(9), 10, '"Limit" must be at most 9, but is 10'],
		[z.number().positive(), 0, '"Limit" must be more than 0, but is 0'],
		[z.number().int(), Infinity, '"Limit" must be a whole number, but is Infinity'],
		[z.number(), NaN, '"Limit" must be a number, but is NaN'],
		[z.boolean(), 'maybe', '"Limit" must be true or false, but is "maybe"'],
	])('says what is right (%#)', (schema, value, message) => {
		expect(messageOf(schema, value, limit)).toBe(message);
	});

	it('is free of words that say nothing', () => {
		expect(messageOf(knowledgebase, {}, {})).not.toMatch(EMPTY_WORDS);
		for (const [, , , wording] of WORDING) expect(wording).not.toMatch(EMPTY_WORDS);
	});
});

describe('half of a character', () => {
	const DEMAND =
		'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';

	it.each(['\ud83d', 'cut \ud83d', '\ude00\ud83d'])('is refused wherever it stands: %j', (text) => {
		expect(refusal({ a: [{ text }] })).toBe(`"JSON Body" at a[0].text ${DEMAND}`);
		expect(refusal({ name: text }, DOCUMENT_NAMING)).toBe(`"Name" ${DEMAND}`);
		const inName = `"Fields" has a field whose name ${DEMAND}`;
		expect(refusal({ [text]: 1 }, DOCUMENT_NAMING)).toBe(inName);
	});

	it.each(['😀', '\\ud83d', 'null'])('is nothing that only looks like it: %j', (text) => {
		expect(jsonOf(refuse, { text }, {})).toBe(JSON.stringify({ text }));
	});
});

describe('a number that JSON has not', () => {
	const numbers = [Infinity, -Infinity, NaN];

	it.each(numbers)('is refused wherever it stands: %p', (number) => {
		expect(refusal({ where: { all: [1, { size: number }] } })).toBe(
			`"JSON Body" at where.all[1].size must be a number, but is ${number}`,
		);
		expect(refusal(number)).toBe(`"JSON Body" must be a number, but is ${number}`);
		expect(refusal({ progress: number }, DOCUMENT_NAMING)).toBe(
			`"Progress" must be a number, but is ${number}`,
		);
		expect(refusal({ metadata: { lines: [number] } }, DOCUMENT_NAMING)).toBe(
			`"lines[0]" in "Metadata" must be a number, but is ${number}`,
		);
		const { fields, fieldByPath } = bodyOf('conversation', 'search');
		expect(refusal({ where: { count: number } }, { fields, fieldByPath })).toBe(
			`"count" in "Conditions" must be a number, but is ${number}`,
		);
	});

	it('is the only thing that is refused so', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (value) => {
				expect(jsonOf(refuse, value, {})).toBe(JSON.stringify(value));
			}),
		);
		const date = new Date('2026-01-31');
		expect(jsonOf(refuse, { a: null, text: 'null', date }, {})).toBe(
			'{"a":null,"text":"null","date":"2026-01-31T00:00:00.000Z"}',
		);
	});

	it('is found in any JSON', () => {
		const deep = fc.jsonValue().map((value) => ({ before: value, list: [value, NaN], after: 1 }));
		fc.assert(
			fc.property(deep, (value) => {
				expect(refusal(value)).toBe('"JSON Body" at list[1] must be a number, but is NaN');
			}),
		);
	});
});

describe('input that is right', () => {
	it('comes back as it was', () => {
		const body = { name: 'a', recall: { topK: 5 }, newer: true };
		expect(checked(refuse, knowledgebase, body, {})).toEqual(body);
	});
});
