import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, type FaultRule, INTERRUPTING_INPUT } from 'sandbox';
import { clock } from './support/clock';
import { byId } from './support/locators';
import { ID } from './support/records';
import {
	answering,
	ask,
	decide,
	delaying,
	lasting,
	occupy,
	post,
	message,
	useRuns,
} from './support/runs';

const { fixture, call, add, sent, stored, newThread } = useRuns();

const lasts = (ms: number) => lasting(ms, { nth: 1 });

interface Ids {
	threadId: string;
	runId: string;
}

async function ended(words = 'ours', thread = ''): Promise<Ids> {
	const on = thread ? {} : { threadSource: 'new' };
	const { json, error } = await call(ask(on), words, thread);
	const run = fixture.sandbox.store.runs.at(-1);
	if (!run || (!json && !error)) throw new Error('nothing has run');
	return { threadId: run.threadId, runId: run.id };
}

async function started(words: string, thread = '', ms = 0): Promise<Ids> {
	const threadId = thread || (await newThread());
	if (ms > 0) add({ ...lasts(ms), path: threadId });
	const { run_id: runId = '' } = await post(fixture.sandbox, `threads/${threadId}/runs`, {
		assistant_id: ECHO_ASSISTANT_ID,
		input: message(words),
	});
	return { threadId, runId };
}

const by = (operation: string, { threadId, runId }: Ids, options: INodeParameters = {}) => ({
	resource: 'thread',
	operation,
	threadId: byId(threadId),
	runId,
	options,
});

const read = async (ids: Ids, operation = 'getRun', options: INodeParameters = {}) =>
	await call(by(operation, ids, options));

const EVERY = ['getRun', 'waitForRun', 'cancelRun'];
const NO_ANSWER = 'The run ended without an answer, and the server does not say why';
const GONE_ON = 'The run was cancelled, or the thread has gone on without a decision';
const CANCELLED = 'The run was cancelled on the server: Canceled by user';
const ANSWERED = { output: 'Echo: ours', status: 'completed' };
const RUNNING = { status: 'running', output: null };

describe('a run by its ID', () => {
	it('is that of the input item where nothing is set', async () => {
		const json = await started('ours');
		for (const operation of ['waitForRun', 'getRun']) {
			const { items } = await fixture.run(
				{ resource: 'thread', operation },
				{ items: [{ json: { ...json } }] },
			);
			expect(items[0]?.json).toMatchObject({ ...json, ...ANSWERED });
		}
	});

	it('is running, then says what Ask and Wait would', async () => {
		const ids = await started('ours', '', 400);
		expect((await read(ids)).json).toMatchObject({ ...RUNNING, ...ids });
		const { json: { usage, ...json } = {} } = await read(ids, 'waitForRun');
		expect(json).toMatchObject({ ...ANSWERED, ...ids });
		expect(usage).toBeDefined();
		expect((await read(ids)).json).toEqual(json);
	});

	it('is found by IDs in capital letters', async () => {
		const ids = await started('ours');
		const { threadId, runId } = ids;
		const inCapitals = { threadId: threadId.toUpperCase(), runId: runId.toUpperCase() };
		for (const operation of ['waitForRun', 'getRun'])
			expect((await read(inCapitals, operation)).json).toMatchObject({ ...ANSWERED, ...ids });
	});

	it('is never told in the words of another that ran at the same time', async () => {
		const { threadId: thread } = await ended();
		const slow = await started('Slow', thread, 500);
		fixture.sandbox.faults.clear();
		const quick = await started('Quick', thread);
		expect((await read(slow, 'waitForRun')).json).toMatchObject({ output: 'Echo: Slow' });
		// The slow one has begun first and ended last, so that its messages are all that the thread has.
		const { json } = await read(quick, 'waitForRun');
		expect(json).toMatchObject({ output: 'Echo: Quick', remembered: false, ...quick });
	});

	it.each(EVERY)(
		'is that of nobody, or of another thread, which is said (%s)',
		async (operation) => {
			const [one, other] = [await started('One'), await started('Two')];
			const unknown = await read({ ...one, runId: ID }, operation);
			expect(unknown.error).toBe('Run ID … or Thread … was not found');
			const whole = `Run ID ${ID} or Thread ${one.threadId} was not found`;
			expect(unknown.details.message).toBe(whole);
			expect(unknown.details.description).toContain('Check "Run ID" and "Thread".');
			expect(unknown.details.description).not.toContain('Assistant');
			const { error } = await read({ ...one, threadId: other.threadId }, operation);
			expect(error).toMatch(/^The run is of another thread: take threadId and runId/);
			expect(sent('cancel')).toEqual([]);
		},
	);

	it.each(EVERY)('that the key may not read: it is said which key may (%s)', async (operation) => {
		const ids = await started('ours');
		add(answering('run', 403));
		const { error, details } = await read(ids, operation);
		expect(error).toBe('This key may not do this: no (HTTP 403)');
		expect(details.description).toContain(
			'Use a key made for that workspace, or for this assistant.',
		);
	});

	it.each(EVERY)(
		'is one of two at once, and no more, where Runs at Once says so (%s)',
		async (operation) => {
			const all: Ids[] = [];
			for (const words of ['one', 'two', 'three']) all.push(await started(words));
			add(delaying('run', 1_000));
			const { items } = await fixture.run(
				{ resource: 'thread', operation, tuning: { concurrency: 2 } },
				{ items: all.map((ids) => ({ json: { ...ids } })) },
			);
			expect(items.map(({ json }) => json.runId)).toEqual(all.map(({ runId }) => runId));
			const asked = all.map(
				({ runId }) => sent('run').find(({ path }) => path.includes(runId))?.arrivedAt ?? NaN,
			);
			const [first = NaN] = asked;
			expect(asked.map((at) => at - first < 1_000)).toEqual([true, true, false]);
		},
	);

	it('left over of a decision is reported, and not waited for', async () => {
		const { threadId } = await ended(`${INTERRUPTING_INPUT} first`);
		const { run_id: runId = '' } = await post(fixture.sandbox, `threads/${threadId}/runs`, {
			assistant_id: ECHO_ASSISTANT_ID,
			input: { action: 'resume', target: {}, decision: { type: 'confirm' } },
		});
		await clock.settled();
		for (const operation of ['getRun', 'waitForRun'])
			expect((await read({ threadId, runId }, operation)).error).toBe(
				'Nothing runs under this run ID',
			);
		// A decision is carried out under such an ID as well.
		Object.assign(fixture.sandbox.store.conversationOf(threadId) ?? {}, { status: 'busy' });
		expect((await read({ threadId, runId })).json).toMatchObject(RUNNING);
	});

	it.each(['success', 'running'])(
		'has no assistant at first, and goes on (then it is %s)',
		async (status) => {
			const ids = await ended();
			Object.assign(fixture.sandbox.store.runs.at(-1) ?? {}, { status });
			const record = { run_id: ids.runId, thread_id: ids.threadId, assistant_id: null };
			const body = { ...record, status: 'running', created_at: '2026-11-25T12:00:00.000Z' };
			add(answering('run', 200, { nth: 1, body }));
			expect((await read(ids)).json).toMatchObject({ ...RUNNING, ...ids });
		},
	);
});

describe('a run that has ended', () => {
	it.each([
		['by its stream', false],
		['without its stream', true],
	])('says what it said, or why it failed, %s', async (_, isGone) => {
		const ids = await ended();
		// Another conversation on the thread, which has no messages.
		fixture.sandbox.store.putConversation({ threadId: ids.threadId, updatedAt: '2026-01-01' });
		if (isGone) fixture.sandbox.expireStream(ids.runId);
		const { json } = await read(ids);
		expect(json).toMatchObject({ ...ANSWERED, ...ids });
		add({ endpoint: 'runs', nth: 1, do: 'run', outcome: 'fail', error: 'No' });
		const failing = await ended();
		if (isGone) fixture.sandbox.expireStream(failing.runId);
		const { error, details } = await read(failing);
		expect([error, details]).toEqual(['The run failed: No', expect.objectContaining(failing)]);
		expect(details).not.toHaveProperty('request');
		expect([sent('join').length, sent('E15').length]).toEqual([2, 0]);
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
		expect((await read(await running)).json).toMatchObject(ANSWERED);
	});

	it('was a rejection, also where its stream is gone', async () => {
		const ids = await ended(`${INTERRUPTING_INPUT} first`);
		await call(decide({ decision: 'reject' }), '', ids.threadId);
		fixture.sandbox.expireStream(ids.runId);
		const expected = { output: 'This was rejected, and not carried out.', rejected: true };
		expect((await read(ids)).json).toMatchObject(expected);
	});

	it('may have said nothing, which is no rejection', async () => {
		add({ endpoint: 'runs', nth: 1, do: 'run', outcome: 'empty' });
		const ids = await ended();
		for (const fault of [answering('E15', 403), answering('E15', 403)]) {
			const { json } = await read(ids);
			expect(json).toMatchObject({ output: '', status: 'completed' });
			expect(json).not.toHaveProperty('rejected');
			add(fault);
		}
	});

	it('is told by its stream where its message is not shown, and unknown where that is gone', async () => {
		const ids = await ended();
		add(answering('getMessages', 201, { body: { items: [] } }));
		expect((await read(ids)).json).toMatchObject(ANSWERED);
		fixture.sandbox.expireStream(ids.runId);
		expect((await read(ids)).error).toBe(NO_ANSWER);
	});

	it('failed for the reason of the conversation where its own message and stream are gone', async () => {
		const failing: FaultRule = { endpoint: 'runs', do: 'run', outcome: 'fail' };
		add({ ...failing, nth: 1, error: 'No' }, { ...failing, nth: 2, error: 'Another reason' });
		const ids = await ended();
		add(answering('getMessages', 201, { body: { items: [] } }));
		fixture.sandbox.expireStream(ids.runId);
		expect((await read(ids)).error).toBe('The run failed: No');
		await ended('later', ids.threadId);
		expect((await read(ids)).error).toBe('The run failed: the server gave no reason');
	});

	it('still runs while its message is being stored', async () => {
		const ids = await ended();
		const message = { role: 'ai', executionId: ids.runId, status: 'thinking', content: '' };
		const body = { items: [message] };
		const storing = answering('getMessages', 201, { body });
		add({ ...storing, nth: 1 });
		expect((await read(ids)).json).toMatchObject(ANSWERED);
		fixture.sandbox.faults.clear();
		add({ ...storing, times: 2 }, { ...answering('join', 502), nth: 1 });
		expect((await read(ids, 'waitForRun')).json).toMatchObject(ANSWERED);
		fixture.sandbox.faults.clear();
		add(storing);
		expect((await read(ids)).json).toMatchObject(RUNNING);
	});

	it.each([
		['E5', 'ours'],
		['getMessages', 'ours'],
		['listRuns', `${INTERRUPTING_INPUT} first`],
	])('is not known where %s cannot be read', async (endpoint, message) => {
		const ids = await ended(message);
		add(answering(endpoint, 403));
		expect((await read(ids)).error).toBe('This key may not do this: no (HTTP 403)');
	});
});

describe('an answer that is not on its thread', () => {
	const at = (second: number) => Date.parse('2026-11-25T12:00:00Z') + second * 1_000;

	/** A run, and another whose times are these. */
	async function beside(began = 10, updated = 20, status = 'success') {
		const ids = await ended();
		await ended('ours', ids.threadId);
		const [own = {}, other = {}] = fixture.sandbox.store.runs.slice(-2);
		Object.assign(own, { startedAt: at(10), updatedAt: at(20) });
		Object.assign(other, { startedAt: at(began), updatedAt: at(updated), status });
		return ids;
	}

	it.each([
		['ended before it began', 0, 9, 'success', false],
		['ended as it began', 0, 10, 'success', true],
		['began as it ended', 20, 30, 'success', true],
		['began after it', 21, 30, 'success', false],
		['began before it and goes on', 0, 5, 'running', true],
		['began after it and goes on', 21, 21, 'running', false],
	])(
		'was overwritten only by a run of the same time: %s',
		async (_, began, updated, status, isLost) => {
			const ids = await beside(began, updated, status);
			fixture.sandbox.store.threads.get(ids.threadId)?.messages.splice(0, 2);
			const body = { thread_id: ids.threadId, status: 'busy' };
			add(answering('E15', 200, { nth: [1, 2], body }));
			const { json } = await read(ids);
			expect(json).toMatchObject(ANSWERED);
			expect(json?.remembered).toBe(isLost ? false : undefined);
		},
	);

	it.each<[string, number | undefined, number, string, object]>([
		['comes onto it late', 1, 200, 'idle', {}],
		['cannot be looked for', undefined, 403, 'busy', {}],
		['may yet come onto it', undefined, 200, 'busy', { deadlineMinutes: 0.01 }],
	])('but %s is not called lost', async (_, nth, status, stands, options) => {
		const ids = await beside();
		const body = { thread_id: ids.threadId, status: stands, values: { messages: [] } };
		add({ endpoint: 'E15', do: 'status', status, body, ...(nth && { nth }) });
		const { json } = await read(ids, 'waitForRun', { ...options });
		expect(json).toMatchObject(ANSWERED);
		expect(json).not.toHaveProperty('remembered');
	});
});

describe('a run that was interrupted', () => {
	it('waits for a person while it is the last; after that, what became of it is not known', async () => {
		const ids = await ended(`${INTERRUPTING_INPUT} first`);
		expect((await read(ids)).json).toMatchObject({ status: 'interrupted', interrupt: [{}] });
		await ended('next', ids.threadId);
		expect((await read(ids)).error).toBe(GONE_ON);
	});

	/** Until it has stored the end of a run, the server shows its conversation as busy. */
	const storesLate = ({ threadId }: Ids, more = {}): FaultRule => {
		const { id } = fixture.sandbox.store.conversationOf(threadId) ?? {};
		const body = { items: [{ id, threadId, status: 'busy', operation: null }], total: 1 };
		return answering('E5', 201, { body, ...more });
	};

	it.each([...EVERY, 'waitForRun without its stream'])(
		'waits for a person also while its conversation does not say so yet (%s)',
		async (row) => {
			const ids = await ended(`${INTERRUPTING_INPUT} first`);
			const [operation = ''] = row.split(' ');
			// The stream of the run tells at once; without it, the conversation is asked again.
			if (row === operation) add(storesLate(ids));
			else add(storesLate(ids, { times: 2 }), answering('join', 502));
			const { json } = await read(ids, operation);
			expect(json).toMatchObject({ status: 'interrupted', ...ids });
			if (operation === 'cancelRun') expect(json).toMatchObject({ cancelled: false });
			else expect(json).toMatchObject({ interrupt: [{ tool: 'subagent' }] });
		},
	);

	it('is running, and not cancelled, while its conversation contradicts it and its stream is gone', async () => {
		const ids = await ended(`${INTERRUPTING_INPUT} first`);
		add(storesLate(ids), answering('join', 502));
		expect((await read(ids)).json).toMatchObject(RUNNING);
		const { error, details } = await read(ids, 'waitForRun', { deadlineMinutes: 1 });
		expect([error, details.status]).toEqual([
			'The run was still going on when the deadline came',
			'timedOut',
		]);
	});

	/** The stream of a run that was cancelled before its first words, while another run goes on in its conversation. */
	const empty = () => {
		const events = [
			{ type: 'event', event: 'on_conversation_start', data: {} },
			{ type: 'event', event: 'on_conversation_end', data: { status: 'idle' } },
			{ type: 'complete' },
		];
		const body = events.map((one, n) => `id: 1-${n}\ndata: ${JSON.stringify(one)}\n\n`).join('');
		return answering('join', 200, { body, contentType: 'text/event-stream' });
	};

	it('was cancelled, though its replay is empty and its conversation idle', async () => {
		const ids = await ended();
		Object.assign(fixture.sandbox.store.runs.at(-1) ?? {}, { status: 'interrupted' });
		add(empty());
		for (const operation of ['getRun', 'waitForRun'])
			expect((await read(ids, operation)).error).toMatch(/^The run was cancelled on the server/);
		expect((await read(ids, 'cancelRun')).json).toMatchObject({ status: 'failed' });
	});

	it('is cancelled by Cancel Run, though its replay is empty and its conversation idle', async () => {
		const ids = await started('ours', '', 60_000);
		add(empty());
		expect((await read(ids, 'cancelRun')).json).toMatchObject({ cancelled: true });
	});

	it('was cancelled: its stream says so also when others have run since', async () => {
		add({ endpoint: 'runs', nth: 1, do: 'run', ms: 60_000 });
		const running = ended();
		await clock.until(() => sent('join').length > 0);
		const { id: runId, threadId } = fixture.sandbox.store.runs.at(-1) ?? { id: '', threadId: '' };
		const ids = { threadId, runId };
		await post(fixture.sandbox, `threads/${threadId}/runs/${runId}/cancel`);
		await running;
		expect((await read(ids)).error).toBe(CANCELLED);
		// As where the conversation is another owner's.
		add(answering('E5', 201, { body: { items: [] } }));
		expect((await read(ids)).error).toBe(CANCELLED);
		fixture.sandbox.faults.clear();
		await ended('next', threadId);
		expect((await read(ids)).error).toBe(CANCELLED);
		fixture.sandbox.expireStream(runId);
		expect((await read(ids)).error).toBe(GONE_ON);
	});

	it('has an answer where it had ended before somebody cancelled it', async () => {
		const ids = await ended();
		await post(fixture.sandbox, `threads/${ids.threadId}/runs/${ids.runId}/cancel`);
		expect((await read(ids)).json).toMatchObject(ANSWERED);
		fixture.sandbox.expireStream(ids.runId);
		expect((await read(ids)).error).toContain('The run was cancelled on the server');
	});
});

describe('Cancel Run', () => {
	it.each<[string, FaultRule[]]>([
		['ends it', []],
		['ends it also when the answer is lost', [{ endpoint: 'cancel', do: 'drop', when: 'after' }]],
	])('%s, and says so', async (_, faults) => {
		const ids = await started('ours', '', 60_000);
		add(...faults);
		const cancelled = { cancelled: true, status: 'cancelled' };
		expect((await read(ids, 'cancelRun')).json).toMatchObject({ ...cancelled, ...ids });
		expect((await read(ids)).error).toBe(CANCELLED);
		expect(sent('cancel')).toHaveLength(1);
	});

	it('leaves it where it has ended: the server would make a cancelled run of it', async () => {
		const ids = await ended();
		const json = { cancelled: false, status: 'completed', ...ids };
		expect((await read(ids, 'cancelRun')).json).toMatchObject(json);
		expect(sent('cancel')).toEqual([]);
		expect((await read(ids)).json).toMatchObject(ANSWERED);
	});
});

describe('a run that nobody waits for any more', () => {
	const LATE = { deadlineMinutes: 0.01, whenGivenUp: 'cancel' };
	const asks = () => ask({ threadSource: 'new', options: LATE });
	const waitsForIt = () => {
		const { busyThreadId: threadId, busyRunId: runId } = fixture.world;
		return by('waitForRun', { threadId, runId }, LATE);
	};

	const CANCELLED_LATE =
		'It was cancelled on the server. Raise "Deadline (Minutes)" if it needs longer.';
	const HAD_ENDED = 'It had ended by then: read the thread.';
	const GOES_ON = /It could not be cancelled, and goes on: .*no/;
	const endsThen = [lasts(1_700), delaying('run', 1_200, { nth: 2 })];
	const isRefused = [lasts(60_000), answering('cancel', 403)];

	it.each<[string, FaultRule[], () => INodeParameters, string | RegExp, string]>([
		['is cancelled at the deadline', [lasts(60_000)], asks, CANCELLED_LATE, 'interrupted'],
		['is cancelled by Wait for Run', [], waitsForIt, CANCELLED_LATE, 'interrupted'],
		['may have ended by then', endsThen, asks, HAD_ENDED, 'success'],
		['stays where the server refuses', isRefused, asks, GOES_ON, 'running'],
	])('%s, which is said', async (_, faults, parameters, words, status) => {
		add(...faults);
		const { error, details } = await call(parameters());
		expect(error).toBe('The run was still going on when the deadline came');
		expect(details.description).toMatch(words);
		const run = fixture.sandbox.store.runs.find(({ id }) => id === details.runId);
		expect(run?.status).toBe(status);
	});

	it('of others is never cancelled', async () => {
		const { threadId: thread } = await ended();
		add({ endpoint: 'E4', do: 'run', ms: 60_000 });
		await occupy(fixture.sandbox, thread, message('other'));
		const { error, details } = await call(ask({ options: LATE }), 'ours', thread);
		expect(error).toMatch(/^Another run was still active on the thread \(/);
		expect(details.description).not.toContain('cancelled');
		expect(sent('cancel')).toEqual([]);
	});
});

describe('Start Run', () => {
	const START = ask({ operation: 'start', threadSource: 'new' });

	it('begins a run and goes on at once, with what the other operations need', async () => {
		add({ endpoint: 'runs', do: 'run', ms: 60_000 });
		const { json } = await call(START);
		const [run] = stored(json?.threadId);
		expect(json).toEqual({
			runId: run?.id,
			threadId: run?.threadId,
			conversationId: fixture.sandbox.store.conversationOf(String(run?.threadId))?.id,
			status: 'running',
		});
	});

	it('asked by the server to wait, waits for 40 s, not less, and begins once', async () => {
		add(answering('runs', 429, { nth: 1, headers: { 'retry-after': '40' } }));
		expect((await call(START)).json).toMatchObject({ status: 'running' });
		const [first, second, ...more] = sent('runs').map(({ arrivedAt }) => arrivedAt);
		expect(Math.floor((Number(second) - Number(first)) / 1_000)).toBe(40);
		expect(more).toEqual([]);
	});

	it('says so of a server that starts none in the background', async () => {
		const body = { statusCode: 404, message: 'Cannot POST /api/ai/threads/x/runs' };
		add(answering('runs', 404, { body }));
		expect((await call(START)).error).toBe('This server starts no runs in the background');
	});
});
