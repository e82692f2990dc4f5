import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, INTERRUPTING_INPUT, SAYING_ASSISTANT } from '../../sandbox';
import { clock } from './support/clock';
import { AN_HOUR, useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, decideAsOthers, newThreads, occupy, onOthers, runsOf, says } from './support/runs';

const fixture = useFixture();

const message = (input: string) => ({ action: 'send', message: { input: { input } } });
const LIMIT_MS = 6_000;
const silent = (options: INodeParameters = {}): INodeParameters => ({
	...{ cancelSilentMinutes: LIMIT_MS / 60_000, deadlineMinutes: 10 },
	...options,
});

/** A thread with somebody else's run, which has begun an hour ago unless it is young. */
async function blocked({
	ms = AN_HOUR,
	input = message('Hi'),
	age = AN_HOUR,
	assistant = ECHO_ASSISTANT_ID,
}) {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	if (assistant === ECHO_ASSISTANT_ID)
		fixture.sandbox.faults.add(onOthers(thread, { do: 'run', ms }));
	await occupy(fixture.sandbox, thread, input, assistant);
	const run = runsOf(fixture.sandbox.store.runs, thread).at(-1);
	if (!run) throw new Error('nothing runs');
	run.startedAt -= age;
	return { thread, run };
}

async function call(thread: string, options = silent(), assistant = ECHO_ASSISTANT_ID) {
	const items = [says(thread, 'Hello')];
	const { items: out, error } = await fixture.run(ask({ options, assistantId: byId(assistant) }), {
		items,
	});
	return { json: out[0]?.json, error };
}

const sent = (endpoint: string) => fixture.sandbox.requests.of(endpoint);
const SHORT = { deadlineMinutes: 0.3 };

describe('a run that blocks a thread', () => {
	it('is cancelled once it was silent for as long as is allowed, by our clock, and that is said', async () => {
		const { thread, run } = await blocked({});
		fixture.sandbox.killRuns();
		const { json } = await call(thread);
		expect(json).toMatchObject({ output: 'Echo: Hello', cancelledRun: run.id });
		expect(run.status).toBe('interrupted');
		const [[heard], [cancelled]] = [sent('join'), sent('cancel')];
		const silence = Number(cancelled?.arrivedAt) - Number(heard?.arrivedAt);
		expect(silence).toBeGreaterThanOrEqual(LIMIT_MS - 20);
	});

	it('is not cancelled where nothing is allowed to', async () => {
		const { thread } = await blocked({});
		const { error } = await call(thread, { ...silent(SHORT), cancelSilentMinutes: 0 });
		expect(error?.message).toMatch(/, without a sign for \d+ s\) when the deadline came$/);
		expect(sent('cancel')).toEqual([]);
	});

	it('is not cancelled while it speaks', async () => {
		fixture.sandbox.store.putAssistant(SAYING_ASSISTANT);
		const input = message('LONG9 DRIP2000');
		const { thread } = await blocked({ input, assistant: SAYING_ASSISTANT.id });
		const { json } = await call(thread, silent(), SAYING_ASSISTANT.id);
		expect(json?.output).toMatch(/^You said: Hello/);
		expect(json).not.toHaveProperty('cancelledRun');
		expect(sent('cancel')).toEqual([]);
	});

	it('is not cancelled where it has not begun three times as long ago', async () => {
		const { thread } = await blocked({ age: 0 });
		await call(thread, silent({ cancelSilentMinutes: 0.2, deadlineMinutes: 0.4 }));
		expect(sent('cancel')).toEqual([]);
	});

	it('is not cancelled where it cannot be heard', async () => {
		const { thread, run } = await blocked({});
		fixture.sandbox.faults.add({ endpoint: 'join', do: 'status', status: 502, body: 'down' });
		const { error } = await call(thread, silent(SHORT));
		expect(error?.message).toContain(`(${run.id}, since `);
		expect(sent('join').length).toBeGreaterThan(2);
		expect(sent('cancel')).toEqual([]);
	});

	it('is not cancelled while a tool is at work, which may take long', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		await fixture.run(ask(), { items: [says(thread, `${INTERRUPTING_INPUT} first`)] });
		const [run] = runsOf(fixture.sandbox.store.runs, thread);
		fixture.sandbox.faults.add(onOthers(thread, { do: 'run', ms: AN_HOUR }));
		void decideAsOthers(fixture.sandbox, thread).catch(() => undefined);
		if (!run) throw new Error('nothing runs');
		await clock.until(() => run.status === 'running');
		run.startedAt -= AN_HOUR;
		await call(thread, silent(SHORT));
		expect(sent('join')).not.toEqual([]);
		expect(sent('cancel')).toEqual([]);
	});

	it('is not said to be cancelled where the server refuses', async () => {
		const { thread } = await blocked({ ms: 18_000 });
		fixture.sandbox.faults.add({ endpoint: 'cancel', do: 'status', status: 403, body: 'no' });
		const { json } = await call(thread);
		expect(sent('cancel')).not.toEqual([]);
		expect(json).toMatchObject({ output: 'Echo: Hello' });
		expect(json).not.toHaveProperty('cancelledRun');
	});

	it('is heard no longer than it is waited for', async () => {
		const { thread, run } = await blocked({});
		const heardBy = () => fixture.sandbox.store.speeches.get(run.id)?.heardBy;
		const counts: unknown[] = [];
		const refused = { do: 'status', status: 403, body: 'no' } as const;
		fixture.sandbox.faults.add({ endpoint: 'listRuns', nth: 4, ...refused });
		const calling = call(thread, { ...silent(), cancelSilentMinutes: 0 });
		await clock.until(() => sent('listRuns').length >= 3);
		counts.push(heardBy());
		const { error } = await calling;
		expect(error?.message).toBe('The server answered 403: no');
		await clock.settled();
		counts.push(heardBy());
		expect(counts).toEqual([1, 0]);
	});
});
