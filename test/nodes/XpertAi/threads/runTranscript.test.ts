import fc from 'fast-check';
import { transcriptFromThread, RunTranscript } from 'nodes/XpertAi/threads/runTranscript';
import { stepsOf } from 'nodes/XpertAi/operations/thread/run/answerOutput';
import { sourcesOf } from 'nodes/XpertAi/threads/sources';
import { messagesOf } from 'nodes/XpertAi/threads/thread';
import { EventReader, type ServerEvent } from 'nodes/XpertAi/transport/eventStream';

import {
	type Exchange,
	recordedExchanges,
	recordedStream,
	recordedThread,
	type Sequence,
	streamAfter,
} from './support/recorded';

/** What a chat shows of a stream. */
function listening() {
	const heard: string[] = [];
	const events = new RunTranscript('', {
		onText: (piece, isNew) => heard.push(isNew ? `|${piece}` : piece),
		onToolResult: () => undefined,
	});
	return { events, heard };
}

function hear(events: RunTranscript, bytes: Uint8Array, reader = new EventReader()) {
	for (const event of reader.push(bytes)) events.addEvent(event);
	return reader.issue;
}

const withHelper = recordedStream('streams', 'text, a helper, then the answer');
const SAID = '|Let me use helper. |Tool said: You said: hello [users seen: 1]';

describe('what a stream of events says', () => {
	it('is what the assistant itself says, before a call of a tool and after it, without its helper', () => {
		const { events, heard } = listening();
		expect(hear(events, Buffer.from(withHelper))).toBeUndefined();
		expect(heard.join('')).toBe(SAID);
		expect(events).toMatchObject({
			output: 'Tool said: You said: hello [users seen: 1]',
			isComplete: true,
			hasBeginning: true,
		});
		expect(stepsOf(events.parts)).toMatchObject([
			{ action: { toolInput: expect.anything() }, observation: expect.stringContaining('hello') },
		]);
	});

	it('is each thing once, wherever it breaks and is joined again, from the beginning or not', () => {
		const cuts = fc.array(fc.tuple(fc.nat(Buffer.byteLength(withHelper)), fc.boolean()));
		fc.assert(
			fc.property(cuts, (all) => {
				const { events, heard } = listening();
				for (const [length, isAnew] of all)
					hear(
						events,
						streamAfter(withHelper, isAnew ? undefined : events.lastId).subarray(0, length),
					);
				hear(events, streamAfter(withHelper, events.lastId));
				expect(heard.join('')).toBe(SAID);
				expect(events.isComplete).toBe(true);
			}),
		);
	});

	it.each([
		['no JSON', 'no JSON'],
		['a number', '7'],
		['an object', '{"kind":"another"}'],
		['a mark of its end', '[DONE]'],
	])('goes on after an event that is not of this API: %s', (_, data) => {
		const { events, heard } = listening();
		const reader = new EventReader();
		for (const event of withHelper.split('\n\n')) {
			hear(events, Buffer.from(`${event}\n\n`), reader);
			events.addEvent({ id: 'another', name: 'another', data });
		}
		expect(heard.join('')).toBe(SAID);
		expect(events.isComplete).toBe(true);
	});

	it('is one text for each call of the model, cut where something else comes or is decided', () => {
		const heard: unknown[] = [];
		const events = new RunTranscript('', {
			onText: () => 0,
			onToolResult: (one) => heard.push(one),
		});
		const say = (id: string, text: string) => events.addPart({ type: 'text', id, text });
		const call = (data: object) => events.addPart({ type: 'component', id: 'c', data });
		for (const text of ['See [1](xpert://know', 'ledge)']) say('a', text);
		for (const data of [{ tool: 't' }, { output: 'found' }]) call(data);
		say('a', ' late');
		say('b', 'other');
		events.prepareForNextAnswer(undefined);
		expect(events.end).toEqual({ tasks: [] });
		say('b', 'new');
		events.addPart({ type: 'component', id: 'd', text: '', data: {} });
		const image = { type: 'image_url', image_url: 'u' };
		for (const part of [{ type: 'component', id: 'e' }, image]) events.addPart(part);
		expect([events.isInToolCall, events.otherParts]).toEqual([false, [image]]);
		const texts = ['See [1](xpert://knowledge)', undefined, ' late', 'other', 'new', ''];
		expect(events.parts.slice(0, 6).map(({ text }) => text)).toEqual(texts);
		expect([events.answerId, events.output, heard]).toEqual(['b', 'new', ['found']]);
	});

	it('has the thoughts of a model among its parts, not in its answer', () => {
		const { events, heard } = listening();
		for (const text of ['First I ', 'think.']) events.addPart({ type: 'reasoning', id: 'a', text });
		events.addPart({ type: 'text', id: 'a', text: 'Yes.' });
		events.addPart({ type: 'reasoning', id: 'a', text: 'Done.' });
		expect([events.output, heard]).toEqual(['Yes.', ['|Yes.']]);
		expect(events.otherParts).toMatchObject([{ text: 'First I think.' }, { text: 'Done.' }]);
	});

	it('looks at no more of the earlier parts for each part where there are many', () => {
		const [few = 0, many = 0] = [20, 200].map((count) => {
			const { events } = listening();
			let looks = 0;
			const get = (parts: object, key: string) => {
				looks += 1;
				return Reflect.get(parts, key) as unknown;
			};
			Object.assign(events, { parts: new Proxy([], { get }) });
			for (let n = 0; n < count; n++) {
				const id = String(n);
				events.addPart({ type: 'text', id, text: 'word' });
				events.addPart({ type: 'component', id: `c${id}`, data: { tool: 't' } });
				events.addPart({ type: 'component', id: `c${id}`, data: { output: 'x' } });
				events.addPart({ type: 'text', executionId: id, xpertName: 'helper', text: 'word' });
			}
			expect(events.parts).toHaveLength(3 * count);
			return looks / count;
		});
		expect(many).toBeLessThan(few + 1);
	});

	it.each([
		['an unknown type', { type: 'audit', data: {} }],
		['an unknown event', { type: 'event', event: 'on_audit', data: {} }],
	])('passes over %s with an ID of its own, far ahead', (_, unknown) => {
		const { events, heard } = listening();
		const reader = new EventReader();
		const data = JSON.stringify(unknown);
		const signsOfLife: boolean[] = [];
		for (const event of withHelper.split('\n\n')) {
			const { lastId } = events;
			signsOfLife.push(events.addEvent({ id: '9999999999999-0', data }));
			expect(events.lastId).toBe(lastId);
			hear(events, Buffer.from(`${event}\n\n`), reader);
		}
		expect(signsOfLife.indexOf(true)).toBe(0);
		expect(signsOfLife.lastIndexOf(true)).toBe(0);
		expect(heard.join('')).toBe(SAID);
		expect(events).toMatchObject({ isComplete: true, hasBeginning: true });
	});

	it('goes on with an event without an ID, whatever the IDs before', () => {
		const { events, heard } = listening();
		const data = (text: string) =>
			JSON.stringify({ type: 'message', data: { type: 'text', id: 'a', text } });
		events.addEvent({ id: 'z', name: 'message', data: data('One, ') });
		events.addEvent({ id: undefined, name: 'message', data: data('two') });
		expect(heard.join('')).toBe('|One, two');
		expect(events.lastId).toBe('z');
	});

	it.each([
		['subAgent', 1],
		['workflow', 0],
	])('has a part for a helper, and none for a step of a workflow: %s', (category, parts) => {
		const { events } = listening();
		const data = { id: 'h', agentKey: 'helper', parentId: 'main', category };
		const event = { type: 'event', event: 'on_agent_start', data };
		events.addEvent({ id: '1', name: 'message', data: JSON.stringify(event) });
		expect(events.parts).toHaveLength(parts);
	});

	it('is of the assistant that started first, whatever another one says', () => {
		const { events } = listening();
		const event = { type: 'event', event: 'on_agent_start', data: { agentKey: 'main' } };
		events.addEvent({ id: '1', name: 'message', data: JSON.stringify(event) });
		for (const agentKey of ['main', 'helper', undefined])
			events.addPart({ type: 'text', id: `of ${agentKey}`, agentKey, text: `${agentKey}` });
		expect(events.output).toBe('undefined');
		expect(events.parts.map(({ text }) => text)).not.toContain('helper');
	});

	it('is not whole where its beginning is lost', () => {
		const { events } = listening();
		const [first = ''] = withHelper.split('\n\n');
		const lastId = /id: (\S+)/.exec(first)?.[1];
		hear(events, streamAfter(withHelper, lastId));
		expect(events).toMatchObject({ isComplete: true, hasBeginning: false });
	});
});

/** A recorded run: its stream, its message, and what its conversation and thread say. */
interface Recorded {
	sequence: string;
	events: RunTranscript;
	message: RunTranscript;
	conversation: { status?: string; error?: string };
	thread: unknown;
}

interface Answer {
	body?: { items?: Array<Record<string, unknown>> };
	complete?: boolean;
	events?: Array<Omit<ServerEvent, 'data'> & { data: unknown }>;
}

/** All runs of a recording of which both a whole stream and a message stand there, by their parts. */
function recordedRuns(name: Sequence): Recorded[] {
	const exchanges = recordedExchanges(name).filter(({ request }) => request);
	const answerOf = (sequence: string | undefined, is: (one: Exchange) => boolean) =>
		exchanges.find((one) => one.sequence === sequence && is(one))?.response as Answer | undefined;
	const streams = exchanges.filter(
		({ request, response }) =>
			request.path.endsWith('/stream') && (response as Answer).complete === true,
	);
	return streams.flatMap(({ sequence = '', request, response }) => {
		const runId = request.path.split('/').at(-2) ?? '';
		const ofRun = (one: Exchange) => JSON.stringify(one.request).includes(`"${runId}"`);
		const found = answerOf(sequence, (one) => one.request.path.endsWith('s/search') && ofRun(one));
		const isAlone = streams.filter((one) => one.sequence === sequence).length === 1;
		const [said] = found?.body?.items ?? [];
		if (!said || !isAlone) return [];
		const [events, message] = [new RunTranscript(runId), new RunTranscript(runId)];
		for (const { id, event, data } of (response as { events: Array<Record<string, unknown>> })
			.events)
			events.addEvent({ id: String(id), name: event as string, data: JSON.stringify(data) });
		message.addStoredContent(said.content);
		const conversations = answerOf(sequence, ({ request: { path } }) =>
			path.endsWith('/conversations/search'),
		);
		const [conversation = {}] = conversations?.body?.items ?? [];
		const threadId = request.path.split('/threads/')[1]?.split('/')[0] ?? '';
		const thread = answerOf(sequence, ({ request: { path } }) => path.endsWith(threadId))?.body;
		return [{ sequence, events, message, conversation, thread }];
	});
}

const RUNS = (['one-question-1', 'one-question-2'] as const).flatMap(recordedRuns);

describe('one reader: a recorded run', () => {
	it('is there in many kinds', () => expect(RUNS.length).toBeGreaterThanOrEqual(8));

	it.each(RUNS.map((run) => [run.sequence, run] as const))(
		'is the same by its stream and by its message: %s',
		(_, { events, message }) => {
			expect(message.output).toBe(events.output);
			expect(message.answerId).toBe(events.answerId);
			const sources = (parts: RunTranscript['parts']) => sourcesOf(parts).list(new Set());
			expect(sources(message.parts)).toEqual(sources(events.parts));
			// What a helper was asked, only the stream says.
			const observed = (parts: RunTranscript['parts']) =>
				stepsOf(parts).map(({ observation }) => observation);
			expect(observed(message.parts)).toEqual(observed(events.parts));
		},
	);

	it.each(RUNS.map((run) => [run.sequence, run] as const))(
		'ends by its stream as its conversation says: %s',
		(_, { events, conversation }) => {
			expect(events.end.status).toBe(conversation.status);
			expect(events.end.error ?? null).toBe(conversation.error ?? null);
		},
	);

	it('tells its tokens: all together, and in and out where there was one call of the model', () => {
		const usage = Object.fromEntries(RUNS.map(({ sequence, events }) => [sequence, events.usage]));
		expect(usage['tool call before the answer, knowledgebase']).toEqual({ totalTokens: 226 });
		const plain = usage['plain answer'];
		expect((plain?.inputTokens ?? 0) + (plain?.outputTokens ?? 0)).toBe(plain?.totalTokens);
	});
});

describe('what is decided', () => {
	/** A recorded run that waits and is confirmed, by its two streams. */
	const heard = (sequence: string) => {
		const streams = recordedExchanges('one-question-3').filter(
			(one) => one.sequence === sequence && one.request.path.endsWith('/stream'),
		);
		const runId = streams[0]?.request.path.split('/').at(-2) ?? '';
		const events = new RunTranscript(runId);
		const hearAll = (one: Exchange | undefined) => {
			for (const { id, data } of (one?.response as { events: ServerEvent[] }).events)
				events.addEvent({ id, data: JSON.stringify(data) });
		};
		return { events, streams, hearAll };
	};

	it('waits for the calls of its helpers, and for people', () => {
		const events = new RunTranscript('');
		const tell = (event: string, data: unknown) =>
			events.addEvent({ name: '', data: JSON.stringify({ type: 'event', event, data }) });
		tell('on_agent_end', 7);
		tell('on_agent_start', { agentKey: 'own' });
		tell('on_agent_start', { agentKey: 'helper', id: 'h', parentId: 'p', title: 'helper' });
		expect(events.isInToolCall).toBe(true);
		tell('on_agent_end', { agentKey: 'helper', id: 'h', status: 'success' });
		expect(events.isInToolCall).toBe(false);
		const call = (data: object) => events.addPart({ type: 'component', id: 'c', data });
		call({ tool: 't' });
		expect(events.isInToolCall).toBe(true);
		call({ output: 'x' });
		expect(events.isInToolCall).toBe(false);
		// A helper that has stopped for a person starts again.
		const inputs = { q: 1 };
		const calls = ['v', 'w'].map((id) => ({ id, name: 'helper', args: id === 'w' ? inputs : {} }));
		events.addMessage({ tool_calls: calls });
		for (const [event, isInToolCall] of [
			['start', true],
			['end', false],
			['start', true],
		] as const) {
			tell(`on_agent_${event}`, {
				agentKey: 'helper',
				id: 'w',
				parentId: 'p',
				inputs,
				status: 'interrupted',
			});
			expect(events.isInToolCall).toBe(isInToolCall);
		}
		tell('on_conversation_end', { operation: { tasks: [{ name: 'mail' }] } });
		expect(events.end.tasks).toEqual([{ name: 'mail' }]);
	});

	it('waits first, with the call that it is about, and then has its answer', () => {
		const { events, streams, hearAll } = heard(
			'waits for a person, confirm by /runs with target.executionId',
		);
		hearAll(streams[0]);
		expect(events.end).toMatchObject({ status: 'interrupted', tasks: [{ name: 'sendMail' }] });
		const call = { tool: 'sendMail', toolInput: { to: 'first@x.y' } };
		expect(stepsOf(events.parts)).toMatchObject([{ action: call }]);
		expect(events.parts.filter(({ data }) => data?.output !== undefined)).toEqual([]);
		events.prepareForNextAnswer(undefined);
		hearAll(streams[1]);
		expect(events.end).toMatchObject({ status: 'idle', tasks: [] });
		expect(events.output).toMatch(/^RESULT: /);
		expect(stepsOf(events.parts)).toMatchObject([{ action: call, observation: { sent: true } }]);
	});
});

describe('what a thread says', () => {
	it('is the calls of its tools, with what came of them', () => {
		const thread = recordedThread('sources', 'thread, while it waits');
		const [looked, waits] = stepsOf(transcriptFromThread(thread, messagesOf(thread)).parts);
		expect(looked).toMatchObject({
			action: {
				tool: 'retriever-a10d0f9f-78fb-4441-99aa-1c0020315267',
				toolInput: { input: 'CITE zebra', query: 'CITE zebra' },
				toolCallId: 'call_njx22siw51',
			},
			observation: { chunks: [{ index: 1 }, { index: 2 }] },
		});
		expect(waits?.action).toMatchObject({ tool: 'subhelper', toolCallId: 'call_ke3t46n7ok' });
	});

	it('is all calls of a message that makes several', () => {
		const thread = recordedThread('streams', 'thread after two helpers');
		const steps = stepsOf(transcriptFromThread(thread, messagesOf(thread)).parts);
		expect(steps.map(({ action }) => action.tool)).toEqual(['helper', 'other']);
	});

	it('is what can be read of odd ones', () => {
		const calls = [null, { id: 7 }, { id: 'c', name: 'tool' }];
		const { parts } = transcriptFromThread(undefined, [{ id: 'm', tool_calls: calls }]);
		const data = { tool: 'tool', input: undefined };
		expect(parts).toStrictEqual([{ type: 'component', id: 'c', data }]);
	});
});
