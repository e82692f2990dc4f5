import fc from 'fast-check';

import { readRunAnswer } from '../../../../nodes/XpertAi/runs/answer';

const IMAGE = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };

const reply = (text: string, parts: unknown[] = []) => ({ kind: 'reply', reply: text, parts });
const failed = (reason: string) => ({ kind: 'failed', reason });

describe('the answer of an Xpert server', () => {
	it.each([
		[{ role: 'ai', content: 'Hello' }, 'Hello'],
		[{ role: 'ai', content: '' }, ''],
		[{ role: 'ai', content: null }, ''],
		[{ role: 'ai', content: [{ type: 'text', text: '**Hel' }, 'lo**'] }, '**Hello**'],
		['Hello', 'Hello'],
		[undefined, ''],
		[[], ''],
		[{}, ''],
	])('%j says "%s"', (answer, text) => {
		expect(readRunAnswer(answer)).toEqual(reply(text));
	});
});

it('keeps what is no text of an answer beside it', () => {
	const content = [{ type: 'text', text: 'See:' }, IMAGE, null];
	expect(readRunAnswer({ role: 'ai', content })).toEqual(reply('See:', [IMAGE]));
	const messages = [{ type: 'ai', content: [IMAGE] }];
	expect(readRunAnswer({ messages })).toEqual(reply('', [IMAGE]));
});

describe('an answer that holds the state of the thread', () => {
	const messages = (...list: Array<[string, unknown]>) => ({
		messages: list.map(([type, content]) => ({ type, content, id: 'm' })),
	});

	it('says what its last message says', () => {
		const state = messages(['human', 'q1'], ['ai', 'a1'], ['human', 'q2'], ['ai', 'a2']);
		expect(readRunAnswer(state)).toEqual(reply('a2'));
	});

	it('passes over what is not said by the assistant', () => {
		const state = messages(['human', 'q'], ['ai', [{ type: 'text', text: 'a' }]], ['tool', '{}']);
		expect(readRunAnswer({ ...state, documents: [] })).toEqual(reply('a'));
	});

	it('is empty when the assistant said nothing to the last message, whatever it said before', () => {
		const state = messages(['human', 'q1'], ['ai', 'a1'], ['human', 'q2']);
		expect(readRunAnswer(state)).toEqual(reply(''));
	});

	it('is empty without messages', () => {
		expect(readRunAnswer({ messages: [] })).toEqual(reply(''));
		expect(readRunAnswer({ messages: null })).toEqual(reply(''));
		expect(readRunAnswer({ total: 3 })).toEqual(reply(''));
	});

	it.each([
		[{ error: 'Error', message: 'No key' }, 'No key'],
		[{ error: 'Error', message: '{"error":{"message":"Quota","code":429}}' }, 'Quota'],
		[{ error: 'Error', message: '{"message":"Too long"}' }, 'Too long'],
		[{ error: 'Error', message: { message: 'As an object' } }, 'As an object'],
		[{ error: 'Error', message: '{"other":1}' }, '{"other":1}'],
		[{ error: 'Error', message: '{broken' }, '{broken'],
		[{ error: 'GraphRecursionError', message: '' }, 'GraphRecursionError'],
		[{ error: 'GraphRecursionError' }, 'GraphRecursionError'],
		['Plain text', 'Plain text'],
		[{}, 'the server gave no reason'],
		[null, 'the server gave no reason'],
	])('with __error__ %j has failed: %s', (error, reason) => {
		expect(readRunAnswer({ __error__: error })).toEqual(failed(reason));
		expect(readRunAnswer({ ...messages(['ai', 'old']), __error__: error })).toEqual(failed(reason));
	});

	it('with __interrupt__ waits for a person', () => {
		const interrupt = [{ id: 'i', value: { question: 'May I?' } }];
		expect(readRunAnswer({ ...messages(['ai', 'old']), __interrupt__: interrupt })).toEqual({
			kind: 'interrupted',
			interrupt,
		});
	});

	it('with no interrupt in the list has simply ended', () => {
		expect(readRunAnswer({ ...messages(['ai', 'a']), __interrupt__: [] })).toEqual(reply('a'));
	});
});

it('any answer at all can be read', () => {
	fc.assert(
		fc.property(fc.jsonValue(), (answer) => {
			expect(['reply', 'failed', 'interrupted']).toContain(readRunAnswer(answer).kind);
		}),
	);
});
