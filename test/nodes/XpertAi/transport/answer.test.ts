import fc from 'fast-check';

import {
	answerFlaw,
	answerMustBe,
	answerWith,
	answerWithList,
	parseAnswer,
} from '../../../../nodes/XpertAi/transport/answer';
import type { AnswerCheck } from '../../../../nodes/XpertAi/transport/answer';

describe('the check of an answer', () => {
	const isNumber = answerMustBe((answer) => typeof answer === 'number', 'it is not a number');

	it.each<[AnswerCheck, unknown, string | undefined]>([
		[isNumber, 0, undefined],
		[isNumber, '7', 'it is not a number'],
		[isNumber, undefined, 'it is empty'],
		[answerWithList(), [], undefined],
		[answerWithList(), { items: [] }, 'it holds no list of results'],
		[answerWithList('items'), { items: [1], total: 1 }, undefined],
		[answerWithList('items'), { items: null }, 'it holds no list of results'],
		[answerWithList('items'), [], 'it holds no list of results'],
		[answerWithList('items'), undefined, 'it is empty'],
		[answerWith('id', 'url'), { id: 1, url: 'x' }, undefined],
		[answerWith('id', 'url'), { id: 'a' }, 'it holds no id or no url'],
		[answerWith('id'), { id: '' }, 'it holds no id'],
		[answerWith('id'), { id: null }, 'it holds no id'],
		[answerWith('id'), [{ id: 'a' }], 'it holds no id'],
		[answerWith('id'), 'id', 'it holds no id'],
	])('%# of %j finds: %s', (check, answer, flaw) => expect(check(answer)).toBe(flaw));
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
