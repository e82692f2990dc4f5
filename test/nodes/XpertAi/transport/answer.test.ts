import fc from 'fast-check';
import { z } from 'zod';

import {
	answerFlaw,
	answerIssue,
	anyAnswer,
	listAnswer,
	parseAnswer,
	recordWith,
} from '../../../../nodes/XpertAi/transport/answer';
import type { AnswerSchema } from '../../../../nodes/XpertAi/transport/answer';

describe('answerIssue', () => {
	const deep = z.object({ a: z.object({ b: z.string() }), c: z.number() });

	it.each<[string, AnswerSchema, unknown, string | undefined]>([
		['any answer', anyAnswer, undefined, undefined],
		['a list', listAnswer(), [], undefined],
		['a list', listAnswer(), { items: [] }, 'it holds no list of results'],
		['items', listAnswer('items'), { items: [1], total: 1 }, undefined],
		['items', listAnswer('items'), { items: null }, 'it holds no list of results'],
		['items', listAnswer('items'), [], 'it holds no list of results'],
		['items', listAnswer('items'), undefined, 'it is empty'],
		['a record', recordWith('id', 'url'), { id: 1, url: 'x' }, undefined],
		['a record', recordWith('id', 'url'), { id: 'a' }, 'it holds no url'],
		['a record', recordWith('id', 'url'), {}, 'it holds no id or no url'],
		['a record', recordWith('id'), { id: '' }, 'it holds no id'],
		['a record', recordWith('id'), { id: null }, 'it holds no id'],
		['a record', recordWith('id'), [{ id: 'a' }], 'it is no record'],
		['a record', recordWith('id'), undefined, 'it is empty'],
		['an object', deep, 'OK', 'it is not what was asked for'],
		['one of two', z.union([deep, z.number()]), {}, 'it is not what was asked for'],
		['deep fields', deep, { a: {}, c: '1' }, 'it holds no a.b or no c'],
		['a refined one', z.unknown().refine(() => false, 'it is odd'), undefined, 'it is odd'],
	])('of %s: %#', (_, schema, answer, flaw) => {
		const { error } = schema.safeParse(answer);
		expect(error && answerIssue(answer, error)).toBe(flaw);
	});
});

describe('parseAnswer', () => {
	it.each<[string, unknown]>([
		['3', 3],
		['{"a":1}', { a: 1 }],
		['"text"', 'text'],
		['null', null],
		['\n\n{"a":1}\n', { a: 1 }],
		['\uFEFF{"a":1}', { a: 1 }],
		[' \n', undefined],
		['upstream gone', 'upstream gone'],
		['{"a":', '{"a":'],
		[' plain ', ' plain '],
		['"credentials"', 'credentials'],
		// The keys of a provider, however deep and however written.
		[
			'[{"copilot":{"provider":{"x":1,"credentials":{"key":"sk"}}}}]',
			[{ copilot: { provider: { x: 1 } } }],
		],
		['{"id":"a","credentials" : {"api_key":"sk-1"}}', { id: 'a' }],
		['{ "id": "a",\n\t"credentials"\r\n\t:\n\t"sk-1" }', { id: 'a' }],
		['{"id":"a","credenti\\u0061ls":"sk-1"}', { id: 'a' }],
		['{"id":"a","credential\\u0073":"sk-1"}', { id: 'a' }],
	])('reads %j as %j', (text, answer) => expect(parseAnswer(text)).toEqual(answer));

	it('reads an answer that is nested deeper than calls can be, and hides the words in it', () => {
		const text = `${'['.repeat(20_000)}{"error":"sk","credentials":1}${']'.repeat(20_000)}`;
		let answer = parseAnswer(text, () => '***');
		while (Array.isArray(answer)) [answer] = answer as unknown[];
		expect(answer).toEqual({ error: '***' });
	});

	it('gives back every JSON value, also after the newlines of a waiting server', () => {
		fc.assert(
			fc.property(fc.jsonValue(), fc.stringMatching(/^\n*$/), (value, newlines) => {
				const text = JSON.stringify(value);
				expect(parseAnswer(newlines + text)).toEqual(JSON.parse(text));
			}),
		);
	});
});

describe('the flaw of an answer', () => {
	const PAGE = 'it is an HTML page, not an answer of this API';

	it.each<[unknown, boolean, string | undefined]>([
		['<html><body>x</body></html>', true, PAGE],
		['  <!DOCTYPE html>\n<html>', true, PAGE],
		['<HTML lang="en">', true, PAGE],
		['a <html> tag', true, undefined],
		['deleted', true, undefined],
		// JSON that is a text may look like anything.
		['<html>', false, undefined],
		['[draft] hello', false, undefined],
		...[undefined, null, 3, true, {}, []].map((answer) => [answer, true, undefined] as never),
		[{ statusCode: 500, message: 'No room' }, false, 'it says 500 itself: No room'],
		[{ statusCode: 400, message: ['a', 'b'] }, false, 'it says 400 itself'],
		[{ success: false }, false, 'it says that nothing was done'],
		[{ success: false, message: 'full' }, false, 'it says that nothing was done: full'],
		[{ success: true }, false, undefined],
		[{ statusCode: 201 }, false, undefined],
		[{ statusCode: '500' }, false, undefined],
		[{ message: 'no' }, false, undefined],
	])('%j (text: %s) is: %s', (answer, isText, flaw) => {
		expect(answerFlaw(answer, isText)).toBe(flaw);
	});

	it('is that JSON was cut off, wherever', () => {
		const whole = JSON.stringify([{ name: 'Grüße', list: [1, { a: null }] }]);
		for (let length = 1; length < whole.length; length++)
			expect(answerFlaw(parseAnswer(whole.slice(0, length)), true)).toContain('breaks off');
	});
});
