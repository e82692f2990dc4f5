import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, INTERRUPTING_INPUT } from '../../sandbox';
import type { FaultRule } from '../../sandbox';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, decide, post, says } from './support/runs';

const fixture = useFixture();

const add = (...rules: FaultRule[]) => fixture.sandbox.faults.add(...rules);

async function call(parameters: INodeParameters, message = 'ours', thread = '') {
	const { items, error } = await fixture.run(parameters, { items: [says(thread, message)] });
	return { json: items[0]?.json, error };
}

interface Ids {
	threadId: string;
	runId: string;
}

/** A run that has come out in some way. */
async function ended(message = 'ours', thread = ''): Promise<Ids> {
	const on = thread ? {} : { threadSource: 'new' };
	const { json, error } = await call(ask(on), message, thread);
	const run = fixture.sandbox.store.runs.at(-1);
	if (!run || (!json && !error)) throw new Error('nothing has run');
	return { threadId: run.threadId, runId: run.id };
}

async function read({ threadId, runId }: Ids, operation = 'getRun', options = {}) {
	return await call({ resource: 'thread', operation, threadId: byId(threadId), runId, options });
}

const GONE_ON = 'The run was cancelled, or the thread has gone on without a decision';

describe('a run that has ended', () => {
	it.each([false, true])('says what it said (its stream is gone: %s)', async (isGone) => {
		const ids = await ended();
		// Another conversation on the thread, which has no messages.
		fixture.sandbox.store.putConversation({ threadId: ids.threadId, updatedAt: '2026-01-01' });
		if (isGone) fixture.sandbox.expireStream(ids.runId);
		const { json } = await read(ids);
		expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed', ...ids });
		expect(json?.usage).toMatchObject({ totalTokens: expect.any(Number) as number });
		expect(fixture.sandbox.requests.of('join')).toHaveLength(1);
	});

	it('is read in its own words, not in those of others meanwhile, where the beginning of its stream is gone', async () => {
		add({ endpoint: 'runs', do: 'delay', when: 'after', ms: 100 });
		const running = ended();
		await clock.until(() => fixture.sandbox.store.runs.at(-1)?.text === 'ours');
		const { id: executionId = '', threadId = '' } = fixture.sandbox.store.runs.at(-1) ?? {};
		const message = { input: { input: 'theirs' } };
		await post(fixture.sandbox, `threads/${threadId}/runs`, {
			assistant_id: ECHO_ASSISTANT_ID,
			input: { action: 'follow_up', mode: 'queue', target: { executionId }, message },
		});
		fixture.sandbox.cutStream(executionId);
		expect((await read(await running)).json).toMatchObject({ output: 'Echo: ours' });
	});

	it.each([false, true])('says why it failed (its stream is gone: %s)', async (isGone) => {
		add({ endpoint: 'runs', nth: 1, do: 'run', outcome: 'fail', error: 'No' });
		const ids = await ended();
		if (isGone) fixture.sandbox.expireStream(ids.runId);
		const { error } = await read(ids);
		expect(error?.message).toBe('The run failed: No');
		expect(error?.description).not.toContain('Request: ');
		expect(error?.context).toMatchObject({ data: ids });
		expect(fixture.sandbox.requests.of('E15')).toEqual([]);
	});

	it('was a rejection, also where its stream is gone', async () => {
		const ids = await ended(`${INTERRUPTING_INPUT} first`);
		await call(decide({ decision: 'reject' }), '', ids.threadId);
		fixture.sandbox.expireStream(ids.runId);
		const expected = { output: '', status: 'completed', rejected: true };
		expect((await read(ids)).json).toMatchObject(expected);
	});

	it('may have said nothing, which is no rejection', async () => {
		add({ endpoint: 'runs', nth: 1, do: 'run', outcome: 'empty' });
		const ids = await ended();
		for (let reads = 1; reads <= 2; reads++) {
			const { json } = await read(ids);
			expect(json).toMatchObject({ output: '', status: 'completed' });
			expect(json).not.toHaveProperty('rejected');
			add({ endpoint: 'E15', do: 'status', status: 403, body: 'no' });
		}
	});

	it('is told by its stream where its message is not shown, and unknown where that is gone', async () => {
		const ids = await ended();
		add({ endpoint: 'getMessages', do: 'status', status: 201, body: { items: [] } });
		expect((await read(ids)).json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		fixture.sandbox.expireStream(ids.runId);
		const { error } = await read(ids);
		expect(error?.message).toBe('The run ended without an answer, and the server does not say why');
	});

	it('still runs while its message is being stored', async () => {
		const ids = await ended();
		const message = { role: 'ai', executionId: ids.runId, status: 'thinking', content: '' };
		const body = { items: [message] };
		add({ endpoint: 'getMessages', nth: [1, 2], do: 'status', status: 201, body });
		add({ endpoint: 'join', nth: 1, do: 'status', status: 502, body: 'down' });
		expect((await read(ids)).json).toMatchObject({ status: 'running', output: null });
		expect((await read(ids, 'waitForRun')).json).toMatchObject({ output: 'Echo: ours' });
	});

	it.each(['E5', 'getMessages'])('is not known where %s cannot be read', async (endpoint) => {
		const ids = await ended();
		add({ endpoint, do: 'status', status: 403, body: 'no' });
		expect((await read(ids)).error?.message).toBe(
			'The state of the run cannot be read. The server answered 403: no',
		);
	});
});

it.each(['success', 'running'])(
	'a run without an assistant at first is not left over (then it is %s)',
	async (status) => {
		const ids = await ended();
		Object.assign(fixture.sandbox.store.runs.at(-1) ?? {}, { status });
		const record = { run_id: ids.runId, thread_id: ids.threadId, assistant_id: null };
		const body = { ...record, status: 'running', created_at: '2026-11-25T12:00:00.000Z' };
		add({ endpoint: 'run', nth: 1, do: 'status', status: 200, body });
		expect((await read(ids)).json).toMatchObject({ status: 'running', output: null, ...ids });
	},
);

it('a run ID left over of a decision is reported, and not waited for', async () => {
	const { threadId } = await ended(`${INTERRUPTING_INPUT} first`);
	const { run_id: runId = '' } = await post(fixture.sandbox, `threads/${threadId}/runs`, {
		assistant_id: ECHO_ASSISTANT_ID,
		input: { action: 'resume', target: {}, decision: { type: 'confirm' } },
	});
	await clock.settled();
	for (const operation of ['getRun', 'waitForRun']) {
		const { error } = await read({ threadId, runId }, operation);
		expect(error?.message).toBe('Nothing runs under this run ID');
	}
	// A decision is carried out under such an ID as well.
	Object.assign(fixture.sandbox.store.conversationOf(threadId) ?? {}, { status: 'busy' });
	expect((await read({ threadId, runId })).json).toMatchObject({ status: 'running' });
});

describe('an answer that is not on its thread', () => {
	const at = (second: number) => Date.parse('2026-11-25T12:00:00Z') + second * 1_000;

	it.each([
		['ended before it began', 0, 9, 'success', false],
		['ended as it began', 0, 10, 'success', true],
		['began as it ended', 20, 30, 'success', true],
		['began after it', 21, 30, 'success', false],
		['began before it and goes on', 0, 5, 'running', true],
		['began after it and goes on', 21, 21, 'running', false],
	] as const)('was overwritten only by a run of the same time: %s', async (...course) => {
		const [, begun, updated, status, isLost] = course;
		const ids = await ended();
		await ended('ours', ids.threadId);
		const [own = {}, other = {}] = fixture.sandbox.store.runs.slice(-2);
		Object.assign(own, { startedAt: at(10), updatedAt: at(20) });
		Object.assign(other, { startedAt: at(begun), updatedAt: at(updated), status });
		fixture.sandbox.store.threads.get(ids.threadId)?.messages.splice(0, 2);
		const body = { thread_id: ids.threadId, status: 'busy' };
		add({ endpoint: 'E15', nth: [1, 2], do: 'status', status: 200, body });
		const { json } = await read(ids);
		expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		expect(json?.remembered).toBe(isLost ? false : undefined);
	});

	it('but comes onto it late is waited for where another has run at the same time', async () => {
		const ids = await ended();
		await ended('theirs', ids.threadId);
		for (const run of fixture.sandbox.store.runs.slice(-2))
			Object.assign(run, { startedAt: at(10), updatedAt: at(20) });
		const body = { thread_id: ids.threadId, status: 'idle', values: { messages: [] } };
		add({ endpoint: 'E15', nth: 1, do: 'status', status: 200, body });
		const { json } = await read(ids);
		expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		expect(json).not.toHaveProperty('remembered');
	});

	it.each([403, 200])(
		'is not called lost while its thread cannot tell (HTTP %i)',
		async (status) => {
			const ids = await ended();
			await ended('theirs', ids.threadId);
			for (const run of fixture.sandbox.store.runs.slice(-2))
				Object.assign(run, { startedAt: at(10), updatedAt: at(20) });
			const body = { thread_id: ids.threadId, status: 'busy' };
			add({ endpoint: 'E15', do: 'status', status, body });
			const { json } = await read(ids, 'waitForRun', { deadlineMinutes: 0.01 });
			expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
			expect(json).not.toHaveProperty('remembered');
		},
	);
});

describe('a run that was interrupted', () => {
	it('waits for a person while it is the last; after that, what became of it is not known', async () => {
		const ids = await ended(`${INTERRUPTING_INPUT} first`);
		expect((await read(ids)).json).toMatchObject({ status: 'interrupted', interrupt: [{}] });
		await ended('next', ids.threadId);
		expect((await read(ids)).error?.message).toBe(GONE_ON);
		add({ endpoint: 'listRuns', do: 'status', status: 403, body: 'no' });
		expect((await read(ids)).error?.message).toBe(
			'The state of the run cannot be read. The server answered 403: no',
		);
	});

	it('was cancelled: its stream says so also when others have run since', async () => {
		add({ endpoint: 'runs', nth: 1, do: 'run', ms: 60_000 });
		const running = ended();
		await clock.until(() => fixture.sandbox.requests.of('join').length > 0);
		const { id: runId, threadId } = fixture.sandbox.store.runs.at(-1) ?? { id: '', threadId: '' };
		await post(fixture.sandbox, `threads/${threadId}/runs/${runId}/cancel`);
		await running;
		const said = 'The run was cancelled on the server: Canceled by user';
		expect((await read({ threadId, runId })).error?.message).toBe(said);
		// As where the conversation is another owner's.
		add({ endpoint: 'E5', do: 'status', status: 201, body: { items: [] } });
		expect((await read({ threadId, runId })).error?.message).toBe(said);
		fixture.sandbox.faults.clear();
		await ended('next', threadId);
		expect((await read({ threadId, runId })).error?.message).toBe(said);
		fixture.sandbox.expireStream(runId);
		expect((await read({ threadId, runId })).error?.message).toBe(GONE_ON);
	});

	it('has an answer where it had ended before somebody cancelled it', async () => {
		const ids = await ended();
		await post(fixture.sandbox, `threads/${ids.threadId}/runs/${ids.runId}/cancel`);
		expect((await read(ids)).json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		fixture.sandbox.expireStream(ids.runId);
		expect((await read(ids)).error?.message).toContain('The run was cancelled on the server');
	});
});
