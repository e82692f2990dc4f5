import fc from 'fast-check';

import { parseAnswer } from '../../../../nodes/XpertAi/transport/answer';
import {
	failureReason as reasonIn,
	parseRetryAfter,
} from '../../../../nodes/XpertAi/transport/failureReason';
import { sanitize } from '../../../../nodes/XpertAi/transport/sanitize';
import { recordings } from '../../../sandbox/support/recordings';

const REFUSALS = [...recordings()].flatMap(([endpoint, exchanges]) =>
	exchanges
		.filter(({ response }) => response.status >= 400)
		.map(({ label, response: { status, body } }) => ({ endpoint, label, status, body })),
);

const SQL = /INSERT INTO|SELECT|UPDATE "|VALUES|RETURNING|Failing row/;

/** The reason as it is shown. */
const failureReason = (answer: unknown) => sanitize(reasonIn(answer) ?? '');

/** The answer as the node gets it: the recording keeps JSON parsed, and what it cut as text. */
const reasonFor = (body: unknown) =>
	failureReason(parseAnswer(typeof body === 'string' ? body : JSON.stringify(body)));

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

describe('the reason in what real servers answer', () => {
	it('is read from over 200 recordings', () => {
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
	const raw = (facts: object) => ({
		query: 'INSERT INTO x VALUES ($1)',
		parameters: ['p'],
		...facts,
	});

	it.each([
		['22001', 'a text is too long for its field'],
		['22003', 'a number is out of range'],
		['22021', 'a text holds a character that it cannot store'],
		['22P05', 'a text holds a character that it cannot store'],
		['22007', 'a date is not valid or out of range'],
		['22P02', 'such as an ID that is not a UUID'],
		['23502', 'a required value is missing'],
		['23503', 'it refers to a record that does not exist'],
		['23505', 'a record with the same key exists already'],
		['40001', 'a value was not accepted'],
	])('says code %s in plain words', (code, words) => {
		expect(failureReason(raw({ code }))).toContain(words);
		expect(failureReason(raw({ driverError: { code } }))).toContain(words);
		expect(failureReason(raw({ code }))).toContain(`database code ${code}`);
	});

	it('says no more than that where it knows no more', () => {
		const words = "The server's database refused the data: a value was not accepted";
		for (const facts of [{}, { code: 5 }, { detail: 5, column: 5 }])
			expect(failureReason(raw(facts))).toBe(words);
		expect(failureReason({ driverError: {}, message: 'SQL' })).toBe(words);
	});

	it('names the field, and keeps the detail that quotes the key', () => {
		const detail = 'Key (copilotModelId)=(1111) is not present in table "copilot_model".';
		const reason = failureReason(raw({ code: '23503', detail, column: 'c', table: 't' }));
		expect(reason).toContain(detail);
		expect(reason).toContain('field c of t');
	});

	it('drops the detail that lists the whole row', () => {
		const reason = failureReason(raw({ code: '23502', detail: 'Failing row contains (secret).' }));
		expect(reason).not.toContain('secret');
	});

	it('drops it as well when the database speaks another language', () => {
		const detail = 'Fehlgeschlagene Zeile enthält (geheim).';
		expect(failureReason(raw({ code: '23502', detail }))).not.toContain('geheim');
	});

	it('hides the statement when the answer was cut off on the way', () => {
		const whole = JSON.stringify(raw({ code: '22P02', severity: 'ERROR' }));
		expect(reasonFor(whole.slice(0, -20)) ?? '').not.toMatch(SQL);
	});
});

describe('the reason in other shapes', () => {
	it.each([
		[{ message: 'Name Exist', error: 'Bad Request', statusCode: 400 }, 'Name Exist'],
		[{ message: ['a must be text', 'b is missing'] }, 'a must be text; b is missing'],
		[{ message: [5, 'a must be text', {}] }, 'a must be text'],
		[{ message: [], error: 'Bad Request' }, 'Bad Request'],
		[{ message: '', error: 'Bad Request' }, 'Bad Request'],
		[{ error: 'Thread is busy' }, 'Thread is busy'],
		[{ error: { message: 'inner' } }, 'inner'],
		[{ detail: 'Thread not found' }, 'Thread not found'],
		['Not Found', 'Not Found'],
		['two\r\n  lines\t', 'two lines'],
		['<html><head><title>502 Bad Gateway</title></head></html>', '502 Bad Gateway'],
		['<!doctype html><p>Sign in</p>', 'an HTML page'],
	])('%j', (answer, reason) => {
		expect(failureReason(answer)).toContain(reason);
		expect(failureReason(answer)).not.toMatch(/[;.,]\s*[;.,]|; $|object Object|^; /);
	});

	it('names the path of a ZodError issue', () => {
		const issues = [
			{ path: ['input', 'messages', 0], message: 'Required' },
			{ path: [], message: 'Invalid input' },
			{ path: 'input', message: 'No list' },
		];
		const answer = { success: false, error: { name: 'ZodError', issues } };
		expect(failureReason(answer)).toBe('input.messages.0: Required; Invalid input; No list');
	});

	it.each([undefined, null, 5, true, {}, [], '', ' \n', { message: 5 }, { error: { issues: [] } }])(
		'%j gives none',
		(answer) => expect(failureReason(answer)).toBeUndefined(),
	);

	it('is one line of at most 500 characters, whatever the server answers', () => {
		const answer = fc.oneof(
			fc.jsonValue(),
			fc.string({ maxLength: 2000 }),
			fc.record({ message: fc.oneof(fc.string({ maxLength: 2000 }), fc.array(fc.string())) }),
			fc.record({ error: fc.record({ issues: fc.array(fc.object()) }) }),
		);
		fc.assert(
			fc.property(answer, (value) => {
				const reason = failureReason(value);
				if (reason !== undefined) expect(reason).toMatch(/^\S(.{0,498}\S)?$/u);
			}),
		);
	});
});

describe('Retry-After', () => {
	const now = Date.UTC(2026, 0, 31, 8, 0, 0);

	it.each([
		['0', 0],
		['120', 120_000],
		['1.25', 1250],
	])('%j is in seconds', (header, ms) => expect(parseRetryAfter(header, now)).toBe(ms));

	it.each([
		['Sat, 31 Jan 2026 08:01:00 GMT', 60_000],
		['Saturday, 31-Jan-26 08:01:00 GMT', 60_000],
		['Sat Jan 31 08:01:00 2026', 60_000],
		['Sat, 31 Jan 2026 07:00:00 GMT', 0],
	])('%j is a date', (header, ms) => expect(parseRetryAfter(header, now)).toBe(ms));

	const texts = ['', ' ', 'soon', '-5', '1e3', '0x10', '5 s', '5.', '2026-01-31'];
	it.each([...texts, undefined, null, 5, ['5']])('%j says nothing', (header) =>
		expect(parseRetryAfter(header, now)).toBeUndefined(),
	);

	it('gives milliseconds of 0 or more, or nothing, for any text', () => {
		const headers = fc.oneof(
			fc.string(),
			fc.integer().map(String),
			fc.date({ noInvalidDate: true }).map((date) => date.toUTCString()),
		);
		fc.assert(
			fc.property(headers, (header) => {
				expect(parseRetryAfter(header, now) ?? 0).toBeGreaterThanOrEqual(0);
			}),
		);
	});
});
