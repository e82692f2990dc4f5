import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, INTERRUPTING_INPUT } from '../../sandbox';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { arrivals, ask, decide, detailsOf, newThreads, occupy, runsOf, says } from './support/runs';

const fixture = useFixture();

const ON_ITS_OWN = { threadSource: 'new' };

const storedRuns = (thread: unknown) => runsOf(fixture.sandbox.store.runs, String(thread));
const cancels = () => fixture.sandbox.requests.of('cancel');

/** Says something, on a thread of its own where none is given. */
async function say(message: string, parameters: INodeParameters = {}, thread = '') {
	const on = thread === '' ? ON_ITS_OWN : {};
	const { items, error, outputs } = await fixture.run(ask({ ...on, ...parameters }), {
		items: [says(thread, message)],
		onError: 'continueErrorOutput',
	});
	return { json: items[0]?.json, failed: outputs[1]?.[0], error };
}

describe('the number of a run', () => {
	it('is its own where another has begun beside it', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		await say('before', {}, thread);
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 200 });
		const parameters = { options: { whenBusy: 'run' } };
		const answers = await Promise.all([say('one', parameters, thread), say('two', {}, thread)]);
		for (const { json } of answers) {
			const own = storedRuns(thread).find(({ id }) => id === json?.runId);
			expect(json?.output).toBe(`Echo: ${own?.text}`);
		}
	});
});

describe('a decision', () => {
	/** A thread that waits for a person. */
	const waiting = async () => {
		const { json } = await say(`${INTERRUPTING_INPUT} first`);
		expect(json).toMatchObject({ status: 'interrupted' });
		return String(json?.threadId);
	};

	const decideOn = async (thread: string, parameters: INodeParameters = {}) =>
		await fixture.run(decide(parameters), {
			items: [{ json: { thread } }],
			onError: 'continueErrorOutput',
		});

	it('names the run that waits, so that none is left that never ends', async () => {
		const thread = await waiting();
		const { items } = await decideOn(thread);
		const [run, ...others] = storedRuns(thread);
		expect(items[0]?.json).toMatchObject({ status: 'completed', runId: run?.id });
		expect(others).toEqual([]);
		expect(run?.status).toBe('success');
	});

	it('leaves a target of the user as it is', async () => {
		const thread = await waiting();
		const target = '{"agentKey":"x"}';
		await decideOn(thread, { options: { target } });
		expect(fixture.sandbox.requests.of('runs').at(-1)?.body).toMatchObject({
			input: { target: { agentKey: 'x' } },
		});
	});

	it('that never arrived is known not to have arrived, long before the deadline', async () => {
		const thread = await waiting();
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'drop', when: 'before' });
		const { outputs } = await decideOn(thread);
		expect(outputs[1]?.[0]?.json.error).toMatch(/^The decision did not reach the assistant\. /);
		expect(storedRuns(thread).map(({ status }) => status)).toEqual(['interrupted']);
	});

	it('whose answer was lost is carried out once, and told', async () => {
		const thread = await waiting();
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 300 });
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'drop', when: 'after' });
		const { items } = await decideOn(thread);
		expect(items[0]?.json).toMatchObject({ status: 'completed', recovered: true });
		expect(arrivals(fixture.sandbox, thread)).toBe(2);
	});
});

describe('a run that nobody waits for any more', () => {
	const late = (options: INodeParameters) => ({ options: { deadlineMinutes: 0.01, ...options } });
	const isLong = () => fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 60_000 });

	it('is cancelled at the deadline where that is wanted, and it is said', async () => {
		isLong();
		const { failed } = await say('one', late({ whenLate: 'cancel' }));
		expect(failed?.json.error).toBe('The run was still going on when the deadline came');
		const { threadId, description } = detailsOf(failed);
		expect(description).toContain('It was cancelled on the server.');
		expect(storedRuns(threadId).map(({ status }) => status)).toEqual(['interrupted']);
	});

	it('is said to have ended where it has by the time that it is to be cancelled', async () => {
		fixture.sandbox.faults.add(
			{ endpoint: 'runs', do: 'run', ms: 1_700 },
			{ endpoint: 'run', nth: 2, do: 'delay', ms: 1_200 },
		);
		const { failed } = await say('one', late({ whenLate: 'cancel' }));
		expect(detailsOf(failed).description).toContain('It had ended by then: read the thread.');
		expect(cancels()).toEqual([]);
	});

	it('is said not to be cancelled where the server refuses', async () => {
		isLong();
		const body = { statusCode: 403, message: 'not you' };
		fixture.sandbox.faults.add({ endpoint: 'cancel', do: 'status', status: 403, body });
		const { failed } = await say('one', late({ whenLate: 'cancel' }));
		expect(detailsOf(failed).description).toContain('It could not be cancelled, and goes on: ');
		expect(detailsOf(failed).description).toContain('not you');
	});

	it('of others is never cancelled', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		await say('before', {}, thread);
		fixture.sandbox.faults.add({ endpoint: 'E4', do: 'run', ms: 60_000 });
		await occupy(fixture.sandbox, thread, {
			action: 'send',
			message: { input: { input: 'other' } },
		});
		const { failed } = await say('one', late({ whenLate: 'cancel' }), thread);
		expect(failed?.json.error).toMatch(/^Another run was still active on the thread \(/);
		expect(detailsOf(failed).description).not.toContain('cancelled');
		expect(cancels()).toEqual([]);
	});

	it('is cancelled by Wait for Run as well', async () => {
		const { busyThreadId, busyRunId } = fixture.world;
		const parameters = {
			...{ resource: 'thread', operation: 'waitForRun', threadId: byId(busyThreadId) },
			...{ runId: busyRunId, ...late({ whenLate: 'cancel' }) },
		};
		const { outputs } = await fixture.run(parameters, { onError: 'continueErrorOutput' });
		const [failed] = outputs[1] ?? [];
		expect(detailsOf(failed).description).toContain('It was cancelled on the server.');
		expect(storedRuns(busyThreadId).at(-1)).toMatchObject({ status: 'interrupted' });
	});
});

describe('Start Run', () => {
	const start = (parameters: INodeParameters = {}) =>
		ask({ operation: 'start', assistantId: byId(ECHO_ASSISTANT_ID), ...parameters });

	it('begins a run and goes on at once, with what the other operations need', async () => {
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 60_000 });
		const { items } = await fixture.run(start(ON_ITS_OWN), { items: [says('', 'one')] });
		const json = items[0]?.json;
		const [run] = storedRuns(json?.threadId);
		expect(json).toEqual({
			...{ runId: run?.id, threadId: run?.threadId, assistantId: ECHO_ASSISTANT_ID },
			conversationId: fixture.sandbox.store.conversationOf(String(run?.threadId))?.id,
			status: 'running',
		});
	});

	it('asked by the server to wait, waits for 40 s, not less, and begins once', async () => {
		const headers = { 'retry-after': '40' };
		const fault = { do: 'status', status: 429, body: 'slow', headers } as const;
		fixture.sandbox.faults.add({ endpoint: 'runs', nth: 1, ...fault });
		const { items } = await fixture.run(start(ON_ITS_OWN), { items: [says('', 'one')] });
		expect(items[0]?.json).toMatchObject({ status: 'running' });
		const [first, second, ...more] = fixture.sandbox.requests.of('runs');
		const waited = Number(second?.arrivedAt) - Number(first?.arrivedAt);
		expect(waited).toBeGreaterThanOrEqual(40_000);
		expect(waited).toBeLessThan(41_000);
		expect(more).toEqual([]);
	});

	it('says so of a server that starts none in the background', async () => {
		const body = { statusCode: 404, message: 'Cannot POST /api/ai/threads/x/runs' };
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'status', status: 404, body });
		const { error } = await fixture.run(start(ON_ITS_OWN), { items: [says('', 'one')] });
		expect(error?.message).toBe('This server starts no runs in the background');
	});
});
