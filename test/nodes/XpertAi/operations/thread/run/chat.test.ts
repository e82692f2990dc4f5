import type { Completed } from '../../../../../../nodes/XpertAi/runs/runResult';
import fc from 'fast-check';

import { Chat } from '../../../../../../nodes/XpertAi/operations/thread/run/chat';
import { answerOf } from '../../../../../../nodes/XpertAi/operations/thread/run/answerFields';
import type { RunOptions } from '../../../../../../nodes/XpertAi/operations/thread/run/options';
import type { CitationStyle } from '../../../../../../nodes/XpertAi/threads/sources';
import {
	afterLastUserMessage,
	lastReply,
	messagesOf,
} from '../../../../../../nodes/XpertAi/threads/thread';
import { eventsOn, RunEvents } from '../../../../../../nodes/XpertAi/threads/runEvents';
import { EventReader } from '../../../../../../nodes/XpertAi/transport/eventStream';
import { itemOf } from '../../../../support/context';
import { recordedStream, recordedThread, streamAfter } from '../../../threads/support/recorded';

const STREAM = recordedStream('sources', 'ask; words before, a look, the answer');
const thread = recordedThread('sources', 'thread, after the stream');
const messages = afterLastUserMessage(messagesOf(thread));

/** The output of the run that was recorded. */
function outputIn(citations: CitationStyle): string {
	const { output = '' } = lastReply(messages) ?? {};
	const options: RunOptions = {
		citations,
		include: ['sources'],
		showInChat: 'asWritten',
		inOneRequest: false,
		deadlineMinutes: 15,
		cancelSilentMinutes: 0,
		whenBusy: 'wait',
		whenGivenUp: 'leave',
	};
	const parts = eventsOn(undefined, messages).parts;
	const answer: Completed = { status: 'completed', output, parts, otherParts: [] };
	return answerOf({ item: itemOf({}), options, simplify: true }, answer).output;
}

/** A chat, and what it shows. */
function openChat(style: CitationStyle) {
	const chunks: Array<[type: string, content?: unknown]> = [];
	const methods = {
		isStreaming: () => true,
		sendChunk: (type: string, _index: number, content?: unknown) =>
			void chunks.push(content === undefined ? [type] : [type, content]),
	};
	const chat = Chat.of(itemOf({}, { methods }), style);
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
				const told = new RunEvents('', chat);
				const join = (after: string | undefined, length?: number) => {
					const events = new EventReader().push(streamAfter(STREAM, after).subarray(0, length));
					for (const event of 'flaw' in events ? [] : events) told.addEvent(event);
				};
				for (const [length, anew] of lengths) join(anew ? undefined : told.lastId, length);
				join(told.lastId);
				const output = outputIn(citations);
				chat.complete(output);
				chat.end();
				expect(shown()).toBe(`Let me look that up. \n\n${output}`);
				expect(chunks.map(([type]) => type).join(' ')).toMatch(/^begin (item )+end$/);
			}),
			{ numRuns: 300 },
		);
	});

	it('numbers links by what was found before them, not by their own order', () => {
		const { chat, shown } = openChat('numbers');
		chat.onToolResult(['a', 'b'].map((chunkId) => ({ chunkId, documentId: 'd' })));
		chat.onText('Water [⟦1⟧](xpert://knowledgebase/chunk?documentId=d&chunkId=b).', true);
		expect(shown()).toBe('Water [2].');
	});

	it('shows the output below what it has shown, where that is not its beginning', () => {
		const { chat, shown } = openChat('numbers');
		chat.onText('Half an answer [', true);
		chat.complete('Another answer');
		expect(shown()).toBe('Half an answer [\n\nAnother answer');
	});

	it('has as much to show where nothing of the stream came', () => {
		const { chat, chunks } = openChat('numbers');
		chat.complete(outputIn('numbers'));
		chat.end();
		expect(chunks).toEqual([['begin'], ['item', outputIn('numbers')], ['end']]);
	});
});
