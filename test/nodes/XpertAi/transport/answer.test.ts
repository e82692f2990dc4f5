import fc from 'fast-check';
import { z } from 'zod';

import { answerIssue, parseAndCleanJson, retryAfterMsOf } from 'nodes/XpertAi/transport/answer';
import { unreadableReason } from 'nodes/XpertAi/transport/unreadable';
import {
	type AnswerSchema,
	anySuccessfulAnswer,
	listAnswerSchema,
	recordSchemaWith,
} from 'nodes/XpertAi/transport/answerSchemas';
import { failureReason as reasonIn } from 'nodes/XpertAi/transport/failureReason';
import { sanitizedLine } from 'nodes/XpertAi/transport/sanitizedLine';
import { recordings } from 'test/sandbox/support/recordings';

describe('answerIssue', () => {
	const deep = z.object({ a: z.object({ b: z.string() }), c: z.number() });

	it.each<[string, string, AnswerSchema, unknown, string | undefined]>([
		['any answer may be nothing', 'any answer', anySuccessfulAnswer, undefined, undefined],
		['a list may be empty', 'a list', listAnswerSchema(), [], undefined],
		[
			'a list is no object',
			'a list',
			listAnswerSchema(),
			{ items: [] },
			'it holds no list of results',
		],
		[
			'items may have a total beside them',
			'items',
			listAnswerSchema('items'),
			{ items: [1], total: 1 },
			undefined,
		],
		[
			'items are not null',
			'items',
			listAnswerSchema('items'),
			{ items: null },
			'it holds no list of results',
		],
		[
			'items are no list alone',
			'items',
			listAnswerSchema('items'),
			[],
			'it holds no list of results',
		],
		['items are not nothing', 'items', listAnswerSchema('items'), undefined, 'it is empty'],
		[
			'a record may have more',
			'a record',
			recordSchemaWith('id', 'url'),
			{ id: 1, url: 'x' },
			undefined,
		],
		[
			'a record has each key',
			'a record',
			recordSchemaWith('id', 'url'),
			{ id: 'a' },
			'it holds no url',
		],
		[
			'a record is not empty',
			'a record',
			recordSchemaWith('id', 'url'),
			{},
			'it holds no id or no url',
		],
		[
			'a record has an ID that is not empty',
			'a record',
			recordSchemaWith('id'),
			{ id: '' },
			'it holds no id',
		],
		[
			'a record has an ID that is not null',
			'a record',
			recordSchemaWith('id'),
			{ id: null },
			'it holds no id',
		],
		[
			'a record is no list',
			'a record',
			recordSchemaWith('id'),
			[{ id: 'a' }],
			'it is not what was asked for',
		],
		['a record is not nothing', 'a record', recordSchemaWith('id'), undefined, 'it is empty'],
		['an object is no word', 'an object', deep, 'OK', 'it is not what was asked for'],
		[
			'one of two is one of them',
			'one of two',
			z.union([deep, z.number()]),
			{},
			'it is not what was asked for',
		],
		['deep fields are named', 'deep fields', deep, { a: {}, c: '1' }, 'it holds no a.b or no c'],
		[
			'a refined one says why',
			'a refined one',
			z.unknown().refine(() => false, 'it is odd'),
			undefined,
			'it is odd',
		],
	])('of %s', (_, _kind, schema, answer, flaw) => {
		const { error } = schema.safeParse(answer);
		expect(error && answerIssue(answer, error)).toBe(flaw);
	});
});

describe('parseAndCleanJson', () => {
	it.each<[string, string, unknown]>([
		['a number', '3', 3],
		['an object', '{"a":1}', { a: 1 }],
		['a text in JSON', '"text"', 'text'],
		['null', 'null', null],
		['an object in blank lines', '\n\n{"a":1}\n', { a: 1 }],
		['an object behind a byte order mark', '\uFEFF{"a":1}', { a: 1 }],
		['blanks as nothing', ' \n', undefined],
		['text as text', 'upstream gone', 'upstream gone'],
		['JSON that is cut off as text', '{"a":', '{"a":'],
		['text with blanks as it is', ' plain ', ' plain '],
		['the word credentials', '"credentials"', 'credentials'],
		// The keys of a provider, however deep and however written.
		[
			'an object without deep credentials',
			'[{"copilot":{"provider":{"x":1,"credentials":{"key":"sk"}}}}]',
			[{ copilot: { provider: { x: 1 } } }],
		],
		[
			'an object without its credentials',
			'{"id":"a","credentials" : {"api_key":"sk-1"}}',
			{ id: 'a' },
		],
		[
			'an object without credentials over lines',
			'{ "id": "a",\n\t"credentials"\r\n\t:\n\t"sk-1" }',
			{ id: 'a' },
		],
		[
			'an object without credentials in an escape',
			'{"id":"a","credenti\\u0061ls":"sk-1"}',
			{ id: 'a' },
		],
		[
			'an object without credentials that end in an escape',
			'{"id":"a","credential\\u0073":"sk-1"}',
			{ id: 'a' },
		],
	])('reads %s', (_, text, answer) => expect(parseAndCleanJson(text)).toEqual(answer));

	it('reads an answer that is nested deeper than calls can be, and hides the words in it', () => {
		const text = `${'['.repeat(20_000)}{"error":"sk","credentials":1}${']'.repeat(20_000)}`;
		let answer = parseAndCleanJson(text, () => '***');
		while (Array.isArray(answer)) [answer] = answer as unknown[];
		expect(answer).toEqual({ error: '***' });
	});

	it('gives back every JSON value, also after the newlines of a waiting server', () => {
		fc.assert(
			fc.property(fc.jsonValue(), fc.stringMatching(/^\n*$/), (value, newlines) => {
				const text = JSON.stringify(value);
				expect(parseAndCleanJson(newlines + text)).toEqual(JSON.parse(text));
			}),
		);
	});
});

describe('the flaw of an answer', () => {
	const PAGE = 'it is an HTML page, not an answer of this API';

	it.each<[string, unknown, 'json' | 'text', string | undefined]>([
		['told of a page', '<html><body>x</body></html>', 'text', PAGE],
		['told of a page behind blanks', '  <!DOCTYPE html>\n<html>', 'text', PAGE],
		['told of a page in capitals', '<HTML lang="en">', 'text', PAGE],
		['none of a text with a tag', 'a <html> tag', 'text', undefined],
		['none of a word', 'deleted', 'text', undefined],
		['none of JSON that is a text with a tag', '<html>', 'json', undefined],
		['none of JSON that is a text in brackets', '[draft] hello', 'json', undefined],
	])('is %s', (_, answer, form, flaw) => {
		expect(unreadableReason(answer, form)).toBe(flaw);
	});

	it('is none of what is no text', () => {
		for (const answer of [undefined, null, 3, true, {}, []])
			expect(unreadableReason(answer, 'text')).toBeUndefined();
	});

	it('is that JSON was cut off, wherever', () => {
		const whole = JSON.stringify([{ name: 'Grüße', list: [1, { a: null }] }]);
		for (let length = 1; length < whole.length; length++)
			expect(unreadableReason(parseAndCleanJson(whole.slice(0, length)), 'text')).toContain(
				'breaks off',
			);
	});
});

const REFUSALS = [...recordings()].flatMap(([endpoint, exchanges]) =>
	exchanges
		.filter(({ response }) => response.status >= 400)
		.map(({ label, response: { status, body } }) => ({ endpoint, label, status, body })),
);

const SQL = /INSERT INTO|SELECT|UPDATE "|VALUES|RETURNING|Failing row/;

/** The reason as it is shown. */
const failureReason = (answer: unknown) => sanitizedLine(reasonIn(answer) ?? '');

/** The answer as the node gets it: the recording keeps JSON parsed, and what it cut as text. */
const reasonFor = (body: unknown) =>
	failureReason(parseAndCleanJson(typeof body === 'string' ? body : JSON.stringify(body)));

/** Texts among the parameters of a raw database answer that no kept `detail` quotes. */
function secretValues(body: unknown): string[] {
	const { parameters, detail } = body as { parameters?: unknown; detail?: unknown };
	if (!Array.isArray(parameters)) return [];
	const kept = typeof detail === 'string' && !detail.startsWith('Failing row') ? detail : '';
	// Short ones such as "text" are words of our own as well.
	return parameters
		.filter((value): value is string => typeof value === 'string' && value.length > 5)
		.filter((value) => !kept.includes(value));
}

describe('the reason in a recorded answer', () => {
	it('is read from over 200 recordings of all endpoints', () => {
		expect(REFUSALS.length).toBeGreaterThan(200);
		expect(new Set(REFUSALS.map(({ endpoint }) => endpoint)).size).toBe(17);
		expect(REFUSALS.flatMap(({ body }) => secretValues(body)).length).toBeGreaterThan(20);
	});

	it.each(REFUSALS)('$endpoint "$label" ($status) gives one line without SQL', ({ body }) => {
		const reason = reasonFor(body) ?? '';
		expect(reason).toMatch(/^\S.{0,498}\S$/);
		expect(reason).not.toMatch(SQL);
		for (const value of secretValues(body)) expect(reason).not.toContain(value);
	});
});

describe('the reason in a raw database answer', () => {
	const START = "The server's database refused the data:";
	const raw = (facts: object) => ({
		query: 'INSERT INTO x VALUES ($1)',
		parameters: ['p'],
		...facts,
	});
	const KEY = 'Key (copilotModelId)=(1111) is not present in table "copilot_model".';

	it.each<[string, string]>([
		['22001', 'a text is too long for its field'],
		['22003', 'a number is out of range'],
		['22007', 'a date is not valid or out of range'],
		['22021', 'a text holds a character that it cannot store'],
		['22P05', 'a text holds a character that it cannot store'],
		['22P02', 'such as an ID that is not a UUID'],
		['23502', 'a required value is missing'],
		['23503', 'it refers to a record that does not exist'],
		['23505', 'a record with the same key exists already'],
		['40001', 'a value was not accepted'],
	])('says code %s in plain words', (code, words) => {
		expect(failureReason(raw({ code }))).toContain(words);
		expect(failureReason({ driverError: { code }, message: 'SQL' })).toContain(words);
		expect(failureReason(raw({ code }))).toMatch(new RegExp(`; database code ${code}$`));
	});

	it.each<[string, object, string]>([
		['of an error without facts', {}, `${START} a value was not accepted`],
		[
			'of facts that are numbers',
			{ code: 5, detail: 5, column: 5 },
			`${START} a value was not accepted`,
		],
		[
			'of a record that is referred to',
			{ code: '23503', detail: KEY, column: 'c', table: 't' },
			`${START} it refers to a record that does not exist; ${KEY}; field c of t; database code 23503`,
		],
		[
			'of a row that is in the details',
			{ code: '23502', detail: 'Failing row contains (secret).' },
			`${START} a required value is missing; database code 23502`,
		],
		[
			'of a row in another language',
			{ code: '23502', detail: 'Fehlgeschlagene Zeile enthält (geheim).' },
			`${START} a required value is missing; database code 23502`,
		],
	])('quotes no more than field and key: %s', (_, facts, reason) => {
		expect(failureReason(raw(facts))).toBe(reason);
	});

	it('hides the statement of an answer that was cut off', () => {
		const whole = JSON.stringify(raw({ code: '22P02', severity: 'ERROR' }));
		expect(reasonFor(whole.slice(0, -20))).toBe('an answer that breaks off');
	});
});

describe('the reason in another answer', () => {
	const issues = [
		{ path: ['input', 'messages', 0], message: 'Required' },
		{ path: [], message: 'Invalid input' },
		{ path: 'input', message: 'No list' },
	];

	it.each<[string, unknown, string]>([
		['the message', { message: 'Name Exist', error: 'Bad Request', statusCode: 400 }, 'Name Exist'],
		[
			'all messages',
			{ message: ['a must be text', 'b is missing'] },
			'a must be text; b is missing',
		],
		['what is text among messages', { message: [5, 'a must be text', {}] }, 'a must be text'],
		['the error where there are no messages', { message: [], error: 'Bad Request' }, 'Bad Request'],
		['the error where the message is empty', { message: '', error: 'Bad Request' }, 'Bad Request'],
		['the message in an error', { error: { message: 'inner' } }, 'inner'],
		[
			'all issues, each with its path',
			{ error: { issues } },
			'input.messages.0: Required; Invalid input; No list',
		],
		['the detail', { detail: 'Thread not found' }, 'Thread not found'],
		['the text itself', 'Not Found', 'Not Found'],
		['a text on one line', 'two\r\n  lines\t', 'two lines'],
		[
			'the title of a page',
			'<html><title>502 Bad</title></html>',
			'an HTML page with the title "502 Bad"',
		],
		['a page without a title', '<!doctype html><p>Sign in</p>', 'an HTML page'],
	])('is %s', (_, answer, reason) => expect(failureReason(answer)).toBe(reason));

	it('is none where an answer gives none', () => {
		const nothing = [
			undefined,
			null,
			5,
			true,
			{},
			[],
			'',
			' \n',
			{ message: 5 },
			{ error: [{}] },
			{ error: { issues: [] } },
		];
		for (const answer of nothing) expect(failureReason(answer)).toBeUndefined();
	});

	it('is one line of at most 500 characters', () => {
		const text = fc.string({ maxLength: 2000 });
		const answer = fc.oneof(
			...[fc.jsonValue(), text],
			fc.record({ message: fc.oneof(text, fc.array(fc.string())) }),
			fc.record({ error: fc.record({ issues: fc.array(fc.object()) }) }),
		);
		fc.assert(
			fc.property(answer, (value) => {
				expect(failureReason(value) ?? 'none').toMatch(/^\S(.{0,498}\S)?$/u);
			}),
		);
	});
});

describe('Retry-After', () => {
	const now = Date.UTC(2026, 0, 31, 8, 0, 0);
	const NOTHING = ['', ' ', 'soon', '-5', '1e3', '0x10', '5 s', '5.', '2026-01-31', null];

	it.each([
		['0', 0],
		['120', 120_000],
		['1.25', 1250],
		['Sat, 31 Jan 2026 08:01:00 GMT', 60_000],
		['Saturday, 31-Jan-26 08:01:00 GMT', 60_000],
		['Sat Jan 31 08:01:00 2026', 60_000],
		['Sat, 31 Jan 2026 07:00:00 GMT', 0],
	])('%s is %i ms', (header, ms) => expect(retryAfterMsOf(header, now)).toBe(ms));

	it('is nothing else', () => {
		for (const header of NOTHING) expect(retryAfterMsOf(header, now)).toBeUndefined();
	});
});
