import { useFixture } from './support/fixture';
import {
	arrivals,
	ask,
	newThreads,
	occupy,
	onOthers,
	overlap,
	runsOf,
	saidOn,
	says,
} from './support/runs';

const fixture = useFixture();

const inOrder = (count: number) => Array.from({ length: count }, (_, item) => ({ item }));

describe('items', () => {
	it('for one thread run one after another in their order; other threads run beside', async () => {
		const [a = '', b = '', c = ''] = await newThreads(fixture.sandbox, 3);
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 150 });
		const items = [
			says(a, 'a1'),
			says(b, 'b1'),
			says(a, 'a2'),
			says(c, 'c1'),
			says(b, 'b2'),
			says(a, 'a3'),
		];
		const { items: out } = await fixture.run(ask(), { items });

		expect(out.map(({ json }) => json.output)).toEqual(
			items.map(({ json }) => `Echo: ${String(json.message)}`),
		);
		expect(out.map(({ pairedItem }) => pairedItem)).toEqual(inOrder(6));
		const { store } = fixture.sandbox;
		for (const [thread, said] of [
			[a, ['a1', 'a2', 'a3']],
			[b, ['b1', 'b2']],
			[c, ['c1']],
		] as const) {
			expect(saidOn(fixture.sandbox, thread)).toEqual(said);
			expect(store.threads.get(thread)?.messages).toHaveLength(said.length * 2);
			expect(store.threads.get(thread)?.lost ?? []).toEqual([]);
			const runs = runsOf(store.runs, thread);
			expect(runs.slice(1).some((run, index) => overlap(run, runs[index] ?? run))).toBe(false);
		}
		const [first] = store.runs.filter(({ text }) => text === 'a1');
		const ofOthers = [b, c].flatMap((thread) => runsOf(store.runs, thread));
		const beside = ofOthers.filter((run) => first && overlap(run, first));
		expect(beside.map(({ text }) => text).sort()).toEqual(['b1', 'c1']);
	});

	it('run as many threads at once as asked for', async () => {
		const threads = await newThreads(fixture.sandbox, 6);
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 200 });
		const items = threads.map((thread) => says(thread, 'Hi'));
		const { items: out } = await fixture.run(ask({ options: { concurrency: 2 } }), { items });
		expect(out).toHaveLength(6);
		const runs = fixture.sandbox.store.runs.filter(({ text }) => text === 'Hi');
		const underWay = (at: number) =>
			runs.filter(({ startedAt, endedAt = Infinity }) => startedAt <= at && at < endedAt).length;
		expect(Math.max(...runs.map(({ startedAt }) => underWay(startedAt)))).toBe(2);
	});

	it('after a failed one do not run when On Error is Stop', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		const fault = { do: 'run', outcome: 'fail', error: 'No' } as const;
		fixture.sandbox.faults.add({ endpoint: 'runs', nth: 1, ...fault });
		const items = [says(thread, 'one'), says(thread, 'two')];
		const { error } = await fixture.run(ask(), { items });
		expect(error?.message).toBe('The run failed: No');
		expect(saidOn(fixture.sandbox, thread)).toEqual(['one']);
	});

	it('do not run at all when one of them is wrong and On Error is Stop', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		const items = [says(thread, 'one'), says(thread, '')];
		const { error } = await fixture.run(ask(), { items });
		expect(error?.message).toBe(
			'"Message" is empty: its expression gave nothing for this item [item 1]',
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});

describe('a thread that is busy with the run of somebody else', () => {
	/** Somebody else says something on a thread, whose answer takes so long. */
	async function theyAsk(thread: string, ms: number): Promise<void> {
		fixture.sandbox.faults.add(onOthers(thread, { do: 'run', ms, nth: 1 }));
		const input = { action: 'send', message: { input: { input: 'theirs' } } };
		await occupy(fixture.sandbox, thread, input);
	}

	it('is reported at once when asked to', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		await theyAsk(thread, 400);
		const { error } = await fixture.run(ask({ options: { whenBusy: 'fail' } }), {
			items: [says(thread, 'ours')],
		});
		expect(error?.message).toMatch(/^Another run is active on this thread \([^,]+, since [^,]+\)$/);
		expect(error?.description).toContain(`Thread: ${thread}.`);
		expect(arrivals(fixture.sandbox, thread)).toBe(1);
	});

	it('left busy by a server that died is run on when asked to, and cured by it', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		await fixture.run(ask(), { items: [says(thread, 'before')] });
		await theyAsk(thread, 60_000);
		fixture.sandbox.killRuns();
		const dead = runsOf(fixture.sandbox.store.runs, thread).at(-1);
		const waiting = await fixture.run(ask({ options: { deadlineMinutes: 0.01 } }), {
			items: [says(thread, 'ours')],
		});
		expect(waiting.error?.message).toContain(
			`Another run was still active on the thread (${dead?.id}, since `,
		);
		expect(waiting.error?.message).toMatch(/, without a sign for \d+ s\) when the deadline came/);
		expect(waiting.error?.description).toContain('Cancel Run');
		expect(waiting.error?.description).toContain('"Run Anyway"');

		const { items } = await fixture.run(ask({ options: { whenBusy: 'run' } }), {
			items: [says(thread, 'ours')],
		});
		expect(items[0]?.json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		expect(fixture.sandbox.store.threads.get(thread)?.status).toBe('idle');
	});
});
