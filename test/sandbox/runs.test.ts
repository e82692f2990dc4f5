import {
	BROKEN_ASSISTANT_ID,
	DEFAULT_ASSISTANTS,
	ECHO_ASSISTANT_ID,
	FakeClock,
	INTERRUPTING_ASSISTANT,
	INTERRUPTING_INPUT,
	type FaultRule,
} from '../../sandbox';
import { codeOf, newThread, runOn, viewOf } from './support/client';
import { useFreshSandbox } from './support/useSandbox';

const MINUTE = 60_000;
const SLOW_ASSISTANT_ID = 'd0000000-0000-4000-8000-000000000009';

let clock: FakeClock;
const { sandbox, client } = useFreshSandbox(() => {
	clock = new FakeClock();
	const slow = { id: SLOW_ASSISTANT_ID, name: 'slow', answers: 'echo', runMs: 7 * MINUTE } as const;
	return { clock, assistants: [...DEFAULT_ASSISTANTS, INTERRUPTING_ASSISTANT, slow] };
});
let thread: string;

beforeEach(async () => void (thread = await newThread(client)));

const contents = async () => (await viewOf(client, thread)).values.messages.map((m) => m.content);
const conversation = async () => {
	const body = { where: { threadId: thread } };
	const { data } = await client.post<{ items: Array<Record<string, unknown>> }>(
		'/api/ai/conversations/search',
		body,
	);
	return data.items[0];
};
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
			await clock.advance(minutes * MINUTE - 1);
			expect((await viewOf(client, thread)).status).toBe('busy');
			expect((await contents()).at(-1)).toBe(`for ${minutes}`);
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
		expect((await viewOf(client, thread)).status).toBe('busy');
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
		expect((await viewOf(client, thread)).status).toBe('error');
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
	it('ends interrupted, and says what it waits for', async () => {
		const { status, data } = await runOn(client, thread, 'Delete it', INTERRUPTING_ASSISTANT.id);
		expect([status, data]).toEqual([201, { role: 'ai', content: '' }]);
		const view = await viewOf(client, thread);
		const interrupt = { value: { question: 'May I answer this?', input: 'Delete it' } };
		expect(view).toMatchObject({ status: 'interrupted' });
		expect(Object.values(view.interrupts ?? {})).toMatchObject([[interrupt]]);
		expect(await conversation()).toMatchObject({
			status: 'interrupted',
			operation: { tasks: [{ name: 'answer', type: 'tool', interrupts: [interrupt] }] },
		});
	});

	it.each([
		[{ type: 'confirm' }, 'Confirmed: Delete it'],
		[{ type: 'reject' }, 'Rejected: Delete it'],
		[{ type: 'confirm', payload: { only: 1 } }, 'Confirmed: Delete it {"only":1}'],
	])('goes on after the decision %j', async (decision, answer) => {
		await runOn(client, thread, 'Delete it', INTERRUPTING_ASSISTANT.id);
		const { status, data } = await resume(decision);
		expect([status, data.content]).toEqual([201, answer]);
		expect(await contents()).toEqual(['Delete it', answer]);
		expect((await viewOf(client, thread)).interrupts).toBeUndefined();
		expect(await conversation()).toMatchObject({ status: 'idle', operation: null });
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

it('E15 answers 500 for threads that never ran or do not exist', async () => {
	for (const id of [thread, '11111111-1111-4111-8111-111111111111', 'x']) {
		expect((await client.get(`/api/ai/threads/${id}`)).status).toBe(500);
	}
});
