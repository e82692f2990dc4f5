import fc from 'fast-check';

import {
	answerFlaw,
	answerMustBe,
	answerWith,
	answerWithList,
	isHtml,
	parseAnswer,
} from '../../../../nodes/XpertAi/transport/answer';

describe('an answer that must be of a kind', () => {
	const isNumber = answerMustBe((answer) => typeof answer === 'number', 'it is not a number');

	it('has no flaw when it is', () => {
		expect(isNumber(0)).toBeUndefined();
		expect(answerWithList()([])).toBeUndefined();
		expect(answerWithList('items')({ items: [1], total: 1 })).toBeUndefined();
		expect(answerWith('id', 'url')({ id: 1, url: 'x' })).toBeUndefined();
	});

	it.each([
		[isNumber, '7', 'it is not a number'],
		[isNumber, undefined, 'it is empty'],
		[answerWithList(), { items: [] }, 'it holds no list of results'],
		[answerWithList('items'), { items: null }, 'it holds no list of results'],
		[answerWithList('items'), [], 'it holds no list of results'],
		[answerWith('id', 'url'), { id: 'a' }, 'it holds no id or no url'],
		[answerWith('id'), { id: '' }, 'it holds no id'],
		[answerWith('id'), { id: null }, 'it holds no id'],
		[answerWith('id'), [{ id: 'a' }], 'it holds no id'],
		[answerWith('id'), 'id', 'it holds no id'],
		[answerWithList('items'), undefined, 'it is empty'],
	])('says what is wrong with another (%#)', (check, answer, flaw) => {
		expect(check(answer)).toBe(flaw);
	});
});

describe('an answer is parsed by its content', () => {
	it.each([
		['3', 3],
		['{"a":1}', { a: 1 }],
		['[]', []],
		['"text"', 'text'],
		['null', null],
		['false', false],
		['\n\n{"a":1}\n', { a: 1 }],
		['\uFEFF{"a":1}', { a: 1 }],
	])('%j', (text, answer) => expect(parseAnswer(text)).toEqual(answer));

	it('without the keys of a provider, however deep in it', () => {
		const provider = { isValid: null, credentials: { api_key: 'sk-1' } };
		const answer = [{ id: 'a', copilotModel: { copilot: { modelProvider: provider } } }];
		expect(parseAnswer(JSON.stringify(answer))).toEqual([
			{ id: 'a', copilotModel: { copilot: { modelProvider: { isValid: null } } } },
		]);
		expect(parseAnswer('"credentials"')).toBe('credentials');
	});

	it.each([
		'{"id":"a","credentials":{"api_key":"sk-1"}}',
		'{"id":"a","credentials" : {"api_key":"sk-1"}}',
		'{ "id": "a",\n\t"credentials"\r\n\t:\n\t"sk-1" }',
		'{"id":"a","credenti\\u0061ls":"sk-1"}',
		'{"id":"a","\\u0063redentials":"sk-1"}',
		'{"id":"a","creden\\u0074ials":"sk-1"}',
		'{"id":"a","credential\\u0073":"sk-1"}',
	])('without the keys of a provider, however they are written: %s', (text) => {
		expect(parseAnswer(text)).toEqual({ id: 'a' });
	});

	it.each(['', ' ', '\n\n\n'])('nothing in %j', (text) => {
		expect(parseAnswer(text)).toBeUndefined();
	});

	it.each(['upstream gone', '<html></html>', '{"a":', ' plain '])('%j stays text', (text) => {
		expect(parseAnswer(text)).toBe(text);
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
	it.each(['<html><body>x</body></html>', '  <!DOCTYPE html>\n<html>', '<HTML lang="en">'])(
		'is that %j is a web page',
		(page) => {
			expect(isHtml(page)).toBe(true);
			expect(answerFlaw(parseAnswer(page), true)).toContain('HTML page');
		},
	);

	it('is that JSON was cut off', () => {
		const whole = JSON.stringify([{ name: 'Grüße', list: [1, { a: null }] }]);
		for (let length = 1; length < whole.length; length++) {
			expect(answerFlaw(parseAnswer(whole.slice(0, length)), true)).toContain('breaks off');
		}
	});

	it.each([undefined, null, 3, true, {}, [], 'deleted', 'a <html> tag'])(
		'is none in %j',
		(answer) => expect(answerFlaw(answer, true)).toBeUndefined(),
	);

	it.each(['<html>', '[draft] hello', '{name} is here'])(
		'is none in the JSON text %j',
		(answer) => {
			expect(answerFlaw(answer, false)).toBeUndefined();
		},
	);

	it.each([
		[
			{ statusCode: 500, message: 'Internal server error' },
			'it says 500 itself: Internal server error',
		],
		[{ statusCode: 400, message: ['a', 'b'] }, 'it says 400 itself'],
		[{ success: false }, 'it says that nothing was done'],
		[{ success: false, message: 'no room' }, 'it says that nothing was done: no room'],
	])('is the no in %j', (answer, words) => {
		expect(answerFlaw(answer, false)).toBe(words);
	});

	it.each([{ success: true }, { statusCode: 201 }, { statusCode: '500' }, { message: 'no' }])(
		'is none in the record %j',
		(answer) => expect(answerFlaw(answer, false)).toBeUndefined(),
	);
});
