import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, type FaultRule } from 'sandbox';
import { clock } from './support/clock';
import { AN_HOUR, measureWaiting } from './support/fixture';
import { byId } from './support/locators';
import {
	again,
	answering,
	arrivals,
	ask,
	delaying,
	lasting,
	losing,
	message,
	occupy,
	onOthers,
	onThread,
	saidOn,
	says,
	useRuns,
} from './support/runs';

const { fixture, call, add, sent, stored, newThread } = useRuns();

const ON_ITS_OWN = { threadSource: 'new' };
const ANSWERED = { output: 'Echo: ours', status: 'completed' };
const GOES_ON = 'The run was still going on when the deadline came';
const BROKEN = losing('join', 'before', { nth: 1 });
const STORED = { items: [{ role: 'ai', content: 'Stored' }] };
const MISSING = { statusCode: 404, message: 'The requested record was not found' };

const asked = async (options: INodeParameters = {}) => await call(ask({ ...ON_ITS_OWN, options }));

async function started(thread = '', words = 'ours') {
	const on = thread ? {} : ON_ITS_OWN;
	const { json } = await call(ask({ operation: 'start', ...on }), words, thread);
	return { threadId: String(json?.threadId), runId: String(json?.runId) };
}

const byNumber = async (
	operation: string,
	{ threadId = '', runId = '' },
	options: INodeParameters = {},
) => await call({ resource: 'thread', operation, threadId: byId(threadId), runId, options });

describe('a run that was started', () => {
	const status = (code: number) => `its record answers ${code} once`;

	it.each<[string, FaultRule[]]>([
		['its stream breaks', [BROKEN]],
		[status(500), [BROKEN, answering('run', 500, { nth: 1 })]],
		[status(403), [BROKEN, answering('run', 403, { nth: 1 })]],
		[status(404), [BROKEN, answering('run', 404, { nth: 1, body: MISSING })]],
		['its stream is refused', [answering('join', 403), lasting(300)]],
		['its stream stays silent', [lasting(300), delaying('join', AN_HOUR)]],
		['its stream speaks as it is given up', [delaying('join', 10_500)]],
	])('comes out as the server has it where %s', async (_, faults) => {
		add(...faults);
		const startedAt = clock.now();
		expect((await asked()).json).toMatchObject(ANSWERED);
		// Left to itself, a silent stream is given up after 75 seconds.
		expect(clock.now() - startedAt).toBeLessThan(60_000);
		expect(sent('runs')).toHaveLength(1);
	});

	it.each<[string, FaultRule, string]>([
		['which has words', answering('getMessages', 201, { body: STORED }), 'Stored'],
		['which has none', delaying('getMessages', 0), ''],
	])('is not believed to have said nothing without its message, %s', async (_, fault, output) => {
		add({ endpoint: 'runs', do: 'run', outcome: 'empty' }, fault);
		expect((await asked()).json).toMatchObject({ output, status: 'completed' });
		expect(sent('getMessages')).toHaveLength(1);
	});

	it.each([
		['is left', 'leave', false, 'running'],
		['is cancelled', 'cancel', false, 'interrupted'],
		['is cancelled, though it could never be read', 'cancel', true, 'interrupted'],
	])(
		'and can be read nowhere until the deadline is timed out, with its ID, and %s',
		async (_, whenGivenUp, isUnread, status) => {
			add(lasting(AN_HOUR), answering('join', 502), answering('run', 500));
			const waited = measureWaiting();
			const asking = asked({ deadlineMinutes: 2, whenGivenUp });
			await clock.until(() => waited() > 118_000);
			if (!isUnread) fixture.sandbox.faults.clear();
			const { error, details } = await asking;
			const [run] = fixture.sandbox.store.runs.slice(-1);
			expect([error, details.status, details.runId]).toEqual([GOES_ON, 'timedOut', run?.id]);
			if (status === 'interrupted')
				expect(details.description).toContain('It was cancelled on the server.');
			expect(run?.status).toBe(status);
			expect(sent('join').length).toBeLessThan(20);
		},
	);

	it('and can be read nowhere says that it is not known whether it was cancelled, where that is not', async () => {
		add(lasting(AN_HOUR), answering('join', 502), answering('run', 500));
		add(answering('cancel', 500));
		const { error, details } = await asked({ deadlineMinutes: 2, whenGivenUp: 'cancel' });
		expect([error, details.status]).toEqual([GOES_ON, 'timedOut']);
		expect(details.description).toMatch(
			/It is not known whether it was cancelled, or goes on: .*500/,
		);
		expect(sent('cancel')).toHaveLength(1);
	});

	it.each([
		['on an existing thread', false],
		['in a new conversation', true],
	])('%s and takes place elsewhere is followed there', async (_, isNew) => {
		const elsewhere = await started('', 'elsewhere');
		await byNumber('waitForRun', elsewhere);
		const thread = await newThread();
		const record = { run_id: elsewhere.runId, assistant_id: null, status: 'running' };
		const body = { ...record, thread_id: elsewhere.threadId };
		add(answering('runs', 201, { nth: 1, body }));
		const { json } = await call(isNew ? ask(ON_ITS_OWN) : ask(), 'ours', thread);
		expect(json).toMatchObject({ output: 'Echo: elsewhere', remembered: false, ...elsewhere });
	});

	it('on an existing thread names its conversation', async () => {
		const thread = await newThread();
		const { json } = await call(ask({ operation: 'start' }), 'ours', thread);
		const conversationId = fixture.sandbox.store.conversationOf(thread)?.id;
		expect(json).toMatchObject({ threadId: thread, conversationId, status: 'running' });
	});
});

describe('a run by its ID', () => {
	const LATER = { nth: range(5, 1_000) };

	it('fails at once where it was never read: the ID may be wrong', async () => {
		const { busyThreadId: threadId, busyRunId: runId } = fixture.world;
		add(answering('run', 403));
		expect((await byNumber('waitForRun', { threadId, runId })).error).toBe(
			'This key may not do this: no (HTTP 403)',
		);
		expect(sent('join')).toEqual([]);
	});

	it.each<[string, FaultRule[], string, string]>([
		[
			'a minute where it never could',
			[answering('run', 503)],
			'failed',
			'The server answered 503: no',
		],
		['the deadline where it was there', [answering('run', 503, LATER)], 'timedOut', GOES_ON],
	])('that cannot be read is given up after %s', async (_, faults, status, words) => {
		const waited = measureWaiting();
		const { busyThreadId: threadId, busyRunId: runId } = fixture.world;
		add(answering('join', 502), ...faults);
		const { error, details } = await byNumber(
			'waitForRun',
			{ threadId, runId },
			{ deadlineMinutes: 5 },
		);
		expect([error, details.status]).toEqual([words, status]);
		expect(waited() / 60_000).toBeCloseTo(status === 'failed' ? 1.3 : 5, 0);
		expect(sent('join').length).toBeLessThan(30);
	});

	it('is not given up while its conversation cannot be read for minutes: its record was', async () => {
		const named = await started();
		add(answering('join', 502), answering('E5', 503, { nth: range(1, 31) }));
		const { json } = await byNumber('waitForRun', named, { deadlineMinutes: 10 });
		expect(json).toMatchObject(ANSWERED);
	});

	const shows = (runId: string, status: string, more = {}): FaultRule => {
		const body = { run_id: runId, assistant_id: ECHO_ASSISTANT_ID, status };
		return { endpoint: 'run', do: 'status', status: 200, body, ...more };
	};

	it.each(['pending', 'a word nobody knows'])('goes on while it is %s', async (status) => {
		const named = await started();
		await byNumber('waitForRun', named);
		add(shows(named.runId, status, { nth: [1, 2] }));
		expect((await byNumber('getRun', named)).json).toMatchObject({ status: 'running' });
		expect((await byNumber('waitForRun', named)).json).toMatchObject(ANSWERED);
	});

	it('has failed with a timeout of the server', async () => {
		const named = await started();
		add(shows(named.runId, 'timeout'));
		const { error } = await byNumber('waitForRun', named);
		expect(error).toBe('The run failed: it took longer than the server allows');
	});
});

describe("a thread with a run of somebody else's", () => {
	it.each([
		['that is pending is busy', 'pending', ECHO_ASSISTANT_ID, true],
		['that is pending without an assistant is free', 'pending', null, false],
		['that took too long is free', 'timeout', ECHO_ASSISTANT_ID, false],
		['with a status nobody knows is free', 'a word nobody knows', ECHO_ASSISTANT_ID, false],
	])('%s', async (_, status, assistant_id, isBusy) => {
		const thread = await newThread();
		const theirs = {
			run_id: 'theirs',
			assistant_id,
			status,
			created_at: '2020-01-01T00:00:00.000Z',
		};
		add(answering('listRuns', 200, { nth: 1, body: [theirs] }));
		const { json, error } = await call(ask({ tuning: { whenBusy: 'fail' } }), 'ours', thread);
		if (isBusy) expect(error).toMatch(/^Another run is active on this thread \(theirs, since/);
		else expect(json).toMatchObject(ANSWERED);
	});
});

describe('an end with a task', () => {
	/** The stream of a run that ends `interrupted` with a task. */
	const ends = (task: object): FaultRule => {
		const events = [
			{ type: 'event', event: 'on_conversation_start', data: {} },
			{ type: 'event', event: 'on_agent_start', data: { agentKey: 'Agent' } },
			{ type: 'message', data: { type: 'text', id: 'a', agentKey: 'Agent', text: 'The answer' } },
			{
				type: 'event',
				event: 'on_conversation_end',
				data: { status: 'interrupted', operation: { tasks: [task] } },
			},
			{ type: 'complete' },
		];
		const body = events.map((one, n) => `id: 1-${n}\ndata: ${JSON.stringify(one)}\n\n`).join('');
		return answering('join', 200, { body, contentType: 'text/event-stream' });
	};

	const LEFT_OVER = { id: 't', name: '__start__', path: ['__pregel_pull', '__start__'] };

	it.each([
		['that is left over has its answer', LEFT_OVER, { output: 'The answer', status: 'completed' }],
		['without a call waits for a person', { id: 't', name: 'tool' }, { status: 'interrupted' }],
		['of that name that waits does so, too', { ...LEFT_OVER, path: [] }, { status: 'interrupted' }],
	])('%s', async (_, task, expected) => {
		add(ends(task));
		expect((await asked()).json).toMatchObject(expected);
	});

	/** Ours, beside a run of somebody else that takes no turns. */
	async function beside(outcome: 'overtaken' | 'interrupt') {
		const thread = await newThread();
		add(
			onOthers(thread, { do: 'run', ms: 5_000 }),
			onThread(thread, { do: 'run', ms: 500, outcome }),
		);
		await occupy(fixture.sandbox, thread, message('theirs'));
		return await call(ask({ tuning: { whenBusy: 'run' } }), 'ours', thread);
	}

	it('of its own step, beside another run, is no wait: the answer comes when both have ended', async () => {
		const { json } = await beside('overtaken');
		expect(json).toMatchObject(ANSWERED);
		const theirs = fixture.sandbox.store.runs.at(-2);
		expect(theirs?.status).toBe('success');
	});

	it('that another run has ended meanwhile is no wait', async () => {
		const { error } = await beside('interrupt');
		expect(error).toBe('The run was cancelled, or the thread has gone on without a decision');
	});

	it('in a stream without words of a cancelled run is no answer', async () => {
		const events = [
			{ type: 'event', event: 'on_conversation_start', data: {} },
			{ type: 'event', event: 'on_conversation_end', data: { status: 'idle' } },
			{ type: 'complete' },
		];
		const body = events.map((one, n) => `id: 1-${n}\ndata: ${JSON.stringify(one)}\n\n`).join('');
		add(answering('join', 200, { body, contentType: 'text/event-stream' }), lasting(AN_HOUR));
		const asking = asked({ deadlineMinutes: 5 });
		await clock.until(() => sent('join').length > 0);
		fixture.sandbox.cancelRuns(fixture.sandbox.store.runs.at(-1)?.threadId ?? '');
		expect((await asking).error).toMatch(/^The run was cancelled on the server/);
	});

	it('that is left over is nothing to decide', async () => {
		const { threadId } = await started();
		await clock.settled();
		Object.assign(fixture.sandbox.store.runs.at(-1) ?? {}, { status: 'interrupted' });
		Object.assign(fixture.sandbox.store.conversationOf(threadId) ?? {}, {
			operation: { tasks: [LEFT_OVER] },
		});
		const { error } = await call({
			resource: 'thread',
			operation: 'decide',
			threadId: byId(threadId),
			decision: 'confirm',
		});
		expect(error).toBe('Nothing on this thread waits for a decision');
	});
});

describe('a start', () => {
	const gateway = (status: number): FaultRule => ({
		do: 'status',
		when: 'after',
		status,
		body: '<h1>Gateway</h1>',
		contentType: 'text/html',
	});
	const slow = (fault: FaultRule) => [lasting(700), fault];
	const waits = (status: number, seconds: string, times: number): FaultRule => ({
		do: 'status',
		status,
		body: 'slow',
		headers: { 'retry-after': seconds },
		times,
	});
	const LOST = /^It is not known whether the message has reached /;

	const broken: FaultRule = { do: 'drop', when: 'after' };
	const failing: FaultRule = { do: 'run', ms: 400, outcome: 'fail', error: 'Late' };
	const asking: FaultRule = { do: 'run', outcome: 'interrupt' };
	const waiting = { status: 'interrupted' };

	it.each<[string, FaultRule[], object | RegExp, number?]>([
		['whose connection is reset', slow({ ...broken, reset: true }), ANSWERED],
		['whose connection closes', [broken], ANSWERED],
		['whose answer is cut off', [{ do: 'truncate', bytes: 9 }], ANSWERED],
		...[502, 503, 504, 520, 522, 524, 529, 530].map((code): [string, FaultRule[], object] => [
			`that a ${code} answers`,
			slow(gateway(code)),
			ANSWERED,
		]),
		['whose run fails unheard', [failing, broken], /^The run failed: Late$/],
		['whose run asks a person unheard', [asking, broken], waiting],
		['that is lost unread', [{ do: 'drop', when: 'unread' }], LOST],
		['that is lost', [{ do: 'drop', when: 'before' }], LOST],
		['that a bare 503 answers', [{ do: 'status', status: 503, body: 'down' }], LOST],
		['that is to come later (429)', [waits(429, '0', 2)], ANSWERED, 3],
		['that is to come later (503)', [waits(503, '1', 1)], ANSWERED, 2],
	])('%s is made once, and told', async (_, faults, expected, tries = 1) => {
		const thread = await newThread();
		add(...faults.map((fault) => onThread(thread, fault)));
		const { json, error, details } = await call(ask(), 'ours', thread);
		expect(arrivals(fixture.sandbox, thread)).toBe(tries);
		expect(saidOn(fixture.sandbox, thread)).toEqual(expected === LOST ? [] : ['ours']);
		if (!(expected instanceof RegExp)) return expect(json).toMatchObject(expected);
		expect(error).toMatch(expected);
		expect(details).toMatchObject({ threadId: thread, status: 'failed' });
	});

	it('that is lost in a conversation of its own is told by the list, also where others come', async () => {
		const { sandbox } = fixture;
		add(lasting(700, { nth: 1 }), losing('runs', 'after', { nth: 1 }));
		const asking = asked();
		await clock.until(() => sent('runs').length > 0);
		await clock.settled();
		const ours = sandbox.store.runs.at(-1);
		add({ endpoint: 'E4', do: 'run', ms: 1_500, nth: 1 });
		await occupy(sandbox, ours?.threadId ?? '', message('Theirs'));
		expect((await asking).json).toMatchObject({ ...ANSWERED, runId: ours?.id });
		expect(sent('runs')).toHaveLength(1);
	});

	it('is reported soon when nothing listens', async () => {
		const { error } = await fixture.run(ask({ options: { deadlineMinutes: 2 } }), {
			items: [says('t', 'Hi')],
			credential: { baseUrl: 'http://127.0.0.1:9' },
		});
		expect(error?.message).toContain('nothing accepts connections');
		expect(error?.description).not.toContain('Thread:');
	});
});

describe('a message that is answered again', () => {
	it('has its new answer when its start is lost, once', async () => {
		const thread = await newThread();
		await call(ask(), 'ours', thread);
		const before = fixture.sandbox.store.threads.get(thread)?.messages.at(-1);
		// A question is stored some moments before the message of its answer (recorded).
		const question = fixture.sandbox.store.messages.findLast(({ role }) => role === 'human');
		Object.assign(question ?? {}, { createdAt: new Date(clock.now() - 1_000).toISOString() });
		add(lasting(700, { nth: 1 }), losing('runs', 'after', { nth: 1 }));
		const { json } = await call(again(), '', thread);
		expect(json).toMatchObject(ANSWERED);
		const messages = fixture.sandbox.store.threads.get(thread)?.messages ?? [];
		expect(messages.map(({ from }) => from)).toEqual(['person', 'assistant']);
		expect(messages[1]).not.toEqual(before);
	});

	it('does not come out with the answer to somebody who asked the same meanwhile', async () => {
		const thread = await newThread();
		await call(ask(), 'ours', thread);
		add(onOthers(thread, { do: 'run', ms: 700 }), { ...BROKEN, endpoint: 'runs' });
		await occupy(fixture.sandbox, thread, message('ours'));
		const { error } = await call(again({ tuning: { whenBusy: 'run' } }), '', thread);
		expect(error).toMatch(/^It is not known whether the request has reached/);
		expect(stored(thread)).toHaveLength(2);
	});
});
