import { range } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { ECHO_ASSISTANT_ID, type FaultRule, INTERRUPTING_INPUT, SAYING_ASSISTANT } from 'sandbox';
import { clock } from './support/clock';
import { AN_HOUR } from './support/fixture';
import { byId } from './support/locators';
import {
	again,
	answering,
	arrivals,
	ask,
	decideAsOthers,
	delaying,
	detailsOf,
	lasting,
	losing,
	message,
	newThreads,
	occupy,
	onOthers,
	overlap,
	post,
	saidOn,
	says,
	useRuns,
	withoutRoute,
} from './support/runs';

const { fixture, add, sent, stored, newThread } = useRuns();

const counts = (...endpoints: string[]) => endpoints.map((one) => sent(one).length);
const contents = (thread: string) =>
	fixture.sandbox.store.threads.get(thread)?.messages.map(({ content }) => content);
const pairs = (...all: string[]) => all.flatMap((one) => [one, `Echo: ${one}`]);

async function say(thread: string, words = 'ours', own: INodeParameters = {}, operation = ask) {
	const items = [says(thread, words)];
	const { items: out, error } = await fixture.run(operation(own), { items });
	return { json: out[0]?.json, error };
}

/** Somebody else says something on a thread, whose answer takes so long. */
async function theyAsk(thread: string, ms: number, input: unknown = message('theirs')) {
	add(onOthers(thread, { do: 'run', ms, nth: 1 }));
	await occupy(fixture.sandbox, thread, input);
	const theirs = stored(thread).at(-1);
	if (!theirs) throw new Error('nothing runs');
	return theirs;
}

describe('items', () => {
	const EMPTY = '"Message" is empty: its expression gave nothing for this item [item 0]';

	it('for one thread run one after another in their order; other threads run beside', async () => {
		const [a = '', b = '', c = ''] = await newThreads(fixture.sandbox, 3);
		add(lasting(150));
		const said = { [a]: ['a1', 'a2', 'a3'], [b]: ['b1', 'b2'], [c]: ['c1'] };
		const items = [says(a, 'a1'), says(b, 'b1'), says(a, 'a2')];
		items.push(says(c, 'c1'), says(b, 'b2'), says(a, 'a3'));
		const { items: out } = await fixture.run(ask(), { items });
		const outputs = items.map(({ json }) => `Echo: ${String(json.message)}`);
		expect(out.map(({ json }) => json.output)).toEqual(outputs);
		expect(out.map(({ pairedItem }) => pairedItem)).toEqual(range(6).map((item) => ({ item })));
		for (const [thread, words] of Object.entries(said)) {
			expect(contents(thread)).toEqual(pairs(...words));
			const runs = stored(thread);
			expect(runs.slice(1).some((run, index) => overlap(run, runs[index] ?? run))).toBe(false);
		}
		const [first] = stored(a);
		const beside = [b, c].flatMap(stored).filter((run) => first && overlap(run, first));
		expect(beside.map(({ text }) => text).sort()).toEqual(['b1', 'c1']);
	});

	it('run as many threads at once as asked for', async () => {
		const threads = await newThreads(fixture.sandbox, 6);
		add(lasting(200));
		const items = threads.map((thread) => says(thread, 'Hi'));
		await fixture.run(ask({ tuning: { concurrency: 2 } }), { items });
		const runs = threads.flatMap(stored);
		const underWay = (at: number) =>
			runs.filter(({ startedAt, endedAt = Infinity }) => startedAt <= at && at < endedAt).length;
		expect(Math.max(...runs.map(({ startedAt }) => underWay(startedAt)))).toBe(2);
	});

	it.each([
		['after a failed one', 'one', ['one'], 'The run failed: No [item 0]'],
		['where one is wrong', '', [], EMPTY],
	])('do not run %s when On Error is Stop', async (_, first, said, words) => {
		const thread = await newThread();
		add({ endpoint: 'runs', nth: 1, do: 'run', outcome: 'fail', error: 'No' });
		const { error } = await fixture.run(ask(), {
			items: [says(thread, first), says(thread, 'two')],
		});
		expect(error?.message).toBe(words);
		expect(saidOn(fixture.sandbox, thread)).toEqual(said);
	});
});

describe('a thread on which somebody else runs', () => {
	it('is reported at once when asked to', async () => {
		const thread = await newThread();
		await theyAsk(thread, 400);
		const { error } = await say(thread, 'ours', { tuning: { whenBusy: 'fail' } });
		expect(error?.message).toMatch(/^Another run is active on this thread \([^,]+, since [^,]+\)$/);
		expect(error?.context.data).toMatchObject({ threadId: thread });
		expect(arrivals(fixture.sandbox, thread)).toBe(1);
	});

	it('is reported without IDs with On Error: Continue, and its details have them', async () => {
		const thread = await newThread();
		await theyAsk(thread, 400);
		const [theirs] = stored(thread);
		const { items } = await fixture.run(ask({ tuning: { whenBusy: 'fail' } }), {
			items: [says(thread, 'ours')],
			onError: 'continueRegularOutput',
		});
		const words = (id = '') => `Another run is active on this thread (${id}, since `;
		expect(items[0]?.json.error).toContain(words('…'));
		expect(items[0]?.json.error).not.toContain(theirs?.id);
		expect(detailsOf(items[0])).toMatchObject({
			message: expect.stringContaining(words(theirs?.id)),
			threadId: thread,
		});
	});

	it('left busy by a server that died is run on when asked to, and cured by it', async () => {
		const thread = await newThread();
		await say(thread, 'before');
		const { id } = await theyAsk(thread, AN_HOUR);
		await fixture.sandbox.killRuns();
		const { error } = await say(thread, 'ours', { options: { deadlineMinutes: 0.5 } });
		expect(error?.message).toMatch(
			new RegExp(
				`on the thread \\(${id}, since .*, without a sign for 30 s\\) when the deadline came`,
			),
		);
		expect(error?.description).toMatch(/Cancel Run.*"Run Anyway"/);
		const { json } = await say(thread, 'ours', { tuning: { whenBusy: 'run' } });
		expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		expect(fixture.sandbox.store.threads.get(thread)?.status).toBe('idle');
	});

	it.each([
		[1, true, { output: 'Echo: ours', status: 'completed' }],
		[2, false, { role: 'ai', content: 'Echo: ours' }],
	])('may have answers overwritten, which each says, and a hint: %s', async (...row) => {
		const [count, simplify, expected] = row;
		const threads = await newThreads(fixture.sandbox, count);
		for (const thread of threads) {
			await say(thread, 'before');
			await theyAsk(thread, 2_000);
			fixture.sandbox.faults.clear();
		}
		// What the thread holds is read once both have ended.
		add(delaying('E15', 3_000));
		const items = threads.map((thread) => says(thread, 'ours'));
		const own = ask({ simplify, tuning: { whenBusy: 'run' } });
		const { items: out, hints } = await fixture.run(own, { items });
		for (const { json } of out) expect(json).toMatchObject({ ...expected, remembered: false });
		const words = `Answers overwritten on the thread by another run at the same time: ${count}.`;
		expect(hints.map((one) => one.message)).toEqual([words]);
		const alone = await fixture.run(own, { items });
		expect(alone.hints).toEqual([]);
		expect(alone.items[0]?.json).not.toHaveProperty('remembered');
	});
});

/** Somebody else begins a run between our look at the thread and our start. */
async function meet({ ours = 600, theirs = 300, operation = ask, tuning = {} }) {
	const thread = await newThread();
	await say(thread, 'before');
	const begun = sent('runs').length;
	add({ endpoint: 'runs', nth: 1, do: 'delay', ms: 200 }, lasting(ours));
	add(onOthers(thread, { do: 'run', ms: theirs }));
	const asking = say(thread, 'ours', { tuning }, operation);
	await clock.until(() => sent('runs').length > begun);
	await occupy(fixture.sandbox, thread, message('theirs'));
	return { ...(await asking), thread, tries: [sent('runs').length - begun, sent('cancel').length] };
}

describe('a run beside which somebody else has begun one', () => {
	it.each<[string, Parameters<typeof meet>[0], string[], boolean | undefined]>([
		['that it outlasts is kept', { ours: 600, theirs: 300 }, pairs('before', 'ours'), undefined],
		['that outlasts it is lost', { ours: 150, theirs: 900 }, pairs('before', 'theirs'), false],
	])('goes on: its answer %s, which is said', async (_, meeting, kept, remembered) => {
		// What the thread holds is read once both have ended.
		add(delaying('E15', 3_000));
		const { json, thread, tries } = await meet(meeting);
		expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		expect(json?.remembered).toBe(remembered);
		expect(tries).toEqual([1, 0]);
		expect(contents(thread)).toEqual(kept);
		expect(saidOn(fixture.sandbox, thread).sort()).toEqual(['before', 'ours', 'theirs']);
	});

	const OURS = 'Echo: ours';
	const unknown = (what: string) => `It is not known whether the ${what} has reached`;
	const lost = (when: 'before' | 'after') => losing('runs', when, { nth: 2 });
	const unread = answering('getMessages', 403, { nth: range(1, 12, 2) });
	const anew = { theirs: 100, operation: again };
	const anyway = { tuning: { whenBusy: 'run' } };

	it.each<[string, FaultRule[], Parameters<typeof meet>[0], string]>([
		['goes on where others do not count', [], anyway, OURS],
		[
			'is not mistaken for theirs where its start is lost',
			[lost('before')],
			{ ours: 50 },
			unknown('message'),
		],
		[
			'is not mistaken for theirs where the answer to it is lost',
			[lost('after')],
			{ ours: 50 },
			unknown('message'),
		],
		[
			'is not mistaken for theirs where it answers again',
			[lost('before'), unread],
			anew,
			unknown('request'),
		],
	])('%s', async (_, faults, meeting, words) => {
		add(...faults);
		const met = await meet(meeting);
		expect(met.error?.message ?? met.json?.output).toContain(words);
		expect(met.tries).toEqual([1, 0]);
	});
});

it('a run has its own ID where another has begun beside it', async () => {
	const thread = await newThread();
	await say(thread, 'before');
	add(lasting(200));
	const asking = ['one', 'two'].map(
		async (words) => await say(thread, words, { tuning: { whenBusy: 'run' } }),
	);
	for (const { json } of await Promise.all(asking)) {
		const own = stored(thread).find(({ id }) => id === json?.runId);
		expect(json?.output).toBe(`Echo: ${own?.text}`);
	}
});

it('nothing is begun after the deadline, though the thread was free before', async () => {
	const thread = await newThread();
	await say(thread, `${INTERRUPTING_INPUT} first`);
	add(delaying('E5', 700));
	const { error } = await say(thread, 'ours', { options: { deadlineMinutes: 0.01 } });
	expect(error?.message).toBe('The run had not begun when the deadline came');
	expect(stored(thread)).toHaveLength(1);
});

describe('a server that does not tell of its runs', () => {
	const unlisted = (status: number, more = {}) => answering('listRuns', status, more);
	const body = '<html>404 Not Found</html>';

	it('has no such routes: each message is sent to E4, which is found out once an execution', async () => {
		add(withoutRoute('listRuns'));
		const thread = await newThread();
		const items = ['one', 'two'].map((words) => says(thread, words));
		const { items: out } = await fixture.run(ask(), { items });
		expect(out.map(({ json }) => json.status)).toEqual(['completed', 'completed']);
		expect(counts('runs', 'E4', 'listRuns')).toEqual([0, 2, 3]);
	});

	it.each<[string, FaultRule, string, number]>([
		['may not: nothing is said', unlisted(403), 'This key may not do this: no (HTTP 403)', 0],
		['cannot for a while: it is asked again', unlisted(503, { times: 5 }), 'Echo: ours', 1],
		['never could: it is given up', unlisted(503), 'The server answered 503: no', 0],
		['cannot after the start: it is joined', unlisted(403, { nth: [2, 3] }), 'Echo: ours', 1],
	])('%s', async (_, fault, words, runs) => {
		add(fault);
		const { json, error } = await say(await newThread());
		expect(error?.message ?? json?.output).toBe(words);
		expect(counts('runs', 'E4')).toEqual([runs, 0]);
		expect(sent('listRuns').length).toBeLessThan(40);
	});

	it.each<[string, number, string, string[]]>([
		['is restarted', 10, 'Echo: ours', ['zero', 'theirs', 'ours']],
		['stays away', 1_000, 'The server answered 404: an HTML page', ['zero', 'theirs']],
	])('%s behind a proxy, whose 404 comes after a list', async (_, last, words, said) => {
		const thread = await newThread();
		add(lasting(600));
		await say(thread, 'zero');
		const others = { assistant_id: ECHO_ASSISTANT_ID, input: message('theirs') };
		await post(fixture.sandbox, `threads/${thread}/runs`, others);
		add(unlisted(404, { body, nth: range(2, last) }));
		const { json, error } = await say(thread, 'ours', { options: { deadlineMinutes: 0.5 } });
		expect(error?.message ?? json?.output).toBe(words);
		expect(sent('E4')).toEqual([]);
		expect(saidOn(fixture.sandbox, thread)).toEqual(said);
	});
});

describe('a run that blocks a thread', () => {
	const LIMIT_MS = 6_000;
	const SILENT = {
		options: { deadlineMinutes: 10 },
		tuning: { cancelSilentMinutes: LIMIT_MS / 60_000 },
	};
	const SHORT = { ...SILENT, options: { deadlineMinutes: 0.3 } };
	const BUSY = /, without a sign for \d+ s\) when the deadline came$/;

	/** A thread with somebody else's run, which has begun an hour ago unless it is young. */
	async function blocked({ ms = AN_HOUR, age = AN_HOUR }) {
		const thread = await newThread();
		const run = await theyAsk(thread, ms);
		run.startedAt -= age;
		return { thread, run };
	}

	it.each<[string, FaultRule[]]>([
		['is open', []],
		['breaks ever again', [{ endpoint: 'join', do: 'drop', when: 'during', ms: 1_000, times: 4 }]],
	])(
		'is cancelled once it was silent for as long as is allowed, which is said, where its stream %s',
		async (_, faults) => {
			const { thread, run } = await blocked({});
			await fixture.sandbox.killRuns();
			add(...faults);
			const { json } = await say(thread, 'ours', SILENT);
			expect(json).toMatchObject({ output: 'Echo: ours', cancelledRun: run.id });
			expect(run.status).toBe('interrupted');
			const [[heard], [cancelled]] = [sent('join'), sent('cancel')];
			const silence = Number(cancelled?.arrivedAt) - Number(heard?.arrivedAt);
			expect(silence).toBeGreaterThanOrEqual(LIMIT_MS - 20);
			expect(silence).toBeLessThan(LIMIT_MS + 2_000);
		},
	);

	it('is said to be cancelled where the deadline comes before it has ended', async () => {
		const { thread, run } = await blocked({});
		const body = { canceledExecutionIds: [run.id] };
		add(answering('cancel', 201, { body }));
		const { error } = await say(thread, 'ours', SHORT);
		expect(error?.message).toMatch(BUSY);
		expect(error?.description).toContain(`The silent run ${run.id} was cancelled.`);
		expect(error?.context.data).toMatchObject({ cancelledRun: run.id });
		expect(sent('cancel')).toHaveLength(1);
	});

	const deaf = answering('join', 502);

	it.each<[string, Parameters<typeof blocked>[0], INodeParameters, FaultRule[]]>([
		['where nothing is allowed to', {}, { tuning: { cancelSilentMinutes: 0 } }, []],
		[
			'where it began less than thrice as long ago',
			{ age: 0 },
			{ tuning: { cancelSilentMinutes: 0.2 } },
			[],
		],
		['where it cannot be heard', {}, {}, [deaf]],
	])('is not cancelled %s', async (_, blocking, own, faults) => {
		const { thread, run } = await blocked(blocking);
		add(...faults);
		const { error } = await say(thread, 'ours', { ...SHORT, ...own });
		expect(error?.message).toMatch(BUSY);
		expect(error?.message).toContain(`(${run.id}, since `);
		expect(sent('cancel')).toEqual([]);
	});

	it('is not cancelled while it speaks', async () => {
		fixture.sandbox.store.putAssistant(SAYING_ASSISTANT);
		const thread = await newThread();
		await occupy(fixture.sandbox, thread, message('LONG9 DRIP2000'), SAYING_ASSISTANT.id);
		Object.assign(stored(thread)[0] ?? {}, { startedAt: clock.now() - AN_HOUR });
		const saying = (parameters: INodeParameters = {}) =>
			ask({ assistantId: byId(SAYING_ASSISTANT.id), ...parameters });
		const { json } = await say(thread, 'Hello', SILENT, saying);
		expect(json?.output).toMatch(/^You said: Hello/);
		expect(json).not.toHaveProperty('cancelledRun');
		expect(sent('cancel')).toEqual([]);
	});

	it('is not cancelled while a tool is at work that was decided, which may take long', async () => {
		const thread = await newThread();
		await say(thread, `${INTERRUPTING_INPUT} first`);
		const [run] = stored(thread);
		add(onOthers(thread, { do: 'run', ms: AN_HOUR }));
		void decideAsOthers(fixture.sandbox, thread).catch(() => undefined);
		await clock.until(() => run?.status === 'running');
		Object.assign(run ?? {}, { startedAt: clock.now() - AN_HOUR });
		await say(thread, 'ours', SHORT);
		expect(sent('join')).not.toEqual([]);
		expect(sent('cancel')).toEqual([]);
	});

	it('is not said to be cancelled where the server refuses', async () => {
		const { thread } = await blocked({ ms: 18_000 });
		add(answering('cancel', 403));
		const { json } = await say(thread, 'ours', SILENT);
		expect(sent('cancel')).not.toEqual([]);
		expect(json).toMatchObject({ output: 'Echo: ours' });
		expect(json).not.toHaveProperty('cancelledRun');
	});

	it('is heard no longer than it is waited for', async () => {
		const { thread, run } = await blocked({});
		const heardBy = () => fixture.sandbox.store.speeches.get(run.id)?.heardBy;
		add(answering('run', 403), answering('listRuns', 403, { nth: [2, 3] }));
		const calling = say(thread, 'ours', { ...SILENT, tuning: { cancelSilentMinutes: 0 } });
		await clock.until(() => sent('join').length >= 1);
		await clock.settled();
		expect(heardBy()).toBe(1);
		expect((await calling).error?.message).toBe('This key may not do this: no (HTTP 403)');
		await clock.settled();
		expect(heardBy()).toBe(0);
	});
});
