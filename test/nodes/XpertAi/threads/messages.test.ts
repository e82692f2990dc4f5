import fc from 'fast-check';

import {
	threadStateSchema,
	afterLastUserMessage,
	lastReply,
	messagesOf,
	parseReply,
	senderOf,
	textOfContent,
} from 'nodes/XpertAi/threads/thread';
import { recordedThread } from './support/recorded';

describe('who says a message', () => {
	it('is told, on Xpert, by what only the messages of an assistant or of a tool have', () => {
		const thread = recordedThread('interrupts', 'thread after confirm');
		expect(messagesOf(thread).map(senderOf)).toEqual(['user', 'assistant', 'tool', 'assistant']);
	});

	it('nobody, for what is no message', () => {
		expect(senderOf({})).toBeUndefined();
	});
});

describe('the text of a message', () => {
	it.each([
		['a text is the text', 'text', 'text'],
		['an empty text is empty', '', ''],
		[
			'parts is the texts among them',
			['a', { type: 'text', text: 'b' }, { type: 'image_url' }, null, 7, { text: 8 }],
			'ab',
		],
		['null is empty', null, ''],
		['nothing is empty', undefined, ''],
		['an object is empty', { text: 'no list' }, ''],
	])('of %s', (_, content, text) => expect(textOfContent(content)).toBe(text));

	it('is what people read of a reply, beside the parts that are no text', () => {
		const image = { type: 'image_url', image_url: 'u' };
		const parts = ['a', { type: 'text', text: 'b' }, image, null, 7];
		expect(parseReply(parts)).toEqual({ output: 'ab', parts: [image] });
		const thought = { type: 'reasoning', text: 'c' };
		expect(parseReply([thought, ...parts])).toEqual({ output: 'ab', parts: [thought, image] });
		expect(parseReply('a')).toEqual({ output: 'a', parts: [] });
		expect(parseReply({ text: 'no list' })).toEqual({ output: '', parts: [] });
	});

	it('can be had of any content', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (content) =>
				expect(typeof textOfContent(content)).toBe('string'),
			),
		);
	});
});

describe('the messages of a thread', () => {
	it.each([
		['without a state', undefined],
		['in an empty state', {}],
		['where values are null', { values: null }],
		['where values are empty', { values: {} }],
		['where messages are null', { values: { messages: null } }],
	])('are none %s', (_, state) =>
		expect(messagesOf(state && threadStateSchema.parse(state))).toEqual([]),
	);

	it('are read from a recording', () => {
		const thread = recordedThread('runs', 'thread after the retry');
		const messages = messagesOf(thread);
		expect(messages.map(({ content }) => content)).toEqual([
			'first',
			'You said: first [users seen: 1]',
			'third',
			'You said: third [users seen: 2]',
		]);
		expect(afterLastUserMessage(messages)).toEqual(messages.slice(-1));
	});

	it('end with the last words of the assistant', () => {
		const messages = [
			{ content: 'first', tool_calls: [] },
			{ content: 'second', tool_calls: [] },
			{ content: 'question' },
		];
		expect(lastReply(messages)).toEqual({ output: 'second', parts: [] });
	});

	it('may have none of the assistant, or empty ones; a call of a tool is none', () => {
		expect(lastReply([{ content: 'question' }])).toBeUndefined();
		expect(lastReply([{ content: '', tool_calls: [] }])).toEqual({ output: '', parts: [] });
		const tool_calls = [{ name: 'tool' }];
		expect(lastReply([{ content: '', tool_calls }])).toBeUndefined();
		expect(lastReply([{ content: 'Let me look', tool_calls }])?.output).toBe('Let me look');
	});
});
