import fc from 'fast-check';
import { get } from 'lodash';
import { ChatStream } from 'nodes/XpertAi/operations/thread/run/chatStream';
import { answerOutputOf, stepsOf } from 'nodes/XpertAi/operations/thread/run/answerOutput';
import { filterReport } from 'nodes/XpertAi/operations/thread/run/filterReport';
import type { RunOptions } from 'nodes/XpertAi/operations/thread/run/runSettings';
import type { CompletedResult } from 'nodes/XpertAi/runs/result';
import type { CitationStyle } from 'nodes/XpertAi/threads/citations';
import { transcriptFromThread, RunTranscript } from 'nodes/XpertAi/threads/runTranscript';
import type { AnswerPart } from 'nodes/XpertAi/threads/runEventSchemas';
import { afterLastUserMessage, lastReply, messagesOf } from 'nodes/XpertAi/threads/thread';
import { EventReader } from 'nodes/XpertAi/transport/eventStream';
import { itemOf } from 'test/nodes/support/context';
import { sequences } from 'test/sandbox/support/recordings';

import { recordedStream, recordedThread, streamAfter } from '../../../threads/support/recorded';

const STREAM = recordedStream('sources', 'ask; words before, a look, the answer');
const thread = recordedThread('sources', 'thread, after the stream');
const messages = afterLastUserMessage(messagesOf(thread));

/** The output of the run that was recorded, or of these parts. */
function outputIn(
	citations: CitationStyle,
	output = lastReply(messages)?.output ?? '',
	parts = transcriptFromThread(undefined, messages).parts,
): string {
	const options: RunOptions = {
		citations,
		include: ['sources'],
		showInChat: 'asWritten',
		deadlineMinutes: 15,
		whenGivenUp: 'leave',
	};
	const answer: CompletedResult = { status: 'completed', output, parts, otherParts: [] };
	return answerOutputOf({ item: itemOf({}), options, simplify: true }, answer).output;
}

it('only what is cited is listed, by the ID of a document where it has no name', () => {
	const output = ['c', 'e'].map((chunkId) => ({ chunkId, documentId: `of ${chunkId}` }));
	const data = { tool: 'retriever-1', output };
	const said = 'Water [⟦1⟧](xpert://knowledgebase/chunk?documentId=of%20c&chunkId=c).';
	const given = outputIn('numbers', said, [{ type: 'component', id: 'l', data }]);
	expect(given).toBe('Water [1].\n\nSources:\n- [1] of c');
});

/** A chat, and what it shows. */
function openChat(style: CitationStyle) {
	const chunks: Array<[type: string, content?: unknown]> = [];
	const methods = {
		isStreaming: () => true,
		sendChunk: (type: string, _index: number, content?: unknown) =>
			void chunks.push(content === undefined ? [type] : [type, content]),
	};
	const chat = ChatStream.begin(itemOf({}, { methods }), style);
	if (!chat) throw new Error('there is no chat');
	return { chat, chunks, shown: () => chunks.map(([, content = '']) => content).join('') };
}

describe('a chat that hears a stream', () => {
	const style = fc.constantFrom<CitationStyle>('numbers', 'none', 'asWritten');
	/** After how many bytes the stream breaks, and whether the server then begins it anew. */
	const breaks = fc.array(fc.tuple(fc.nat(Buffer.byteLength(STREAM)), fc.boolean()), {
		maxLength: 12,
	});

	it('shows what is said before a look and then the output, each once, wherever and however often the stream breaks', () => {
		fc.assert(
			fc.property(style, breaks, (citations, lengths) => {
				const { chat, shown, chunks } = openChat(citations);
				const told = new RunTranscript('', chat);
				const join = (after: string | undefined, length?: number) => {
					const events = new EventReader().push(streamAfter(STREAM, after).subarray(0, length));
					for (const event of 'flaw' in events ? [] : events) told.addEvent(event);
				};
				for (const [length, anew] of lengths) join(anew ? undefined : told.lastId, length);
				join(told.lastId);
				const output = outputIn(citations);
				chat.showRemaining(output);
				chat.end();
				expect(shown()).toBe(`Let me look that up. \n\n${output}`);
				expect(chunks.map(([type]) => type).join(' ')).toMatch(/^begin (item )+end$/);
			}),
			{ numRuns: 300 },
		);
	});

	it('numbers links by their order, not by what was found before them', () => {
		const { chat, shown } = openChat('numbers');
		chat.onToolResult(['a', 'b'].map((chunkId) => ({ chunkId, documentId: 'd' })));
		chat.onText('Water [⟦1⟧](xpert://knowledgebase/chunk?documentId=d&chunkId=b).', true);
		expect(shown()).toBe('Water [1].');
	});

	it('goes on with the numbers from before a decision', () => {
		const { chat, shown } = openChat('numbers');
		const cite = (chunkId: string) =>
			`[⟦1⟧](xpert://knowledgebase/chunk?documentId=of-${chunkId}&chunkId=${chunkId})`;
		const told = new RunTranscript('');
		told.addPart({ type: 'text', id: 'before', text: `Stripes ${cite('a')}.` });
		told.prepareForNextAnswer(chat);
		told.addPart({ type: 'text', id: 'after', text: `Water ${cite('b')}, stripes ${cite('a')}.` });
		const output = outputIn('numbers', told.output, told.parts);
		chat.showRemaining(output);
		expect(output).toMatch(/^Water \[2\], stripes \[1\]\./);
		expect(shown()).toBe(output);
	});

	it('shows the output below what it has shown, where that is not its beginning', () => {
		const { chat, shown } = openChat('numbers');
		chat.onText('Half an answer [', true);
		chat.showRemaining('Another answer');
		expect(shown()).toBe('Half an answer [\n\nAnother answer');
	});

	it('has as much to show where nothing of the stream came', () => {
		const { chat, chunks } = openChat('numbers');
		chat.showRemaining(outputIn('numbers'));
		chat.end();
		expect(chunks).toEqual([['begin'], ['item', outputIn('numbers')], ['end']]);
	});
});

const MISSING = "Required fixed-filter variable 'human.department' is missing.";
const HR = { status: 'applied', hitCount: 1 };
const FAILED = { status: 'notSearched', hitCount: 0, reason: MISSING };

/** Recordings keep of what a tool has found the names, and what it says of its filter. */
const whole = <Value>(value: Value): Value =>
	JSON.parse(JSON.stringify(value).replaceAll('"CUT TO ', '"')) as Value;

const [TOOL, STEP] = ['tool', 'step'].map(
	(what) =>
		`${what}, human.department: runs, retry with and without the value, a next question without it`,
) as [string, string];

const exchangesOf = (sequence: string, name = 'filters-retry') =>
	sequences(name).get(sequence) ?? [];

/** What the streams of a sequence tell, in their order. */
function streamsOf(sequence: string, name?: string): RunTranscript[] {
	const streams = exchangesOf(sequence, name).filter(({ request }) =>
		request.path.endsWith('/stream'),
	);
	return streams.map(({ request, response }) => {
		const [, runId = ''] = /runs\/([^/]+)/.exec(request.path) ?? [];
		const events = new RunTranscript(runId);
		for (const { id, data } of whole('events' in response ? (response.events ?? []) : []))
			events.addEvent({ id, name: undefined, data: JSON.stringify(data) } as never);
		return events;
	});
}

/** What the messages of a sequence tell, in their order. */
function messageEventsOf(sequence: string): RunTranscript[] {
	const searches = exchangesOf(sequence).filter(({ request }) => /messages/.test(request.path));
	return searches.map(({ response }) => {
		const events = new RunTranscript(String(get(response, 'body.items.0.executionId')));
		events.addStoredContent(whole(get(response, 'body.items.0.content') as unknown));
		return events;
	});
}

describe.each([
	['streams', streamsOf],
	['messages', messageEventsOf],
] as const)('what recorded %s say of a filter', (_, read) => {
	it('is how each search of a tool was filtered, and why one failed', () => {
		const proofs = read(TOOL).map(({ parts }) => filterReport(parts, false));
		expect(proofs).toEqual([HR, HR, HR, FAILED, FAILED, HR]);
	});

	it('is nothing for a step, but that it has searched where values were given', () => {
		const all = read(STEP);
		expect(all.map(({ parts }) => filterReport(parts, false))).toEqual(all.map(() => undefined));
		const [hr] = all;
		expect(filterReport(hr?.parts ?? [], true)).toEqual({ status: 'unknown', hitCount: 1 });
	});

	it('is a tool that failed among the steps as well, with its reason', () => {
		const failed = read(TOOL)[3];
		expect(stepsOf(failed?.parts ?? [])).toEqual([
			{
				action: expect.objectContaining({ toolInput: { input: 'budget gold coins' } }),
				observation: MISSING,
			},
		]);
	});
});

describe('the steps of a run', () => {
	it('have no observation where a call waits for a person, by the stream', () => {
		const waits = 'waits for a person, confirm by /runs with target.executionId';
		const [events] = streamsOf(waits, 'one-question-3');
		const action = { tool: 'sendMail', toolInput: { to: 'first@x.y' } };
		const steps = stepsOf(events?.parts ?? []);
		expect(steps).toMatchObject([{ action }]);
		expect(steps[0]).not.toHaveProperty('observation');
	});

	it('have no observation where a call waits for a person, by the thread', () => {
		const waiting = recordedThread('sources', 'thread, while it waits');
		const steps = stepsOf(transcriptFromThread(waiting, messagesOf(waiting)).parts);
		expect(steps.map(({ action }) => action.tool).at(-1)).toBe('subhelper');
		expect(steps.map((one) => 'observation' in one)).toEqual([true, false]);
	});

	it('are what can be read of odd calls', () => {
		const calls = [null, { id: 7 }, { id: 'c', name: 'tool' }];
		const { parts } = transcriptFromThread(undefined, [{ id: 'm', tool_calls: calls }]);
		const action = { tool: 'tool', toolInput: undefined, toolCallId: 'c' };
		expect(stepsOf(parts)).toStrictEqual([{ action }]);
	});

	it('name the helper that made a call', () => {
		const ofAgent = { type: 'component', xpertName: 'helper', data: { tool: 'tool' } };
		expect(stepsOf([ofAgent])).toMatchObject([{ action: { agent: 'helper' } }]);
	});
});

const look = (filterStatus: string, hitCount: number): AnswerPart => ({
	type: 'component',
	data: {
		tool: 'retriever-1',
		output: JSON.stringify({ diagnostics: [{ filterStatus, hitCount }] }),
	},
});
const step = (count: number): AnswerPart => ({
	type: 'component',
	data: { type: 'knowledges', data: Array.from({ length: count }, () => ({})) },
});
const list: AnswerPart = { type: 'component', data: { tool: 'mail', output: '[1]' } };
const failed: AnswerPart = {
	type: 'component',
	data: { tool: 'retriever-1', status: 'fail', error: 'Why' },
};

describe('several searches', () => {
	it.each<[what: string, parts: AnswerPart[], status: string, hitCount: number]>([
		['applied', [look('applied', 2), look('applied', 3)], 'applied', 5],
		['one without', [look('applied', 2), look('not_applied', 3)], 'not_applied', 5],
		['one dropped', [look('dynamic_fallback', 2), look('applied', 1)], 'dynamic_fallback', 3],
		['one of a step', [look('applied', 2), step(3)], 'unknown', 5],
		['one in a word of a newer server', [look('applied', 2), look('partly', 3)], 'unknown', 5],
		['the list of another tool', [look('applied', 2), list], 'applied', 2],
	])('are as the worst of them: %s', (_, parts, status, hitCount) => {
		expect(filterReport(parts, true)).toEqual({ status, hitCount });
	});

	it.each([
		['by its words', 'Error: Why', 'Why'],
		['without advice to the model', 'Error: Why\n Please fix your mistakes.', 'Why'],
		['only where the text begins so', 'No Error: Why', undefined],
	])('say why one failed %s', (_, output, reason) => {
		const part: AnswerPart = { type: 'component', data: { tool: 'retriever-1', output } };
		expect(filterReport([part, look('applied', 1)], true)?.reason).toBe(reason);
	});

	it('say why one failed beside one that did not', () => {
		expect(filterReport([failed, look('applied', 1)], false)).toEqual({ ...HR, reason: 'Why' });
	});

	it.each<[what: string, parts: AnswerPart[]]>([
		['a helper', [{ type: 'component', data: { tool: 'helper', output: 'Error: no' } }]],
		[
			'another tool that failed',
			[{ type: 'component', data: { tool: 'mail', status: 'fail', error: 'x' } }],
		],
		['a text', [{ type: 'text', text: 'hello' }]],
		[
			'a search that failed without words',
			[{ type: 'component', data: { tool: 'retriever-1', status: 'fail', error: {} } }],
		],
		[
			'another tool, which has no diagnostics to list',
			[{ type: 'component', data: { tool: 'lint', output: '{"diagnostics":[]}' } }],
		],
		['no filter', [look('not_applied', 3)]],
	])('are none with %s', (_, parts) => {
		expect(filterReport(parts, false)).toBeUndefined();
	});
});
