import fc from 'fast-check';

import { Told } from '../../../../nodes/XpertAi/threads/events';
import { passagesIn } from '../../../../nodes/XpertAi/threads/sources';
import { EventReader } from '../../../../nodes/XpertAi/transport/eventStream';
import { recordedStream, streamAfter } from './support/recorded';

/** What a chat shows of a stream. */
function listening() {
	const heard: string[] = [];
	const found: unknown[] = [];
	const told = new Told({
		onText: (piece, isNew) => heard.push(isNew ? `|${piece}` : piece),
		onFound: (answer) => found.push(answer),
	});
	return { told, heard, found };
}

function hear(told: Told, bytes: Uint8Array, reader = new EventReader()): string | undefined {
	const events = reader.push(bytes);
	if ('flaw' in events) return events.flaw;
	for (const event of events) told.hear(event);
	return undefined;
}

const withHelper = recordedStream('streams', 'text, a helper, then the answer');
const SAID = '|Let me use helper. |Tool said: You said: hello [users seen: 1]';

describe('what a stream of events says', () => {
	it('is what the assistant itself says, before a call of a tool and after it, without its helper', () => {
		const { told, heard } = listening();
		expect(hear(told, Buffer.from(withHelper))).toBeUndefined();
		expect(heard.join('')).toBe(SAID);
		expect(told).toMatchObject({
			runId: 'd2af3108-dcf2-4817-bec0-efadefd37268',
			answer: 'Tool said: You said: hello [users seen: 1]',
			isComplete: true,
		});
	});

	it.each([
		['a tool', 'ask; words before, a look, the answer'],
		['a step of a workflow', 'the same as a stream'],
	])('is what %s has found', (_, label) => {
		const { told, found } = listening();
		hear(told, Buffer.from(recordedStream('sources', label)));
		const names = found.flatMap(passagesIn).map(({ documentName }) => documentName);
		expect(names).toEqual(['zebras.md', 'whales.txt']);
	});

	it.each([
		[
			'the model fails before the first word',
			'error',
			'400 You exceeded your current quota (FAIL)',
		],
		[
			'the model fails after the first words (an error in its stream)',
			'error',
			'The server had an error (FAILERR)',
		],
		['a long answer, cancelled after 3 s', 'interrupted', 'Canceled by user'],
		['a short answer', 'idle', undefined],
		['a run that waits for a decision', 'interrupted', undefined],
	])('is how the run has ended: %s', (label, status, error) => {
		const { told } = listening();
		hear(told, Buffer.from(recordedStream('streams', label)));
		expect(told.end).toEqual({ status, error });
	});

	it('is nothing but the texts and findings of the assistant itself, from when it begins', () => {
		const { told, heard, found } = listening();
		const tell = (event: object) => told.hear({ data: JSON.stringify(event) });
		const by = (agentKey: string, data: object) =>
			tell({ type: 'message', data: { agentKey, id: 'm', ...data } });
		by('a', { type: 'text', text: 'too early' });
		for (const agentKey of ['a', 'helper'])
			tell({ type: 'event', event: 'on_agent_start', data: { agentKey } });
		tell({ type: 'message' });
		tell({ type: 'event', event: 'x', data: { type: 'text', text: 'no', agentKey: 'a' } });
		by('a', { type: 'text' });
		by('a', { type: 'component', text: 'no text' });
		by('a', { type: 'text', text: 'a text', data: { output: 'no finding' } });
		by('a', { type: 'component', data: { output: 1 } });
		by('a', { type: 'component', data: { data: 2 } });
		by('helper', { type: 'text', text: 'of a helper' });
		by('helper', { type: 'component', data: { output: 3 } });
		expect(heard).toEqual(['|a text']);
		expect(found).toEqual([undefined, 1, 2]);
	});

	it('is not over where it breaks off, and has no run before one begins', () => {
		const { told } = listening();
		hear(told, Buffer.from(withHelper.slice(0, withHelper.indexOf('event: complete'))));
		expect(told.isComplete).toBe(false);
		const before = listening().told;
		hear(before, Buffer.from(withHelper.slice(0, withHelper.indexOf('on_conversation_end'))));
		expect(before.end).toBeUndefined();
		expect(listening().told.runId).toBeUndefined();
	});

	it('is told once: events have times with a counter, and what comes again or late tells nothing', () => {
		const { told, heard } = listening();
		const agent = { agentKey: 'a' };
		const say = (id: string | undefined, text: string) =>
			told.hear({
				...(id !== undefined && { id }),
				data: JSON.stringify({ type: 'message', data: { ...agent, type: 'text', id: 'm', text } }),
			});
		told.hear({ data: JSON.stringify({ type: 'event', event: 'on_agent_start', data: agent }) });
		for (const id of ['5-9', '5-10', '5-10', '5-9', '4-11', '5', '6-0', undefined, '6-0'])
			say(id, `${id ?? 'none'} `);
		expect(heard.join('')).toBe('|5-9 5-10 6-0 none ');
		expect(told.lastId).toBe('6-0');
	});

	it.each(['no JSON', '7', '{"kind":"another"}', '[DONE]'])(
		'goes on after an event that is not of this API: %s',
		(data) => {
			const { told, heard } = listening();
			const reader = new EventReader();
			for (const event of withHelper.split('\n\n')) {
				hear(told, Buffer.from(`${event}\n\n`), reader);
				told.hear({ id: 'another', name: 'another', data });
			}
			expect(heard.join('')).toBe(SAID);
			expect(told.isComplete).toBe(true);
		},
	);
});

describe('a stream that is cut', () => {
	it('says the same, wherever its bytes are cut', () => {
		const bytes = Buffer.from(recordedStream('sources', 'ask; words before, a look, the answer'));
		const whole = listening();
		hear(whole.told, bytes);
		fc.assert(
			fc.property(fc.array(fc.nat(bytes.length), { maxLength: 40 }), (places) => {
				const at = [0, ...places.sort((a, b) => a - b)];
				const { told, heard } = listening();
				const reader = new EventReader();
				at.forEach((from, index) => hear(told, bytes.subarray(from, at[index + 1]), reader));
				expect(heard).toEqual(whole.heard);
				expect(told.isComplete).toBe(true);
			}),
			{ numRuns: 200 },
		);
	});

	it('says each word once, however often it breaks and is joined again behind what was heard', () => {
		/** The stream as it is joined: from behind an event, or by a server that ignores where it is to go on. */
		const from = (after: string | undefined, ignores: boolean) =>
			streamAfter(withHelper, ignores ? undefined : after);
		const breaks = fc.array(fc.tuple(fc.nat(3_000), fc.boolean()), { maxLength: 12 });
		fc.assert(
			fc.property(breaks, (lengths) => {
				const { told, heard } = listening();
				for (const [length, ignores] of lengths)
					hear(told, from(told.lastId, ignores).subarray(0, length));
				hear(told, from(told.lastId, false));
				expect(heard.join('')).toBe(SAID);
				expect(told.answer).toBe('Tool said: You said: hello [users seen: 1]');
			}),
			{ numRuns: 300 },
		);
	});
});
