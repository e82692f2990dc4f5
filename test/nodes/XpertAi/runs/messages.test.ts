import fc from 'fast-check';

import {
	isFromAssistant,
	isFromPerson,
	lastReply,
	messagesOf,
	textOf,
} from '../../../../nodes/XpertAi/runs/messages';

describe('who says a message', () => {
	it.each(['ai', 'assistant', 'AIMessage', 'AIMessageChunk'])('the assistant as %s', (name) => {
		for (const message of [{ type: name }, { role: name }]) {
			expect([isFromAssistant(message), isFromPerson(message)]).toEqual([true, false]);
		}
	});

	it.each(['human', 'user', 'HumanMessage'])('a person as %s', (name) => {
		for (const message of [{ type: name }, { role: name }]) {
			expect([isFromAssistant(message), isFromPerson(message)]).toEqual([false, true]);
		}
	});

	it.each(['system', 'tool', 'constructor', ''])('neither as "%s"', (name) => {
		const message = { type: name, role: name };
		expect([isFromAssistant(message), isFromPerson(message)]).toEqual([false, false]);
	});
});

describe('the text of a message', () => {
	it.each([
		['text', 'text'],
		['', ''],
		[['a', { type: 'text', text: 'b' }, { type: 'image_url' }, null, 7, { text: 8 }], 'ab'],
		[null, ''],
		[undefined, ''],
		[{ text: 'no list' }, ''],
	])('of %j is "%s"', (content, text) => expect(textOf(content)).toBe(text));

	it('can be had of any content', () => {
		fc.assert(fc.property(fc.jsonValue(), (content) => typeof textOf(content) === 'string'));
	});
});

describe('the messages of a thread', () => {
	it.each([undefined, {}, { values: null }, { values: {} }, { values: { messages: null } }])(
		'are none with the state %j',
		(state) => expect(messagesOf(state)).toEqual([]),
	);

	it('end with the last words of the assistant', () => {
		const messages = [
			{ type: 'ai', content: 'first' },
			{ role: 'assistant', content: 'second' },
			{ type: 'human', content: 'question' },
		];
		expect(lastReply(messagesOf({ values: { messages } }))).toBe('second');
		expect(messages.map(({ content }) => content)).toEqual(['first', 'second', 'question']);
	});

	it('may have none of the assistant, or empty ones', () => {
		expect(lastReply([{ type: 'human', content: 'question' }])).toBeUndefined();
		expect(lastReply([{ type: 'ai', content: '' }])).toBe('');
	});
});
