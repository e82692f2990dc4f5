import fc from 'fast-check';

import { threadState } from '../../../../nodes/XpertAi/threads/state';
import {
	beforeNextPerson,
	isSilence,
	lastReply,
	messagesOf,
	newMessages,
	repliesTo,
	replyIn,
	speakerOf,
	textOf,
} from '../../../../nodes/XpertAi/threads/messages';
import { recordedThread } from './support/recorded';

describe('who says a message', () => {
	it('is told, on Xpert, by what only the messages of an assistant or of a tool have', () => {
		const thread = recordedThread('interrupts', 'thread after confirm');
		expect(messagesOf(thread).map(speakerOf)).toEqual(['user', 'assistant', 'tool', 'assistant']);
	});

	it('nobody, for what is no message', () => {
		expect(speakerOf({})).toBeUndefined();
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

	it('is what people read of a reply, beside the parts that are no text', () => {
		const image = { type: 'image_url', image_url: 'u' };
		const parts = ['a', { type: 'text', text: 'b' }, image, null, 7];
		expect(replyIn(parts)).toEqual({ output: 'ab', parts: [image] });
		expect(replyIn('a')).toEqual({ output: 'a', parts: [] });
		expect(replyIn({ text: 'no list' })).toEqual({ output: '', parts: [] });
	});

	it.each([
		['', [], true],
		['a', [], false],
		['', [{}], false],
		['a', [{}], false],
	])('"%s" with the parts %j is silence: %s', (output, parts, silent) =>
		expect(isSilence({ output, parts })).toBe(silent),
	);

	it('can be had of any content', () => {
		fc.assert(
			fc.property(fc.jsonValue(), (content) => expect(typeof textOf(content)).toBe('string')),
		);
	});
});

describe('the messages of a thread', () => {
	it.each([undefined, {}, { values: null }, { values: {} }, { values: { messages: null } }])(
		'are none with the state %j',
		(state) => expect(messagesOf(state && threadState.parse(state))).toEqual([]),
	);

	it('are read from a recording', () => {
		const thread = recordedThread('runs', 'thread after the retry');
		expect(messagesOf(thread).map(({ content }) => content)).toEqual([
			'first',
			'You said: first [users seen: 1]',
			'third',
			'You said: third [users seen: 2]',
		]);
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

describe('the messages that are new on a thread', () => {
	it('are told by their ids, also where earlier ones were replaced (recorded: answered again)', () => {
		const [before, after] = ['thread after that resume', 'thread after the retry'].map((label) =>
			messagesOf(recordedThread('runs', label)),
		);
		const fresh = newMessages(before ?? [], after ?? []);
		expect(fresh.map(speakerOf)).toEqual(['user', 'assistant']);
		expect(fresh).toEqual(after?.slice(2));
	});

	it('are told by their places where one has no id', () => {
		const [one, two, three] = [{ content: '1' }, { content: '2', id: 'b' }, { content: '3' }];
		expect(newMessages([one, two], [one, two, three])).toEqual([three]);
	});
});

const person = (content: unknown) => ({ content });
const assistant = (content: string) => ({ content, tool_calls: [] });

describe('the replies to our message', () => {
	it('follow the last message with our words, up to the next of a person', () => {
		const fresh = [person('q'), assistant('1'), person('q'), assistant('2'), person('n')];
		expect(repliesTo('q', fresh, false)).toEqual([assistant('2')]);
	});

	it('follow our words, not a later question of somebody else, also where ours is named as the last', () => {
		const fresh = [person('q'), assistant('1'), person('p'), assistant('2')];
		expect(repliesTo('q', fresh, true)).toEqual([assistant('1')]);
		expect(repliesTo('q', fresh.slice(0, 2), false)).toEqual([assistant('1')]);
		expect(beforeNextPerson(fresh)).toEqual([]);
	});

	it('are none where nobody has said our words: a new message may be of somebody else', () => {
		expect(repliesTo('q', [person('p'), assistant('1')], false)).toBeUndefined();
		expect(repliesTo('q', [person('qq'), assistant('1')], false)).toBeUndefined();
		expect(repliesTo('q', [assistant('1')], false)).toBeUndefined();
		expect(repliesTo('q', [], false)).toBeUndefined();
	});

	it('follow the last message of a person that holds ours among other words where the thread names ours as its last question', () => {
		const fresh = [person('p'), assistant('1'), person('Asked: q'), assistant('2')];
		expect(repliesTo('q', fresh, true)).toEqual([assistant('2')]);
		expect(repliesTo('q', [], true)).toBeUndefined();
		expect(repliesTo('q', fresh.slice(0, 2), true)).toBeUndefined();
	});
});

const read = { type: 'text', text: 'Attachment File: otters.txt\nOtters swim.' };
const withFile = (text: string) => person([read, { type: 'text', text }]);

describe('a message with a file', () => {
	it('is told by its own part, beside what the server has read of the file', () => {
		const fresh = [person('p'), assistant('1'), withFile('q'), assistant('2'), person('r')];
		expect(repliesTo('q', fresh, false)).toEqual([assistant('2')]);
	});

	it('is not one that says something else about the file', () => {
		expect(repliesTo('q', [withFile('p'), assistant('1')], false)).toBeUndefined();
		expect(repliesTo('q', [withFile('qq'), assistant('1')], false)).toBeUndefined();
	});
});
