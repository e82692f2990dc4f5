import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID } from '../../sandbox';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { newThreads, post } from './support/runs';

const fixture = useFixture();

/** Starts a run in the background, as somebody else would. */
async function started(message: string, { thread = '', ms = 0 } = {}) {
	const { sandbox } = fixture;
	const [threadId = ''] = thread ? [thread] : await newThreads(sandbox, 1);
	if (ms > 0) sandbox.faults.add({ endpoint: 'runs', path: threadId, nth: 1, do: 'run', ms });
	const { run_id: runId = '' } = await post(sandbox, `threads/${threadId}/runs`, {
		assistant_id: ECHO_ASSISTANT_ID,
		input: { action: 'send', message: { input: { input: message } } },
	});
	return { threadId, runId };
}

const by = (operation: string, { threadId, runId }: { threadId: string; runId: string }) =>
	({
		...{ resource: 'thread', operation, threadId: byId(threadId), runId },
	}) satisfies INodeParameters;

async function tell(operation: string, named: { threadId: string; runId: string }) {
	const { items, error, outputs } = await fixture.run(by(operation, named));
	return { json: items[0]?.json, error, outputs };
}

const cancels = () => fixture.sandbox.requests.of('cancel');

describe('a run by its number', () => {
	it('is that of the input item where nothing is set', async () => {
		const json = await started('Hello');
		for (const operation of ['waitForRun', 'getRun']) {
			const { items } = await fixture.run({ resource: 'thread', operation }, { items: [{ json }] });
			expect(items[0]?.json).toMatchObject({ ...json, output: 'Echo: Hello' });
		}
	});

	it('is running, then says what Ask and Wait would', async () => {
		const named = await started('Hello', { ms: 400 });
		expect((await tell('getRun', named)).json).toMatchObject({
			...{ status: 'running', output: null },
			...named,
		});
		const { json } = await tell('waitForRun', named);
		expect(json).toMatchObject({ status: 'completed', output: 'Echo: Hello', ...named });
		expect(json?.assistantId).toBe(ECHO_ASSISTANT_ID);
		expect((await tell('getRun', named)).json).toEqual(json);
	});

	it('is never told in the words of another that ran at the same time', async () => {
		const before = await started('Before');
		await tell('waitForRun', before);
		const thread = before.threadId;
		const slow = await started('Slow', { thread, ms: 500 });
		fixture.sandbox.faults.clear();
		const quick = await started('Quick', { thread });
		expect((await tell('waitForRun', slow)).json).toMatchObject({ output: 'Echo: Slow' });
		// The slow one has begun first and ended last, so that its messages are all that the thread has.
		const { json } = await tell('waitForRun', quick);
		expect(json).toMatchObject({ output: 'Echo: Quick', remembered: false, ...quick });
	});

	it('that nobody knows is said to be unknown', async () => {
		const named = await started('Hello');
		const unknown = { ...named, runId: '2f78e81b-096f-42ff-8ac0-8403fd81392d' };
		for (const operation of ['getRun', 'waitForRun', 'cancelRun']) {
			const { error } = await tell(operation, unknown);
			expect(error?.message).toContain('404');
			expect(error?.description).toContain('no such run');
			expect(error?.description).toContain('Check "Run ID" and "Thread".');
			expect(error?.description).not.toContain('Assistant');
		}
		expect(cancels()).toEqual([]);
	});

	it('of another thread is no answer', async () => {
		const [one, other] = [await started('One'), await started('Two')];
		for (const operation of ['getRun', 'waitForRun', 'cancelRun']) {
			const { error } = await tell(operation, { ...one, threadId: other.threadId });
			expect(error?.message).toMatch(/^The run is of another thread: take threadId and runId/);
		}
		expect(cancels()).toEqual([]);
	});
});

describe('a run that is to be cancelled', () => {
	it('ends, and is said to be cancelled', async () => {
		const named = await started('Hello', { ms: 60_000 });
		expect((await tell('cancelRun', named)).json).toMatchObject({
			...{ cancelled: true, status: 'cancelled', assistantId: ECHO_ASSISTANT_ID },
			...named,
		});
		const { error } = await tell('getRun', named);
		expect(error?.message).toBe('The run was cancelled on the server: Canceled by user');
	});

	it('stays what it was when it has ended: the server would make a cancelled run of it', async () => {
		const named = await started('Hello');
		await tell('waitForRun', named);
		expect((await tell('cancelRun', named)).json).toMatchObject({
			...{ cancelled: false, status: 'completed' },
			...named,
		});
		expect(cancels()).toEqual([]);
		expect((await tell('getRun', named)).json).toMatchObject({ output: 'Echo: Hello' });
	});

	it('is said to be cancelled also when the answer is lost', async () => {
		const named = await started('Hello', { ms: 60_000 });
		fixture.sandbox.faults.add({ endpoint: 'cancel', do: 'drop', when: 'after' });
		expect((await tell('cancelRun', named)).json).toMatchObject({ cancelled: true });
		expect(cancels()).toHaveLength(1);
	});
});
