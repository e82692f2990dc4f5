import { get } from 'lodash';
import { cancelRunning } from 'nodes/XpertAi/runs/cancelRun';
import { repeated, withDeadline } from 'nodes/XpertAi/runs/client';
import { waitForRunResult } from 'nodes/XpertAi/runs/followRun';
import { withThread } from 'nodes/XpertAi/runs/overlap';
import {
	busy,
	type Completed,
	mayHaveArrived,
	neverRan,
	resultFromEvents,
	type RunFacts,
	stillBusy,
} from 'nodes/XpertAi/runs/result';
import type { Run } from 'nodes/XpertAi/runs/run';
import {
	filterValuesIn,
	intentOf,
	messageMarkOf,
	type RunBody,
	type RunKind,
	withFileContexts,
	withMessageMark,
	withTarget,
} from 'nodes/XpertAi/runs/runBody';
import { startInTurn } from 'nodes/XpertAi/runs/start';
import { RunEvents } from 'nodes/XpertAi/threads/runEvents';
import { sourcesOf } from 'nodes/XpertAi/threads/sources';
import { readThread, threadState } from 'nodes/XpertAi/threads/thread';
import { anyAnswer } from 'nodes/XpertAi/transport/answer';
import { EventReader } from 'nodes/XpertAi/transport/eventStream';
import type { ApiRequest, Outcome, Send } from 'nodes/XpertAi/transport/request';

import { no, parsing, success } from '../../support/send';
import { virtualTime, type VirtualTime } from '../../support/virtualTime';
import { answering, failure, listed, lost, mine } from '../threads/support/answering';
import { recordedExchanges } from '../threads/support/recorded';
import { lockServer } from './support/lockServer';

const saying = (input: object) => ({ input: { action: 'send', message: { input } } });

it('withTarget names the run', () => {
	const about = (target: object) => ({ input: { action: 'resume', target } });
	expect(withTarget(about({}), 'r')).toEqual(about({ executionId: 'r' }));
});

it.each<[string, RunKind, object, object]>([
	['a message', 'message', saying({ input: 'Hi' }), { text: 'Hi', rejects: false }],
	['a confirmation', 'decision', { input: { decision: { type: 'confirm' } } }, { rejects: false }],
	['a rejection', 'decision', { input: { decision: { type: 'reject' } } }, { rejects: true }],
	[
		'changes that change nothing',
		'decision',
		{ input: { patch: { toolCalls: [] } } },
		{ rejects: false },
	],
	[
		'changes of a call',
		'decision',
		{ input: { patch: { toolCalls: [{ id: 'c' }] } } },
		{ changes: ['c'] },
	],
	['a retry', 'retry', { input: {} }, { rejects: false }],
])('intentOf says what is asked for by %s', (_, kind, body, intent) =>
	expect(intentOf(kind, body as RunBody)).toEqual({ kind, rejects: false, ...intent }),
);

it('takes a key with dots for no path', () => {
	const decoys = {
		'input.message.input': { a: '' },
		'input.message.input.files': [{ fileId: 'x' }],
		'input.decision.type': 'x',
		'input.target': {},
	};
	const message = { ...saying({ folder: '' }), ...decoys };
	expect(filterValuesIn(message)).toEqual({ folder: '' });
	expect(withFileContexts(message, ['a'])).toEqual({
		...decoys,
		...saying({ folder: '', files: [{ fileId: 'a' }] }),
	});
	const rejection = { input: { decision: { type: 'reject' } }, ...decoys };
	expect(intentOf('decision', rejection).rejects).toBe(true);
	expect(withTarget(rejection, 'r').input).toMatchObject({ target: { executionId: 'r' } });
});

it.each([
	[
		'the values for filters beside its text',
		{ input: 'Hi', department: 'hr' },
		{ department: 'hr' },
	],
	[
		'no values in what servers know',
		{ input: 'Hi', files: [], references: [], clientMessageId: 'c', n8nMark: 'm' },
		{},
	],
	['no values where it is none', undefined, {}],
])('a message holds %s', (_, input, values) => {
	expect(filterValuesIn(saying(input as object))).toEqual(values);
});

it('withFileContexts appends files to those of the message', () => {
	const files = [{ id: 's' }, { fileId: 'a' }, { fileId: 'b' }];
	const message = saying({ input: 'Hi', files: [{ id: 's' }] });
	expect(withFileContexts(message, ['a', 'b'])).toEqual(saying({ input: 'Hi', files }));
	expect(message).toEqual(saying({ input: 'Hi', files: [{ id: 's' }] }));
	expect(withFileContexts(saying({}), ['a'])).toEqual(saying({ files: [{ fileId: 'a' }] }));
});

it('withMessageMark marks messages, and a thread shows the mark', () => {
	expect(withMessageMark(saying({ input: 'Hi' }), 'm')).toEqual(
		saying({ input: 'Hi', n8nMark: 'm' }),
	);
	expect(messageMarkOf(threadState.parse({ values: { human: { n8nMark: 'm' } } }))).toBe('m');
	expect(messageMarkOf(undefined)).toBeUndefined();
});

const SECOND = 1000;
const READ: ApiRequest = {
	method: 'GET',
	path: '/threads/t',
	timeoutMs: 30 * SECOND,
	schema: anyAnswer,
};
const STREAM: ApiRequest = { ...READ, stream: { onEvent: () => undefined } };

const later = (seconds: number) => no({ ...failure, retryAfterMs: seconds * SECOND });

/** Sends until a deadline, in so many seconds, to a server that gives these answers, the last for ever. */
function sending(deadlineS: number, answers: Outcome[] = [success({})], stopAfterMs = Infinity) {
	const time = virtualTime(stopAfterMs);
	const sent: Array<ApiRequest & { at: number }> = [];
	const client = withDeadline({
		clock: time,
		signal: time.signal,
		deadline: time.now() + deadlineS * SECOND,
		send: parsing((request) => {
			sent.push({ ...request, at: time.elapsed() / SECOND });
			return answers[Math.min(sent.length, answers.length) - 1] ?? success({});
		}),
	});
	return { send: client.send, sent, time, client };
}

describe('a request that is sent in time', () => {
	it('does not outlast the deadline, but has a second for a last look', async () => {
		const { send, sent, time } = sending(40);
		await send(READ);
		time.pass(25 * SECOND);
		await send(READ);
		time.pass(30 * SECOND);
		await send(READ);
		const limits = sent.map(({ timeoutMs, totalMs }) => [timeoutMs, totalMs]);
		expect(limits).toEqual([
			[30 * SECOND, 40 * SECOND],
			[15 * SECOND, 15 * SECOND],
			[SECOND, SECOND],
		]);
	});

	it('of a stream limits its silence, and all of it by the deadline', async () => {
		const { send, sent } = sending(600);
		await send(STREAM);
		expect(sent).toMatchObject([{ timeoutMs: 30 * SECOND, totalMs: 600 * SECOND }]);
	});

	it('is not sent once the execution was stopped', async () => {
		const { send, sent } = sending(600, [], 0);
		expect(await send(READ)).toEqual({
			ok: false,
			failure: { kind: 'cancelled', method: 'GET', path: '/api/ai/threads/t' },
		});
		expect(sent).toEqual([]);
	});

	it.each([
		['is sent no sooner than the server asked for, whatever is sent next', 600, 0, [0, 20, 20]],
		['is not waited for where so much time has passed', 600, 25, [0, 25, 25]],
		['is sent where that time ends with the deadline', 20, 0, [0, 20, 20]],
	])('%s', async (_, deadlineS, passedS, times) => {
		const { send, sent, time } = sending(deadlineS, [later(20), success({})]);
		await send(READ);
		time.pass(passedS * SECOND);
		expect(await send({ ...READ, path: '/other' })).toMatchObject({ ok: true });
		await send(READ);
		expect(sent.map(({ at }) => at)).toEqual(times);
		expect(time.waits).toHaveLength(passedS ? 0 : 1);
	});

	it('is not sent where that time is beyond the deadline, and says at once what the server said', async () => {
		const { send, sent, time } = sending(10, [later(20)]);
		await send(READ);
		const { failure: why } = (await send({ ...READ, path: '/other' })) as { failure: object };
		expect(why).toEqual({
			...failure,
			retryAfterMs: 20 * SECOND,
			method: 'GET',
			path: '/api/ai/other',
		});
		expect(sent).toHaveLength(1);
		expect(time.waits).toEqual([]);
	});

	it('ends its wait when the execution is stopped, and is not sent', async () => {
		const { send, sent } = sending(600, [later(20)], 5 * SECOND);
		await send(READ);
		expect(await send(READ)).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
		expect(sent).toHaveLength(1);
	});
});

describe('the time until the deadline', () => {
	it('is never below nothing, and no wait goes beyond it', async () => {
		const { client, time } = sending(10);
		await client.wait(4 * SECOND);
		expect(client.remaining()).toBe(6 * SECOND);
		await client.wait(60 * SECOND);
		expect(time.elapsed()).toBe(10 * SECOND);
		time.pass(SECOND);
		expect(client.remaining()).toBe(0);
	});
});

it.each([
	['is read with growing pauses until the server shows it', 60, 2, { ok: true }, [2, 3]],
	['is read until the deadline', 2, Infinity, { failure }, [2]],
])('a thread %s', async (_, deadlineS, failures, outcome, waits) => {
	let reads = 0;
	const time = virtualTime();
	const send = parsing(() =>
		++reads > failures ? success({ thread_id: 't', status: 'idle' }) : no(failure),
	);
	const limits = { clock: time, deadline: time.now() + deadlineS * SECOND };
	const client = withDeadline({ send, ...limits });
	const reading = async () => await readThread(client, 't');
	const read = await repeated(client, reading, ({ ok }) => ok);
	expect(read).toMatchObject(outcome);
	expect(time.waits).toEqual(waits.map((seconds) => seconds * SECOND));
});

const RUN = { run_id: 'r', thread_id: 't', assistant_id: 'a' };

const start = async (send: Send, clock: VirtualTime, more: Partial<Run> = {}) =>
	await startInTurn({
		...withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND }),
		threadId: 't',
		facts: {},
		body: {},
		isNew: false,
		whenBusy: 'wait',
		cancelSilentMs: 0,
		intent: { kind: 'message' },
		routes: { areMissing: false },
		locks: { rejected: { creation: 0, deletion: 0 } },
		...more,
	});

it('a run on a thread is given up after three tries of two requests where the server cannot be reached', async () => {
	const { asking, asked } = answering(no(lost));
	const result = { status: 'failed', failure: { kind: 'network' } };
	expect(await start(asking.send, virtualTime())).toMatchObject(result);
	expect(asked.map(({ path }) => path)).toEqual([
		...Array<string>(3).fill('/conversations'),
		...Array<string>(3).fill('/threads/t/runs'),
	]);
});

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
		for (const [at, event] of events.entries())
			stream?.onEvent({ id: String(at + 1), data: JSON.stringify(event) });
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

it.each([
	['is found by its mark', ['ours'], 'ours'],
	['is not told from another that began beside it', ['ours', 'theirs'], undefined],
])('a run whose start is not answered %s', async (_, begun, runId) => {
	const time = virtualTime();
	const lists = [[], begun.map((run_id) => ({ ...RUN, run_id, created_at: run_id }))];
	let mark: unknown;
	const send = parsing(({ method, path, body }) => {
		if (method === 'POST' && path.endsWith('/runs')) {
			mark = get(JSON.parse(String(body)), 'input.message.input.n8nMark');
			return no(lost);
		}
		if (path.endsWith('/runs')) return success(lists[mark === undefined ? 0 : 1]);
		// The thread shows the mark of its newest question alone.
		return success({ thread_id: 't', status: 'idle', values: { human: { n8nMark: mark } } });
	});
	const body = saying({ input: 'Hi' });
	const started = await start(send, time, { body });
	expect(mark).toEqual(expect.any(String));
	if (runId) expect(started).toMatchObject({ runId });
	else
		expect(started).toMatchObject({
			status: 'failed',
			reason: expect.stringMatching(/^It is not known whether the message/) as string,
		});
});

it('an answer to a decision whose stream is new has the parts from before the decision', async () => {
	const link = (chunkId: string) => `xpert://knowledgebase/chunk?documentId=d&chunkId=${chunkId}`;
	const text = (id: string, said: string) => ({ type: 'text', id, text: said });
	const after = text('after', `Water ${link('b')}.`);
	const events = [
		{ type: 'event', event: 'on_conversation_start', data: { id: 'c' } },
		{ type: 'message', data: after },
		{ type: 'event', event: 'on_conversation_end', data: { status: 'idle' } },
		{ type: 'complete' },
	];
	const send = parsing(({ path, stream }) => {
		for (const [at, event] of events.entries())
			stream?.onEvent({ id: String(at + 1), data: JSON.stringify(event) });
		if (stream) return success('');
		const content = [text('before', `Stripes ${link('a')}.`), after];
		const stored = { role: 'ai', status: 'success', content };
		return path.includes('messages') ? success({ items: [stored] }) : listed(mine('c'));
	});
	const clock = virtualTime();
	const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
	const run = { ...client, threadId: 't', runId: 'decided', facts: {} };
	const result = await waitForRunResult(run, { decided: [{ id: '1' }] });
	expect(result).toMatchObject({ status: 'completed', output: after.text });
	const sources = sourcesOf('parts' in result ? result.parts : []).list(new Set());
	expect(sources.map(({ chunkId }) => chunkId)).toEqual(['a', 'b']);
});

it('a run that is cancelled, but was done by then, has its answer, and its conversation', async () => {
	const clock = virtualTime();
	const events = [
		{ type: 'event', event: 'on_conversation_start', data: { id: 'c' } },
		{ type: 'message', data: { type: 'text', id: 'a', text: 'Done' } },
		{ type: 'event', event: 'on_conversation_end', data: { status: 'idle' } },
		{ type: 'complete' },
	];
	const send = parsing(({ stream }) => {
		for (const [at, event] of events.entries())
			stream?.onEvent({ id: String(at + 1), data: JSON.stringify(event) });
		return success(stream ? '' : { canceledExecutionIds: ['r'] });
	});
	const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
	const facts: RunFacts = {};
	const result = await cancelRunning({ ...client, threadId: 't', runId: 'r', facts });
	expect([result, facts]).toMatchObject([
		{ status: 'completed', output: 'Done' },
		{ conversationId: 'c' },
	]);
});

it.each([
	['an answer that it does not hold', 'Done', { remembered: false }],
	['an answer that it holds', 'Said', {}],
	['an empty answer', '', {}],
])('a thread on which runs overlapped: %s', async (_, output, more) => {
	const run = { ...RUN, status: 'success', created_at: '01', updated_at: '03' };
	const other = { ...run, run_id: 'other', created_at: '02', updated_at: '04' };
	const values = { messages: [{ id: 'm', type: 'ai', content: 'Said' }] };
	const send = parsing(({ path }) =>
		success(
			path.endsWith('/runs')
				? [run, other]
				: { thread_id: 't', status: 'idle', values, metadata: {} },
		),
	);
	const clock = virtualTime();
	const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
	const result: Completed = { status: 'completed', output, parts: [], otherParts: [] };
	const overlapped = { ...client, threadId: 't', runId: 'r', facts: {} };
	expect(await withThread(overlapped, result)).toEqual({ ...result, ...more });
});

describe('whether another run was beside a run', () => {
	const own = { role: 'ai', executionId: 'r', createdAt: '02', updatedAt: '04' };
	const other = { role: 'ai', executionId: 'other', createdAt: '03' };
	const known = { isActive: false, lastIds: ['before'] };
	const alone = ['search'];

	it.each([
		['shows in its answer', known, [other, own], ['search', 'thread']],
		[
			'does not show where that began after its end',
			known,
			[{ ...other, createdAt: '05' }, own],
			alone,
		],
		[
			'does not show where that had ended before',
			known,
			[own, { ...other, executionId: 'before' }],
			alone,
		],
		[
			'shows in the list where its own answer is not among the newest',
			known,
			[other],
			['search', 'list'],
		],
		['shows in the list where its conversation holds nothing', known, [], ['search', 'list']],
		['is known where one was active at the start', { ...known, isActive: true }, [own], ['thread']],
		['shows in the list where nothing is known of the start', undefined, [own], ['list']],
	])('%s', async (_, others, items, asked) => {
		const names: string[] = [];
		const send = parsing(({ path }) => {
			const name = path.endsWith('/search') ? 'search' : path.endsWith('/runs') ? 'list' : 'thread';
			names.push(name);
			if (name === 'search') return success({ items });
			return success(name === 'list' ? [] : { thread_id: 't', status: 'idle', values: {} });
		});
		const clock = virtualTime();
		const client = withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND });
		const result: Completed = { status: 'completed', output: 'Said', parts: [], otherParts: [] };
		const run = { ...client, threadId: 't', runId: 'r', facts: { conversationId: 'c' } };
		await withThread(run, result, others);
		expect([...new Set(names)]).toEqual(asked);
	});
});

describe('a message on a thread whose last run was interrupted', () => {
	it.each([
		[-800, 0],
		[-799, 800],
		[0, 800],
		[799, 1],
		[800, 0],
	])('%i ms ago reads in %i ms what waits, once it is stored', async (agoMs, waitMs) => {
		const time = virtualTime();
		const { answer } = lockServer(time.now);
		const endedAt = new Date(time.now() - agoMs).toISOString();
		const last = { ...RUN, status: 'interrupted', created_at: endedAt, updated_at: endedAt };
		let readMs: number | undefined;
		const send = parsing(async (request) => {
			if (request.path === '/conversations/search') readMs = time.elapsed();
			if (readMs === time.elapsed() && request.path.endsWith('search')) return listed(mine('c'));
			return answer(request) ?? success(request.method === 'POST' ? last : [last]);
		});
		const started = await start(send, time);
		expect(readMs).toBe(waitMs);
		// Kept as long as the run lasts, the runs of a long thread would fill the memory.
		expect(started).toMatchObject({ others: { isActive: false, lastIds: ['r'] } });
		expect(started).not.toHaveProperty('before');
	});
});

it.each([
	['itself', 'route'],
	['by somebody else, for now', undefined],
] as const)(
	'a server is known to list no runs only if it says so itself: said %s',
	async (_, missing) => {
		const routes = { areMissing: false };
		const { asking } = answering(no({ ...failure, status: 404, missing }));
		expect(await start(asking.send, virtualTime(), { routes })).toMatchObject({
			lacksRoutes: true,
		});
		expect(routes.areMissing).toBe(missing === 'route');
	},
);

/** The events of a run in `one-key-cancel-ends-both`. */
function recordedEvents(runId: string): RunEvents {
	const found = recordedExchanges('one-key-cancel-ends-both').find(({ request }) =>
		request.path.endsWith(`/runs/${runId}/stream`),
	);
	const events = new RunEvents(runId);
	const read = new EventReader().push(Buffer.from(String(found?.response.body)));
	if (!('flaw' in read)) for (const event of read) events.addEvent(event);
	return events;
}

/** The events of a run that ended so, after one text. */
function ended(end: Partial<RunEvents['end']>): RunEvents {
	const events = new RunEvents('r');
	events.readPart({ type: 'text', id: 'm', text: 'Hi' });
	events.end = { tasks: [], ...end };
	return events;
}

describe('resultFromEvents', () => {
	const TASK = { id: '1', name: 'mail' };
	const cancelled = { status: 'failed' };
	const because = 'The run was cancelled on the server: ';

	it.each<[string, Partial<RunEvents['end']>, object]>([
		[
			'an idle thread completes it',
			{ status: 'idle' },
			{ status: 'completed', output: 'Hi', answerId: 'm' },
		],
		[
			'an end without a status completes it',
			{ status: undefined },
			{ status: 'completed', output: 'Hi' },
		],
		[
			'an error is its reason',
			{ status: 'error', error: 'No' },
			{ ...cancelled, reason: 'The run failed: No' },
		],
		[
			'an error without words says so',
			{ status: 'error' },
			{ reason: 'The run failed: the server gave no reason' },
		],
		[
			'tasks interrupt it',
			{ status: 'interrupted', tasks: [TASK] },
			{ status: 'interrupted', interrupt: [TASK] },
		],
		[
			'tasks with an error cancel it',
			{ status: 'interrupted', tasks: [TASK], error: 'By user' },
			{ ...cancelled, reason: `${because}By user` },
		],
		[
			'an interruption without tasks cancels it',
			{ status: 'interrupted' },
			{ reason: `${because}the server does not say why` },
		],
		[
			'an agent that was interrupted cancels it, though its thread is idle',
			{ status: 'idle', agentStatus: 'interrupted' },
			{ ...cancelled, reason: `${because}the server does not say why` },
		],
		[
			'an agent that was interrupted waits for its tasks, though its thread is busy',
			{ status: 'busy', agentStatus: 'interrupted', tasks: [TASK] },
			{ status: 'interrupted', interrupt: [TASK] },
		],
		[
			'an agent that succeeded completes it',
			{ status: 'interrupted', agentStatus: 'success', error: 'x' },
			{ status: 'completed' },
		],
		[
			'an interruption left over completes it',
			{ status: 'interrupted', isLeftOver: true },
			{ status: 'completed', output: 'Hi' },
		],
		[
			'an interruption left over with an error fails it',
			{ status: 'interrupted', isLeftOver: true, error: 'By user' },
			{ status: 'failed' },
		],
	])('%s', (_, end, result) => expect(resultFromEvents(ended(end))).toMatchObject(result));

	it('counts a whole answer, though the cancelling of another run interrupted it (recorded)', () => {
		const events = recordedEvents('01af66de-3a9d-4bd5-97fb-e4e94346fa5d');
		expect(events).toMatchObject({ isComplete: true, isWhole: true });
		const output = expect.stringMatching(/^Echo: FIRST-B-0/) as string;
		expect(resultFromEvents(events)).toMatchObject({ status: 'completed', output });
	});

	it('does not count the cancelled one (recorded)', () => {
		const events = recordedEvents('bbff5cf1-6a53-4489-9089-d876cacea3f6');
		expect(events).toMatchObject({ isComplete: false, output: '' });
	});
});

describe('the words of a result', () => {
	const run = { run_id: 'r', created_at: 'noon', status: 'running' } as never;

	it.each([
		['busy', busy(run), /^Another run is active on this thread \(r, since noon\)$/],
		['silent', stillBusy(run, 61_400), /\(r, since noon, without a sign for 61 s\) when/],
		[
			'still busy',
			stillBusy(),
			/^Another run was still active on the thread when the deadline came$/,
		],
		[
			'lost',
			mayHaveArrived('decision', lost),
			/^It is not known whether the decision has reached the assistant\. ./,
		],
		['decision', neverRan('decision'), /^Nothing on this thread waits for a decision$/],
		['retry', neverRan('retry'), /^Nothing was said on this thread that could be answered again$/],
	])('%s', (_, { reason }, words) => expect(reason).toMatch(words));

	it('stillBusy names the silent run that it cancelled', () => {
		const result = stillBusy(run, 0, 'silent');
		expect(result).toMatchObject({ status: 'timedOut', cancelledRun: 'silent' });
		expect(result.advice).toMatch(
			/^The silent run silent was cancelled\. If its server was restarted/,
		);
	});
});
