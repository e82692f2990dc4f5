import {
	BROKEN_ASSISTANT_ID,
	DEFAULT_ASSISTANTS,
	ECHO_ASSISTANT_ID,
	FakeClock,
	INTERRUPTING_ASSISTANT,
	INTERRUPTING_INPUT,
	SAYING_ASSISTANT,
	type FaultRule,
} from '../../sandbox';
import { codeOf, conversationOf, newThread, runOn, say, viewOf } from './support/client';
import { useFreshSandbox } from './support/useSandbox';

const MINUTE = 60_000;
const SLOW_ASSISTANT_ID = 'd0000000-0000-4000-8000-000000000009';

let clock: FakeClock;
const { sandbox, client } = useFreshSandbox(() => {
	clock = new FakeClock();
	const slow = { id: SLOW_ASSISTANT_ID, name: 'slow', answers: 'echo', runMs: 7 * MINUTE } as const;
	const own = [INTERRUPTING_ASSISTANT, SAYING_ASSISTANT, slow];
	return { clock, assistants: [...DEFAULT_ASSISTANTS, ...own] };
});
let thread: string;

beforeEach(async () => void (thread = await newThread(client)));

const contents = async () => (await viewOf(client, thread)).values.messages.map((m) => m.content);
const conversation = () => conversationOf(client, thread);
const resume = (decision: object) =>
	client.post<{ content: string }>(`/api/ai/threads/${thread}/runs/wait`, {
		assistant_id: INTERRUPTING_ASSISTANT.id,
		input: { action: 'resume', target: {}, decision },
	});

describe('how long a run takes', () => {
	it('is said by the assistant, or for one run by a fault; E15 shows busy meanwhile', async () => {
		sandbox.faults.add({ endpoint: 'E4', nth: 2, do: 'run', ms: 20 * MINUTE });
		for (const minutes of [7, 20]) {
			const answer = runOn(client, thread, `for ${minutes}`, SLOW_ASSISTANT_ID);
			await clock.untilSleeping();
			await clock.advance(minutes * MINUTE - 301);
			expect((await viewOf(client, thread)).status).toBe('busy');
			expect(await contents()).not.toContain(`for ${minutes}`);
			// The answer is there before the thread says so (`background` "from success to idle").
			await clock.advance(300);
			expect((await viewOf(client, thread)).status).toBe('busy');
			expect(await contents()).toContain(`Echo: for ${minutes}`);
			await clock.advance(1);
			expect((await answer).data.content).toBe(`Echo: for ${minutes}`);
			expect((await viewOf(client, thread)).status).toBe('idle');
		}
		expect(sandbox.store.runs.map(({ startedAt, endedAt = 0 }) => endedAt - startedAt)).toEqual([
			7 * MINUTE,
			20 * MINUTE,
		]);
	});

	it.each<[string, FaultRule]>([
		['dropped', { do: 'drop', when: 'during', ms: MINUTE }],
		['reset', { do: 'drop', when: 'during', ms: MINUTE, reset: true }],
	])('does not change when the connection is %s', async (_how, fault) => {
		sandbox.faults.add({ ...fault, endpoint: 'E4' });
		const answer = codeOf(runOn(client, thread, 'hello', SLOW_ASSISTANT_ID));
		await clock.untilSleeping(2);
		await clock.advance(MINUTE);
		expect(await answer).toBe('ECONNRESET');
		expect((await viewOf(client, thread)).status).toBe('busy');
		await clock.advance(6 * MINUTE);
		expect(await contents()).toEqual(['hello', 'Echo: hello']);
		expect(sandbox.requests.of('E4')[0]?.status).toBeUndefined();
	});

	it.each([502, 504, 524])('does not change when a gateway answers %d', async (status) => {
		const gateway = { status, body: '<h1>Gateway</h1>', contentType: 'text/html' };
		sandbox.faults.add({ endpoint: 'E4', do: 'status', when: 'during', ms: MINUTE, ...gateway });
		const answer = runOn(client, thread, 'hello', SLOW_ASSISTANT_ID);
		await clock.untilSleeping(2);
		await clock.advance(MINUTE);
		expect(await answer).toEqual({ status, data: '<h1>Gateway</h1>' });
		expect((await viewOf(client, thread)).status).toBe('busy');
		await clock.advance(6 * MINUTE);
		expect((await viewOf(client, thread)).status).toBe('idle');
		expect(sandbox.store.runs).toHaveLength(1);
	});

	it('is not cut by a gateway with enough patience', async () => {
		sandbox.faults.add({ endpoint: 'E4', do: 'status', when: 'during', ms: MINUTE, status: 504 });
		expect((await runOn(client, thread, 'hello')).status).toBe(201);
	});
});

describe('two runs at once on one thread', () => {
	it('leave only the messages of the last to end', async () => {
		await runOn(client, thread, 'first');
		sandbox.faults.add({ endpoint: 'E4', nth: 1, do: 'run', ms: 2000 });
		sandbox.faults.add({ endpoint: 'E4', nth: 2, do: 'run', ms: 1000 });
		const long = runOn(client, thread, 'long');
		await clock.untilSleeping(1);
		const short = runOn(client, thread, 'short');
		await clock.untilSleeping(2);
		await clock.advance(1000);
		expect((await short).data.content).toBe('Echo: short');
		// Whoever ends says how the thread stands, whatever still runs (`background` "when the second has ended").
		expect((await viewOf(client, thread)).status).toBe('idle');
		await clock.advance(1000);
		expect((await long).data.content).toBe('Echo: long');
		expect(await contents()).toEqual(['first', 'Echo: first', 'long', 'Echo: long']);
		const lost = sandbox.store.threads.get(thread)?.lost ?? [];
		expect(lost.map(({ content }) => content)).toEqual(['short', 'Echo: short']);
		expect(sandbox.store.runs).toHaveLength(3);
	});
});

describe('a run that fails', () => {
	it('answers 201 with nothing; the conversation and the thread tell', async () => {
		sandbox.faults.add({ endpoint: 'E4', do: 'run', outcome: 'fail', error: 'Quota exceeded' });
		expect(await runOn(client, thread, 'hello')).toEqual({
			status: 201,
			data: { role: 'ai', content: '' },
		});
		expect(await conversation()).toMatchObject({ status: 'error', error: 'Quota exceeded' });
		expect(await viewOf(client, thread)).toMatchObject({
			status: 'error',
			values: { input: 'hello', messages: [] },
		});
		sandbox.faults.clear();
		await runOn(client, thread, 'hello', ECHO_ASSISTANT_ID);
		expect(await conversation()).toMatchObject({ status: 'idle', error: null });
	});

	it('can also answer with nothing and no reason', async () => {
		sandbox.faults.add({ endpoint: 'E4', do: 'run', outcome: 'empty' });
		expect((await runOn(client, thread, 'hello')).data.content).toBe('');
		expect(await conversation()).toMatchObject({ status: 'idle', error: null });
	});

	it('fails always with a broken assistant', async () => {
		await runOn(client, thread, 'hello', BROKEN_ASSISTANT_ID);
		expect(await conversation()).toMatchObject({ error: 'No model for "broken"' });
	});
});

describe('a run that asks a person', () => {
	it('answers with nothing; the thread waits, and the conversation says for what', async () => {
		const { status, data } = await runOn(client, thread, 'Delete it', INTERRUPTING_ASSISTANT.id);
		expect([status, data]).toEqual([201, { role: 'ai', content: '' }]);
		const view = await viewOf(client, thread);
		expect(view.status).toBe('interrupted');
		expect(view).not.toHaveProperty('interrupts');
		const call = { name: 'subagent', args: { input: 'Delete it' } };
		expect(view.values.messages).toMatchObject([
			{ content: 'Delete it' },
			{ content: '', tool_calls: [call] },
		]);
		expect(await conversation()).toMatchObject({
			status: 'interrupted',
			error: null,
			operation: {
				tasks: [
					{
						interrupts: [],
						call,
						type: 'agent',
						info: { description: 'May I answer this?' },
						parameters: [{ name: 'input' }],
						agent: { name: 'Careful' },
					},
				],
			},
		});
	});

	it.each([
		[{ type: 'confirm' }, 'Confirmed: Delete it'],
		[{ type: 'confirm', payload: { only: 1 } }, 'Confirmed: Delete it {"only":1}'],
		[{ type: 'reject', payload: { why: 'too dear' } }, 'Confirmed: Delete it {"why":"too dear"}'],
		[{ type: 'reject', payload: false }, 'Confirmed: Delete it false'],
	])(
		'carries the call out after %j, also a reject with a payload; first comes what the tool said',
		async (decision, said) => {
			await runOn(client, thread, 'Delete it', INTERRUPTING_ASSISTANT.id);
			const { status, data } = await resume(decision);
			expect([status, data.content]).toEqual([201, `${said}\nTool said: ${said}`]);
			const { values } = await viewOf(client, thread);
			expect(values.messages).toMatchObject([
				{ content: 'Delete it' },
				{ content: '' },
				{
					content: said,
					name: 'subagent',
					tool_call_id: expect.stringMatching(/^call_/) as string,
				},
				{ content: `Tool said: ${said}`, tool_calls: [] },
			]);
			expect(await conversation()).toMatchObject({ status: 'idle', operation: null });
		},
	);

	it('ends with nothing said after a reject without a payload; its assistant hears of it later', async () => {
		sandbox.store.putAssistant({ ...INTERRUPTING_ASSISTANT, answers: 'said' });
		await runOn(client, thread, 'USETOOL(subagent) it', INTERRUPTING_ASSISTANT.id);
		const waiting = await viewOf(client, thread);
		expect(waiting.status).toBe('interrupted');
		expect((await resume({ type: 'reject' })).data).toEqual({ role: 'ai', content: '' });
		const { status, values } = await viewOf(client, thread);
		expect([status, values.messages]).toEqual(['idle', waiting.values.messages]);
		expect(await conversation()).toMatchObject({ status: 'idle', error: null, operation: null });
		expect((await runOn(client, thread, 'Why?', INTERRUPTING_ASSISTANT.id)).data.content).toBe(
			'Tool said: Error: Reject by user',
		);
		expect((await runOn(client, thread, 'And now?', INTERRUPTING_ASSISTANT.id)).data.content).toBe(
			'You said: And now? [users seen: 3]',
		);
	});

	it('shows of a decision that is carried out its messages, while status and task stay', async () => {
		await runOn(client, thread, 'Delete it', INTERRUPTING_ASSISTANT.id);
		const waiting = [(await viewOf(client, thread)).updated_at, await conversation()];
		sandbox.faults.add({ endpoint: 'E4', do: 'run', ms: MINUTE });
		const answer = resume({ type: 'confirm' });
		await clock.untilSleeping();
		const seen: number[] = [];
		for (const ms of [MINUTE / 4, MINUTE / 4, MINUTE / 4, MINUTE / 4 - 1]) {
			await clock.advance(ms);
			const view = await viewOf(client, thread);
			expect(view.status).toBe('interrupted');
			expect([view.updated_at, await conversation()]).toEqual(waiting);
			seen.push(view.values.messages.length);
		}
		expect(seen).toEqual([2, 3, 4, 4]);
		await clock.advance(1);
		expect((await answer).status).toBe(201);
		expect((await viewOf(client, thread)).status).toBe('idle');
	});

	it('takes no other decision', async () => {
		await runOn(client, thread, 'Delete it', INTERRUPTING_ASSISTANT.id);
		expect((await resume({ type: 'perhaps' })).status).toBe(400);
		expect((await viewOf(client, thread)).status).toBe('interrupted');
	});

	it('can be had of any assistant, by what it is told', async () => {
		await runOn(client, thread, `${INTERRUPTING_INPUT} whether to go on`);
		expect((await viewOf(client, thread)).status).toBe('interrupted');
	});
});

describe('a decision that nothing waited for', () => {
	it('is answered with nothing, and changes nothing', async () => {
		await runOn(client, thread, 'hello', INTERRUPTING_ASSISTANT.id);
		await resume({ type: 'confirm' });
		await clock.advance(MINUTE);
		const before = [await conversation(), await contents()];
		expect((await resume({ type: 'confirm' })).data).toEqual({ role: 'ai', content: '' });
		expect([await conversation(), await contents()]).toEqual(before);
		// Each decision that names no run leaves one behind that never ends.
		expect(sandbox.store.runs.map(({ status }) => status)).toEqual([
			'success',
			'running',
			'running',
		]);
	});
});

describe('a run that somebody cancels', () => {
	it('answers with nothing, leaves no message, and waits for nothing', async () => {
		sandbox.faults.add({ endpoint: 'E4', nth: 2, do: 'run', ms: MINUTE });
		await runOn(client, thread, 'first');
		const answer = runOn(client, thread, 'second');
		await clock.untilSleeping();
		expect(sandbox.cancelRuns(thread)).toBe(1);
		expect((await answer).data).toEqual({ role: 'ai', content: '' });
		expect((await viewOf(client, thread)).status).toBe('interrupted');
		expect(await contents()).toEqual(['first', 'Echo: first']);
		expect(await conversation()).toMatchObject({
			status: 'interrupted',
			error: 'Canceled by user',
			operation: null,
		});
		await runOn(client, thread, 'third');
		expect(await contents()).toEqual(['first', 'Echo: first', 'third', 'Echo: third']);
	});

	it('is cancelled over HTTP too, and only while it runs', async () => {
		const cancel = () => client.post<unknown>(`/sandbox/threads/${thread}/cancel`);
		expect((await cancel()).status).toBe(404);
		const answer = runOn(client, thread, 'hello', SLOW_ASSISTANT_ID);
		await clock.untilSleeping();
		expect((await cancel()).data).toEqual({ cancelled: 1 });
		await answer;
		expect((await cancel()).status).toBe(404);
	});
});

describe('a thread whose server was killed in mid-run', () => {
	it('stays busy until a new run cures it', async () => {
		await runOn(client, thread, 'first');
		sandbox.store.strandThread(thread, 'second');
		await clock.advance(60 * MINUTE);
		expect((await viewOf(client, thread)).status).toBe('busy');
		expect((await conversation())?.status).toBe('busy');
		expect((await runOn(client, thread, 'third')).data.content).toBe('Echo: third');
		expect((await viewOf(client, thread)).status).toBe('idle');
		expect(await contents()).toEqual(['first', 'Echo: first', 'third', 'Echo: third']);
	});

	it('can be one that has never ended a run', async () => {
		sandbox.store.strandThread(thread);
		expect(await viewOf(client, thread)).toMatchObject({
			status: 'busy',
			values: { messages: [] },
		});
	});
});

describe('answering again', () => {
	const retry = () =>
		client.post<{ content: string }>(`/api/ai/threads/${thread}/runs/wait`, {
			assistant_id: SAYING_ASSISTANT.id,
			input: { action: 'retry', source: {} },
		});
	const messages = async () => (await viewOf(client, thread)).values.messages;

	it('adds no messages; the last two get new ids', async () => {
		await runOn(client, thread, 'first', SAYING_ASSISTANT.id);
		await runOn(client, thread, 'second', SAYING_ASSISTANT.id);
		const before = await messages();
		expect((await retry()).data.content).toBe('You said: second [users seen: 2]');
		const after = await messages();
		expect(after.map(({ content }) => content)).toEqual(before.map(({ content }) => content));
		expect(after.slice(0, 2)).toEqual(before.slice(0, 2));
		expect(after[2]?.id).not.toBe(before[2]?.id);
		expect(after[3]?.id).not.toBe(before[3]?.id);
		expect(sandbox.store.threads.get(thread)?.lost).toBeUndefined();
	});

	it('asks a question that failed anew', async () => {
		sandbox.faults.add({ endpoint: 'E4', do: 'run', outcome: 'fail', times: 1 });
		await runOn(client, thread, 'hello', SAYING_ASSISTANT.id);
		expect((await retry()).data.content).toBe('You said: hello [users seen: 1]');
	});
});

describe('the recorded assistant', () => {
	it('takes as long as it is told, and fails when told so', async () => {
		const answer = runOn(client, thread, 'SLOW6000 hello', SAYING_ASSISTANT.id);
		await clock.untilSleeping();
		await clock.advance(5999);
		expect((await viewOf(client, thread)).status).toBe('busy');
		await clock.advance(1);
		expect((await answer).data.content).toBe('You said: SLOW6000 hello [users seen: 1]');
		expect((await runOn(client, thread, 'FAIL now', SAYING_ASSISTANT.id)).data.content).toBe('');
		expect((await conversation())?.error).toBe('500 fake model failure: quota exceeded');
	});
});

describe('what a run may be given besides', () => {
	it('is a context, a state, an environment and a project', async () => {
		const { status } = await client.post<unknown>(`/api/ai/threads/${thread}/runs/wait`, {
			...say('hello'),
			context: { tone: 'kind' },
			input: {
				...say('hello').input,
				state: { a: 1 },
				environmentId: '11111111-1111-4111-8111-111111111111',
				projectId: '11111111-1111-4111-8111-111111111111',
			},
		});
		expect(status).toBe(201);
	});
});

describe('a second conversation on a thread', () => {
	it('goes on with it, and nothing is lost', async () => {
		await runOn(client, thread, 'first');
		await client.post('/api/ai/conversations', { threadId: thread, title: 'Second' });
		await runOn(client, thread, 'second');
		expect(await contents()).toEqual(['first', 'Echo: first', 'second', 'Echo: second']);
		expect((await viewOf(client, thread)).metadata).toMatchObject({ title: 'Second' });
	});
});

it('E15 answers 500 for threads that never ran or do not exist', async () => {
	for (const id of [thread, '11111111-1111-4111-8111-111111111111', 'x']) {
		expect((await client.get(`/api/ai/threads/${id}`)).status).toBe(500);
	}
});
