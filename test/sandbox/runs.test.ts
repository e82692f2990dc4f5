import {
	BROKEN_ASSISTANT_ID,
	DEFAULT_ASSISTANTS,
	ECHO_ASSISTANT_ID,
	FakeClock,
	INTERRUPTING_ASSISTANT,
	INTERRUPTING_INPUT,
	type FaultRule,
} from '../../sandbox';
import { codeOf, conversationOf, newThread, runOn, viewOf } from './support/client';
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

	it.each([502, 504, 520, 522, 524, 530])(
		'does not change when a gateway answers %d',
		async (status) => {
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
		},
	);

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

describe('the assistant that asks a person', () => {
	it.each([
		[{ type: 'confirm' }, 'Confirmed: Delete it'],
		[{ type: 'reject', payload: { why: 'too dear' } }, 'Confirmed: Delete it {"why":"too dear"}'],
	])('says after %j what came with the decision', async (decision, said) => {
		await runOn(client, thread, 'Delete it', INTERRUPTING_ASSISTANT.id);
		expect(await conversation()).toMatchObject({
			status: 'interrupted',
			operation: { tasks: [{ info: { description: 'May I answer this?' } }] },
		});
		expect((await resume(decision)).data.content).toBe(`${said}\nTool said: ${said}`);
	});

	it('can be any, by what it is told', async () => {
		await runOn(client, thread, `${INTERRUPTING_INPUT} whether to go on`);
		expect((await viewOf(client, thread)).status).toBe('interrupted');
	});
});

describe('a run that somebody cancels', () => {
	it('is cancelled over HTTP, and only while it runs', async () => {
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
