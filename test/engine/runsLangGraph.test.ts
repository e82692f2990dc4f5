import { randomUUID } from 'node:crypto';

import { ECHO_ASSISTANT_ID, INTERRUPTING_INPUT } from '../../sandbox';
import { arrivals, detailsOf, occupy, onThread, says, useLangGraph } from './support/runs';

const langGraph = useLangGraph();

/** A thread that has run once. */
async function ranThread(): Promise<string> {
	const thread = randomUUID();
	const langGraphFields = { if_not_exists: 'create' };
	await langGraph.run({ langGraphFields }, [says(thread, 'before')]);
	langGraph.sandbox.requests.clear();
	return thread;
}

it('a run is completed with the last words of the state', async () => {
	const thread = await ranThread();
	const { items } = await langGraph.run({}, [says(thread, 'Hello')]);
	expect(items[0]?.json).toMatchObject({
		reply: 'Echo: Hello',
		status: 'completed',
		threadId: thread,
		assistantId: ECHO_ASSISTANT_ID,
		recovered: false,
	});
	expect(langGraph.sandbox.requests.of('E4').map(({ body }) => body)).toEqual([
		{
			assistant_id: ECHO_ASSISTANT_ID,
			input: { messages: [{ role: 'user', content: 'Hello' }] },
		},
	]);
});

it('without Simplify, the state is given as it is', async () => {
	const { items } = await langGraph.run({ simplify: false }, [says(await ranThread(), 'Hello')]);
	const contents = (items[0]?.json.messages as Array<{ content: string }>).map(
		({ content }) => content,
	);
	expect(contents).toEqual(['before', 'Echo: before', 'Hello', 'Echo: Hello']);
});

it('a new conversation is a new thread that the run makes', async () => {
	const { items } = await langGraph.run({ threadSource: 'new' }, [says('', 'Hello')]);
	expect(items[0]?.json).toMatchObject({ reply: 'Echo: Hello', status: 'completed' });
	const { requests, store } = langGraph.sandbox;
	expect(requests.of('E4')[0]?.body).toMatchObject({ if_not_exists: 'create' });
	expect(requests.all.map(({ method }) => method)).not.toContain('PUT');
	expect(store.threads.has(String(items[0]?.json.threadId))).toBe(true);
});

it('chat messages and further fields go along', async () => {
	const values = [
		{ role: 'system', content: 'Be brief' },
		{ role: 'user', content: 'Hello' },
	];
	const { items } = await langGraph.run(
		{
			inputType: 'chat',
			chatMessages: { values },
			langGraphFields: { metadata: '{"order":7}', config: '{"tags":["n8n"]}' },
		},
		[says(await ranThread(), '')],
	);
	expect(items[0]?.json.reply).toBe('Echo: Hello');
	expect(langGraph.sandbox.requests.of('E4')[0]?.body).toEqual({
		assistant_id: ECHO_ASSISTANT_ID,
		input: { messages: values },
		metadata: { order: 7 },
		config: { tags: ['n8n'] },
	});
});

it('a failed run (__error__) goes to the error output, with its reason', async () => {
	const thread = await ranThread();
	const error = '{"error":{"message":"Quota exceeded"}}';
	langGraph.sandbox.faults.add(onThread(thread, { do: 'run', outcome: 'fail', error }));
	const { outputs } = await langGraph.run({}, [says(thread, 'Hello')]);
	expect(outputs[0]).toEqual([]);
	expect(outputs[1]?.[0]?.json.error).toContain('Quota exceeded');
	expect(outputs[1]?.[0]?.json.error).not.toContain('{');
	expect(detailsOf(outputs[1]?.[0])).toMatchObject({ threadId: thread, status: 'failed' });
});

it.each([
	['confirm', 'Confirmed'],
	['reject', 'Rejected'],
])('a run that asks a person (__interrupt__) goes on after %s', async (decision, word) => {
	const thread = await ranThread();
	const question = `${INTERRUPTING_INPUT} first`;
	const asked = await langGraph.run({}, [says(thread, question)]);
	expect(asked.items[0]?.json).toMatchObject({
		status: 'interrupted',
		interrupt: [{ value: { question: 'May I answer this?' } }],
	});
	const additionalFields = { payload: '{"only":1}' };
	const decided = await langGraph.run({ inputType: 'decision', decision, additionalFields }, [
		says(thread, ''),
	]);
	expect(decided.items[0]?.json).toMatchObject({
		reply: `${word}: ${question} {"only":1}`,
		status: 'completed',
	});
});

it('a wait that breaks is taken up, and a failure found there keeps its reason', async () => {
	const [answered, failing] = [await ranThread(), await ranThread()];
	const broken = { do: 'drop', when: 'during', ms: 50 } as const;
	langGraph.sandbox.faults.add(
		onThread(answered, { do: 'run', ms: 500 }),
		onThread(answered, broken),
		onThread(failing, { do: 'run', ms: 500, outcome: 'fail', error: 'Late' }),
		onThread(failing, broken),
	);
	const { outputs } = await langGraph.run({}, [says(answered, 'one'), says(failing, 'two')]);
	expect(outputs[0]?.[0]?.json).toMatchObject({ reply: 'Echo: one', recovered: true });
	expect(outputs[1]?.[0]?.json.error).toBe('The run failed: Late');
});

it('ends at its deadline, however long the server sends signs of life', async () => {
	const thread = await ranThread();
	langGraph.sandbox.faults.add(onThread(thread, { do: 'run', ms: 60_000 }));
	const { outputs } = await langGraph.run({ options: { deadlineMinutes: 0.04 } }, [
		says(thread, 'Hello'),
	]);
	expect(outputs[1]?.[0]?.json.error).toBe('The run was still going on when the deadline came');
	expect(detailsOf(outputs[1]?.[0])).toMatchObject({ threadId: thread, status: 'timedOut' });
});

describe('a thread that gets busy just before our run arrives (422)', () => {
	/** The first reading finds the thread free, although somebody else has begun. */
	async function meet(whenBusy: 'wait' | 'fail') {
		const thread = await ranThread();
		const { sandbox } = langGraph;
		sandbox.faults.add(
			{ ...onThread(thread, { do: 'run', ms: 800 }), nth: 1 },
			{
				endpoint: 'E15',
				nth: 1,
				do: 'status',
				status: 200,
				body: { thread_id: thread, status: 'idle', values: { messages: [] } },
			},
		);
		await occupy(sandbox, thread, { messages: [{ role: 'user', content: 'theirs' }] });
		const result = await langGraph.run({ options: { whenBusy } }, [says(thread, 'ours')]);
		return { ...result, thread };
	}

	it('is waited for, and no message gets lost', async () => {
		const { items, thread } = await meet('wait');
		expect(items[0]?.json).toMatchObject({ reply: 'Echo: ours', recovered: false });
		// Theirs, ours refused, ours.
		expect(arrivals(langGraph.sandbox, thread)).toBe(3);
		expect(langGraph.sandbox.store.threads.get(thread)?.lost ?? []).toEqual([]);
	});

	it('is no obstacle when that run has ended before we look again', async () => {
		const thread = await ranThread();
		const { sandbox } = langGraph;
		const busy = { do: 'status', status: 422, body: 'Thread is already running a task.' } as const;
		const stale = { thread_id: thread, status: 'idle', values: { messages: [] } };
		sandbox.faults.add(
			{ ...onThread(thread, busy), nth: 1 },
			{ endpoint: 'E15', nth: 1, do: 'status', status: 200, body: stale },
		);
		const { items } = await langGraph.run({}, [says(thread, 'ours')]);
		expect(items[0]?.json).toMatchObject({ reply: 'Echo: ours', status: 'completed' });
		expect(arrivals(sandbox, thread)).toBe(2);
	});

	it('is told from a body the server does not take, which is sent once', async () => {
		const thread = await ranThread();
		const refused = { do: 'status', status: 422, body: 'config is invalid' } as const;
		langGraph.sandbox.faults.add(onThread(thread, refused));
		const { outputs } = await langGraph.run({}, [says(thread, 'ours')]);
		expect(outputs[1]?.[0]?.json.error).toBe('The server answered 422: config is invalid');
		expect(arrivals(langGraph.sandbox, thread)).toBe(1);
	});

	it('is reported at once when asked to', async () => {
		const { outputs, thread } = await meet('fail');
		expect(outputs[1]?.[0]?.json.error).toBe('Another run is going on on this thread');
		expect(arrivals(langGraph.sandbox, thread)).toBe(2);
	});
});

it('a thread nobody knows says so', async () => {
	const { outputs } = await langGraph.run({}, [says(randomUUID(), 'Hello')]);
	expect(outputs[1]?.[0]?.json.error).toMatch(
		/^The server answered 404: Thread with ID .* not found/,
	);
});
