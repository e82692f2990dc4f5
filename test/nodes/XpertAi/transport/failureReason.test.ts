import fc from 'fast-check';

import {
	failureReason as reasonIn,
	parseAnswer,
	parseRetryAfter,
} from '../../../../nodes/XpertAi/transport/answer';
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
		expect(failureReason({ driverError: { code }, message: 'SQL' })).toContain(words);
		expect(failureReason(raw({ code }))).toMatch(new RegExp(`; database code ${code}$`));
	});

	it.each<[object, string]>([
		[{}, `${START} a value was not accepted`],
		[{ code: 5, detail: 5, column: 5 }, `${START} a value was not accepted`],
		[
			{ code: '23503', detail: KEY, column: 'c', table: 't' },
			`${START} it refers to a record that does not exist; ${KEY}; field c of t; database code 23503`,
		],
		[
			{ code: '23502', detail: 'Failing row contains (secret).' },
			`${START} a required value is missing; database code 23502`,
		],
		[
			{ code: '23502', detail: 'Fehlgeschlagene Zeile enthält (geheim).' },
			`${START} a required value is missing; database code 23502`,
		],
	])('quotes no more than the field and the key of %j', (facts, reason) => {
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

	it.each<[unknown, string | undefined]>([
		[{ message: 'Name Exist', error: 'Bad Request', statusCode: 400 }, 'Name Exist'],
		[{ message: ['a must be text', 'b is missing'] }, 'a must be text; b is missing'],
		[{ message: [5, 'a must be text', {}] }, 'a must be text'],
		[{ message: [], error: 'Bad Request' }, 'Bad Request'],
		[{ message: '', error: 'Bad Request' }, 'Bad Request'],
		[{ error: { message: 'inner' } }, 'inner'],
		[{ error: { issues } }, 'input.messages.0: Required; Invalid input; No list'],
		[{ detail: 'Thread not found' }, 'Thread not found'],
		['Not Found', 'Not Found'],
		['two\r\n  lines\t', 'two lines'],
		['<html><title>502 Bad</title></html>', 'an HTML page with the title "502 Bad"'],
		['<!doctype html><p>Sign in</p>', 'an HTML page'],
		...[undefined, null, 5, true, {}, [], '', ' \n', { message: 5 }, { error: { issues: [] } }].map(
			(nothing) => [nothing, undefined] as [unknown, undefined],
		),
	])('%j is %j', (answer, reason) => expect(failureReason(answer)).toBe(reason));

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
	const NOTHING = ['', ' ', 'soon', '-5', '1e3', '0x10', '5 s', '5.', '2026-01-31', null, 5, ['5']];

	it.each<[unknown, number | undefined]>([
		['0', 0],
		['120', 120_000],
		['1.25', 1250],
		['Sat, 31 Jan 2026 08:01:00 GMT', 60_000],
		['Saturday, 31-Jan-26 08:01:00 GMT', 60_000],
		['Sat Jan 31 08:01:00 2026', 60_000],
		['Sat, 31 Jan 2026 07:00:00 GMT', 0],
		...NOTHING.map((nothing) => [nothing, undefined] as [unknown, undefined]),
	])('%j is %s ms', (header, ms) => expect(parseRetryAfter(header, now)).toBe(ms));
});
