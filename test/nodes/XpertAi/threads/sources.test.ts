import { transcriptFromThread } from 'nodes/XpertAi/threads/runTranscript';
import { passagesIn, Sources, sourcesOf } from 'nodes/XpertAi/threads/sources';
import { afterLastUserMessage, messagesOf, threadStateSchema } from 'nodes/XpertAi/threads/thread';

import { recordedThread } from './support/recorded';

const link = (chunkId: string, documentId = 'd') =>
	`xpert://knowledgebase/chunk?knowledgebaseId=k&documentId=${documentId}&chunkId=${chunkId}`;

const listed = (...given: Parameters<typeof transcriptFromThread>) =>
	sourcesOf(transcriptFromThread(...given).parts).list(new Set());

const passage = (chunkId: string) => ({ chunkId, documentId: 'd' });

describe('what tools have found', () => {
	it('is read from the thread, with its document, its place and how near it is', () => {
		const thread = recordedThread('sources', 'thread, after the answer');
		const [first, second] = listed(undefined, messagesOf(thread));
		expect(first).toEqual({
			number: 1,
			cited: false,
			chunkId: 'b8dd8e0f-eb47-4534-9235-4cc328bcf9f1',
			documentId: 'be5288fd-cb54-4dfa-b1b8-8592fdd66e6e',
			documentName: 'zebras.md',
			fileUrl: expect.stringContaining('/public/files/') as string,
			knowledgebaseId: 'a10d0f9f-78fb-4441-99aa-1c0020315267',
			score: 0.4356324076652527,
			snippet: expect.stringContaining('A zebra has black and white stripes.') as string,
		});
		expect(second).toMatchObject({ documentName: 'whales.txt', score: -0.026141628623008728 });
	});

	it('is nothing where they looked into an empty knowledgebase, or did not look', () => {
		const empty = recordedThread('sources', 'thread, after the answer', 'nothing found');
		expect(listed(undefined, messagesOf(empty))).toEqual([]);
		const without = recordedThread('sources', 'thread, after it, without a look');
		expect(listed(undefined, messagesOf(without))).toEqual([]);
	});

	it.each([
		['text', 'no JSON {'],
		['of another kind', '{"temperature":20}'],
		['a list of other things', '[{"id":1},null,7]'],
		['nothing', undefined],
		['chunks of another kind', { chunks: { length: 2 } }],
	])('is nothing in an answer that is %s', (_, said) => expect(passagesIn(said)).toEqual([]));

	it('is one line of a step that has looked, as of a tool', () => {
		const document = { id: 'd', name: 'z.md' };
		const said = [
			{ pageContent: ' A  zebra\n\nhas stripes.\n', metadata: { chunkId: 'a' }, document },
		];
		expect(passagesIn(said)).toMatchObject([{ snippet: 'A zebra has stripes.' }]);
	});

	it('is what can be read, where one passage among them is odd', () => {
		const odd = [passage('a'), { chunkId: 'b' }, { ...passage('c'), score: 'high' }];
		expect(passagesIn({ chunks: odd })).toEqual([passage('a'), passage('c')]);
	});

	it('is not what the assistant says itself', () => {
		const said = { content: JSON.stringify([passage('a')]), tool_calls: [] };
		expect(listed(undefined, [said])).toEqual([]);
	});
});

describe('what the knowledge step of a workflow has found', () => {
	it('is read from its channel of the thread, without a knowledgebase', () => {
		const thread = recordedThread(
			'sources',
			'thread, after the answer',
			'a knowledge step of a workflow',
		);
		expect(listed(thread, [])).toMatchObject([
			{
				chunkId: 'b8dd8e0f-eb47-4534-9235-4cc328bcf9f1',
				documentId: 'be5288fd-cb54-4dfa-b1b8-8592fdd66e6e',
				documentName: 'zebras.md',
				score: 0.46768617630004883,
				snippet:
					'# Zebras A zebra has black and white stripes. Every zebra has stripes of its own. Zebras live in the savanna of Africa in herds.',
			},
			{ documentName: 'whales.txt' },
		]);
	});

	it('is not what other values of a thread look like', () => {
		const values = { answer: { result: [passage('a')] }, x_channel: 7, y_channel: null };
		expect(listed(threadStateSchema.parse({ values }), [])).toEqual([]);
		expect(listed(threadStateSchema.parse({}), [])).toEqual([]);
	});
});

/** What two knowledgebases have found, and an answer that cites the second document first. */
const OUTPUTS = [['x', 'z'], ['y']].map((ids, at) => ({
	type: 'component',
	id: String(at),
	data: { output: ids.map((id) => ({ ...passage(id), documentName: `${id}.md` })) },
}));
const SAID = {
	type: 'text',
	id: 'm',
	text: `Water ${link('y')}. Stripes ${link('x')}, ${link('y')}.`,
};

describe('the sources of a run', () => {
	it('are each there once, numbered by their first citation, and the uncited after', () => {
		const sources = new Sources();
		sources.add([passage('a'), { ...passage('b'), score: 1 }]);
		expect(['c', 'b', 'c'].map((id) => sources.assignNumber(link(id)))).toEqual([1, 2, 1]);
		sources.add([{ ...passage('b'), score: 2 }, passage('c'), passage('d')]);
		const list = sources.list(new Set([2]));
		expect(list.map(({ chunkId, cited }) => [chunkId, cited])).toEqual([
			['c', false],
			['b', true],
			['a', false],
			['d', false],
		]);
		expect(list.map(({ number }) => number)).toEqual([1, 2, 3, 4]);
		expect(list[1]).toMatchObject({ score: 1 });
	});

	it.each([
		['before', [...OUTPUTS, SAID]],
		['in another order', [...[...OUTPUTS].reverse(), SAID]],
		['after', [SAID, ...OUTPUTS]],
	])('have the numbers of the text, whether their knowledgebases answer %s', (_, parts) => {
		const told = sourcesOf(parts).list(new Set([1, 2]));
		const numbered = told.map(({ number, documentName }) => [number, documentName]);
		expect(numbered.slice(0, 2)).toEqual([
			[1, 'y.md'],
			[2, 'x.md'],
		]);
		expect(told.map(({ cited }) => cited)).toEqual([true, true, false]);
	});

	it('have no numbers by what a model thinks, which no chat shows', () => {
		const thought = { type: 'reasoning', id: 'm', text: `see ${link('z')}` };
		const [first] = sourcesOf([thought, ...OUTPUTS, SAID]).list(new Set());
		expect(first).toMatchObject({ number: 1, documentName: 'y.md' });
	});

	it('are numbered through several knowledgebases, which each count from one', () => {
		const thread = recordedThread('sources', 'thread, after the answer', 'two knowledgebases');
		const told = listed(undefined, afterLastUserMessage(messagesOf(thread)));
		expect(told.map(({ number }) => number)).toEqual(told.map((_, index) => index + 1));
		expect(new Set(told.map(({ knowledgebaseId }) => knowledgebaseId)).size).toBe(2);
	});

	it('are told by the ids in a link, not by its own number', () => {
		const sources = new Sources();
		sources.add([passage('a'), passage('b')]);
		expect(sources.assignNumber(link('b'))).toBe(1);
		expect(sources.list(new Set([1]))).toMatchObject([
			{ chunkId: 'b', cited: true },
			{ chunkId: 'a' },
		]);
	});

	it('name what a link names that this run has not found, as an earlier one has it', () => {
		const earlier = { ...passage('old'), documentName: 'old.md' };
		const sources = new Sources([passage('other'), earlier]);
		sources.add([passage('a')]);
		expect(sources.assignNumber(link('old'))).toBe(1);
		expect(sources.assignNumber(link('unknown', 'd2'))).toBe(2);
		expect(sources.list(new Set([1]))).toEqual([
			{ number: 1, ...earlier, cited: true },
			{ number: 2, knowledgebaseId: 'k', documentId: 'd2', chunkId: 'unknown', cited: false },
			{ number: 3, ...passage('a'), cited: false },
		]);
	});

	it.each(['', 'xpert://', 'xpert://knowledgebase/chunk?chunkId=a', 'xpert://file?id=1'])(
		'are none for the address "%s"',
		(url) => expect(new Sources().assignNumber(url)).toBeUndefined(),
	);
});
