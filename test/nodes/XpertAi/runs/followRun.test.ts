import { withDeadline } from 'nodes/XpertAi/runs/client';
import { waitForRunResult } from 'nodes/XpertAi/runs/followRun';
import type { RunFacts } from 'nodes/XpertAi/runs/result';
import { sourcesOf } from 'nodes/XpertAi/threads/sources';

import { no, parsing, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { failure, listed, lost, mine } from '../threads/support/answering';
import { RUN, SECOND, streamEvents } from './support/run';

it('a stream that breaks is joined again soon as long as it has said something new', async () => {
	const time = virtualTime();
	let said = 0;
	const send = parsing(async ({ stream }) => {
		const begun = { type: 'event', event: 'on_conversation_start', data: { id: 'c' } };
		stream?.onEvent({ id: String(++said), data: JSON.stringify(begun) });
		return stream ? no(lost) : success({ ...RUN, status: 'running', created_at: '' });
	});
	const client = withDeadline({ send, clock: time, deadline: time.now() + 600 * SECOND });
	const facts: RunFacts = {};
	const result = await waitForRunResult({ ...client, threadId: 't', runId: 'r', facts });
	expect([result.status, facts.conversationId]).toEqual(['timedOut', 'c']);
	// The longer waits are those for a sign of the stream.
	const short = time.waits.filter((ms) => ms < 10 * SECOND);
	expect(short.slice(0, 3)).toEqual([2_000, 2_000, 2_000]);
});

it.each([
	['is read once it can be', 2, { status: 'completed', output: 'Late' }],
	[
		'is not known where it never can be',
		Infinity,
		{
			status: 'timedOut',
			reason: 'The run has ended, but its answer could not be read when the deadline came',
			failure: { kind: 'status', status: 500 },
		},
	],
])('the answer of a stream without words %s', async (_, failures, result) => {
	const time = virtualTime();
	let reads = 0;
	const send = parsing(async ({ path, stream }) => {
		stream?.onEvent({ id: '1', data: '{"type":"event","event":"on_conversation_start"}' });
		stream?.onEvent({ id: '2', data: '{"type":"complete"}' });
		if (stream) return success('');
		if (++reads <= failures) return no(failure);
		const ofRun = { role: 'ai', content: 'Late', executionId: 'silent' };
		return path.includes('messages') ? success({ items: [ofRun] }) : listed(mine('c'));
	});
	const client = withDeadline({ send, clock: time, deadline: time.now() + 60 * SECOND });
	expect(
		await waitForRunResult({ ...client, threadId: 't', runId: 'silent', facts: {} }),
	).toMatchObject(result);
});

it('a followed stream whose beginning the server has dropped is no answer: the stored message is', async () => {
	const time = virtualTime();
	const events = [
		{ type: 'message', data: { type: 'text', id: 'a', text: 'of the answer' } },
		{ type: 'event', event: 'on_conversation_end', data: { status: 'idle' } },
		{ type: 'complete' },
	];
	const send = parsing(({ path, stream }) => {
		streamEvents(stream, events);
		if (stream) return success('');
		if (path.endsWith('/runs/r')) return success({ ...RUN, status: 'success' });
		const stored = { role: 'ai', content: 'The beginning of the answer', status: 'success' };
		return path.includes('messages') ? success({ items: [stored] }) : listed(mine('c'));
	});
	const client = withDeadline({ send, clock: time, deadline: time.now() + 60 * SECOND });
	const run = { ...client, threadId: 't', runId: 'r', facts: {} };
	const output = 'The beginning of the answer';
	expect(await waitForRunResult(run)).toMatchObject({ status: 'completed', output });
});

/** The events of a conversation in which the assistant says one message. */
const answering = (data: object) => [
	{ type: 'event', event: 'on_conversation_start', data: { id: 'c' } },
	{ type: 'message', data },
	{ type: 'event', event: 'on_conversation_end', data: { status: 'idle' } },
	{ type: 'complete' },
];

it('an answer to a decision whose stream is new has the parts from before the decision', async () => {
	const link = (chunkId: string) => `xpert://knowledgebase/chunk?documentId=d&chunkId=${chunkId}`;
	const text = (id: string, said: string) => ({ type: 'text', id, text: said });
	const after = text('after', `Water ${link('b')}.`);
	const events = answering(after);
	const send = parsing(({ path, stream }) => {
		streamEvents(stream, events);
		if (stream) return success('');
		const content = [text('before', `Stripes ${link('a')}.`), after];
		const stored = { role: 'ai', status: 'success', content };
		return path.includes('messages') ? success({ items: [stored] }) : listed(mine('c'));
	});
	const clock = virtualTime();
	const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
	const run = { ...client, threadId: 't', runId: 'decided', facts: {} };
	const result = await waitForRunResult(run, { decidedTasks: [{ id: '1' }] });
	expect(result).toMatchObject({ status: 'completed', output: after.text });
	const sources = sourcesOf('parts' in result ? result.parts : []).list(new Set());
	expect(sources.map(({ chunkId }) => chunkId)).toEqual(['a', 'b']);
});

it('an empty answer to a decision keeps its parts where no stored message is found', async () => {
	const chunks = [{ documentId: 'd', chunkId: 'b', documentName: 'a.md' }];
	const data = { type: 'tool', status: 'success', output: JSON.stringify({ chunks }) };
	const search = { type: 'component', id: 's', data };
	const events = answering(search);
	const send = parsing(({ path, stream }) => {
		streamEvents(stream, events);
		if (stream) return success('');
		if (path.endsWith('/runs/r')) return success({ ...RUN, status: 'success' });
		return path.includes('messages') ? success({ items: [] }) : listed(mine('c'));
	});
	const clock = virtualTime();
	const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
	const run = { ...client, threadId: 't', runId: 'r', facts: {} };
	const result = await waitForRunResult(run, { decidedTasks: [{ id: '1' }] });
	expect(result).toMatchObject({ status: 'completed', output: '' });
	expect('parts' in result && sourcesOf(result.parts).list()).toHaveLength(1);
});
