import { range, sortBy, uniq } from 'lodash';
import type { INodeParameters } from 'n8n-workflow';

import { type FaultRule, INTERRUPTING_INPUT, SAYING_ASSISTANT } from 'sandbox';
import { turnLockId } from 'nodes/XpertAi/runs/turnLock';
import { clock } from './support/clock';
import { AN_HOUR, stopOnce } from './support/fixture';
import {
	again,
	answering,
	ask,
	decide,
	lasting,
	losing,
	message,
	occupy,
	onOthers,
	overlap,
	says,
	useRuns,
} from './support/runs';
import { type Kill, worker } from './support/workers';

const { fixture, call, add, sent, stored, newThread } = useRuns();

const MINUTE_MS = 60_000;
const ASSISTANT = SAYING_ASSISTANT.id;

beforeEach(() => fixture.sandbox.store.putAssistant(SAYING_ASSISTANT));
// What a test teaches the node of its server is forgotten after an hour.
afterEach(async () => await clock.advance(AN_HOUR));

const endpoints = () => fixture.sandbox.requests.all.map(({ endpoint }) => endpoint);
const locksOf = (thread: string) => fixture.sandbox.store.conversations.has(turnLockId(thread));

/** Somebody holds the lock of a thread, for so long already. */
function hold(thread: string, forMs = 0) {
	const createdAt = new Date(clock.now() - forMs).toISOString();
	const id = turnLockId(thread);
	const lock = { id, title: 'theirs', createdById: null, createdAt, updatedAt: createdAt };
	return fixture.sandbox.store.putConversation(lock);
}

/** Workers that say something under one key, each at its moment; what came of those that are not killed. */
async function workersSay(key: string, atMs: number[], kill?: Kill) {
	const { sandbox } = fixture;
	const asking = atMs.map(async (ms, n) => {
		const say = await worker(sandbox, n === 0 ? kill : undefined);
		await clock.sleep(ms);
		return await say(key, ASSISTANT, `${key}${n}`);
	});
	const all = kill ? asking.slice(1) : asking;
	return await clock.during(Promise.all(all));
}

/** The runs of workers, in their order. */
const workersRuns = () =>
	sortBy(
		fixture.sandbox.store.runs.filter(({ text = '' }) => /^key\d/.test(text)),
		'startedAt',
	);

/** Runs one after another, and what the thread holds of them. */
function expectInTurn() {
	const runs = workersRuns();
	const [thread = ''] = uniq(runs.map(({ threadId }) => threadId));
	expect(sent('cancel')).toEqual([]);
	for (const [at, run] of runs.slice(1).entries()) {
		const before = runs[at] ?? run;
		// The list of runs shows the end of a run before the conversation does.
		if (before.status === 'success') expect(run.startedAt).toBeGreaterThanOrEqual(before.updatedAt);
	}
	expect(fixture.sandbox.store.threads.get(thread)?.messages).toHaveLength(2 * runs.length);
	return { runs, thread };
}

describe('workers on one thread', () => {
	it.each([
		['two at once', [0, 0]],
		['three at once', [0, 0, 0]],
		['three at moments of their own', [0, 3, 40]],
	])('lose nothing, and cancel nothing: %s, first messages and later ones', async (_, atMs) => {
		add(lasting(300));
		for (const round of ['key', 'key']) {
			const results = await workersSay(round, atMs);
			const completed = atMs.map(() => ({ status: 'completed' }));
			expect(results).toMatchObject(completed);
			expect(results.filter((one) => 'remembered' in one)).toEqual([]);
			const { runs, thread } = expectInTurn();
			expect(runs.length % atMs.length).toBe(0);
			expect(locksOf(thread)).toBe(false);
		}
	});

	it.each(range(2, 6).flatMap((n) => [[n, 'before', false] as const, [n, 'after', true] as const]))(
		'go on when one is killed with its request %i, %s this arrives: within its lease',
		async (number, _, arrives) => {
			add(lasting(300));
			await workersSay('key', [0]);
			fixture.sandbox.requests.clear();
			const began = clock.now();
			const results = await workersSay('key', [0, 50, 60], { sent: number, arrives });
			expect(results).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
			expect(clock.now() - began).toBeLessThan(MINUTE_MS + 5_000);
			const { runs } = expectInTurn();
			const others = runs.map(({ text }) => text).filter((text) => text !== 'key0');
			expect(others.sort()).toEqual(['key1', 'key2']);
		},
	);

	it.each<[string, FaultRule]>(
		['E13', 'listRuns', 'runs', 'deleteConversation', 'getConversation'].flatMap((endpoint) =>
			[1, 2].map((nth): [string, FaultRule] => [
				`${endpoint} (${nth})`,
				losing(endpoint, 'after', { nth }),
			]),
		),
	)('lose nothing where an answer is lost: %s', async (_, fault) => {
		add(lasting(300));
		await workersSay('key', [0]);
		add(fault);
		const results = await workersSay('key', [0, 0]);
		expect(results).toMatchObject([{ status: 'completed' }, { status: 'completed' }]);
		const { runs, thread } = expectInTurn();
		expect(runs).toHaveLength(3);
		expect(locksOf(thread)).toBe(false);
	});

	it('start one after another where a dead lock is taken away by several at once', async () => {
		add(lasting(300));
		const [{ threadId = '' } = {}] = await workersSay('key', [0]);
		hold(threadId, 2 * MINUTE_MS);
		expect(await workersSay('key', [0, 0, 1])).toMatchObject(
			Array(3).fill({ status: 'completed' }),
		);
		const { runs } = expectInTurn();
		expect(runs).toHaveLength(4);
		expect(locksOf(threadId)).toBe(false);
	});

	it.each<[string, FaultRule]>([
		[
			'E13 does not take an ID',
			answering('E13', 400, { path: 'conversations$', nth: range(2, 9) }),
		],
		['nothing can be deleted', answering('deleteConversation', 405)],
	])('answer each message once where %s: what was lost is said', async (_, fault) => {
		add(fault, lasting(300));
		const results = await workersSay('key', [0, 0]);
		const { threads } = fixture.sandbox.store;
		const runs = workersRuns();
		expect(sent('cancel')).toEqual([]);
		expect(runs.map(({ text }) => text).sort()).toEqual(['key0', 'key1']);
		const kept = threads.get(runs[0]?.threadId ?? '')?.messages.map(({ content }) => content);
		for (const [n, result] of results.entries()) {
			if (result.status !== 'completed') throw new Error(result.status);
			expect(result.output).toMatch(new RegExp(`^You said: key${n} \\[`));
			expect(result.remembered ?? kept?.includes(result.output)).toBe(
				kept?.includes(result.output),
			);
		}
	});
});

describe('a run', () => {
	const TAKEN = ['E13', 'listRuns'];

	it.each<[string, INodeParameters, string[]]>([
		['that is started', ask({ operation: 'start' }), TAKEN],
		['that answers again', again(), TAKEN],
		['that is decided', decide(), TAKEN],
		['that runs all the same', ask({ tuning: { whenBusy: 'run' } }), ['listRuns', 'runs']],
		['in one request', ask({ tuning: { inOneRequest: true } }), ['E15', 'E4']],
	])('%s takes the lock, or none', async (_, parameters, first) => {
		const thread = await newThread();
		const words = parameters.operation === 'decide' ? INTERRUPTING_INPUT : 'before';
		await call(ask(), words, thread);
		fixture.sandbox.requests.clear();
		const { json } = await call(parameters, 'ours', thread);
		expect(json).toMatchObject({ threadId: thread });
		expect(endpoints().slice(0, 2)).toEqual(first);
		await clock.settled();
		expect(locksOf(thread)).toBe(false);
	});

	const FAIL = { tuning: { whenBusy: 'fail' } };

	it('that does not wait for others waits up to 5 s for the lock, then the list decides', async () => {
		const thread = await newThread();
		hold(thread);
		const began = clock.now();
		expect((await call(ask(FAIL), 'ours', thread)).json).toMatchObject({ status: 'completed' });
		const [start] = sent('runs');
		expect(Number(start?.arrivedAt) - began).toBeGreaterThanOrEqual(5_000);
		expect(Number(start?.arrivedAt) - began).toBeLessThan(7_000);
		add(onOthers(thread, { do: 'run', ms: 60_000 }));
		await occupy(fixture.sandbox, thread, message('theirs'));
		expect((await call(ask(FAIL), 'ours', thread)).error).toMatch(/^Another run is active/);
	});

	it('is not begun by who has not got the lock until the deadline', async () => {
		const thread = await newThread();
		hold(thread);
		const { error } = await call(ask({ options: { deadlineMinutes: 0.5 } }), 'ours', thread);
		expect(error).toBe('Another run was still active on the thread when the deadline came');
		expect(sent('runs')).toEqual([]);
	});

	it.each<[string, FaultRule]>([
		['its start', answering('runs', 429, { nth: 1, headers: { 'retry-after': '30' } })],
		[
			'the list before it',
			answering('listRuns', 503, { nth: 1, headers: { 'retry-after': '30' } }),
		],
	])(
		'gives the lock back where the server asks to wait with %s, and begins again',
		async (_, fault) => {
			const thread = await newThread();
			add(fault);
			const { json } = await call(ask(), 'ours', thread);
			expect(json).toMatchObject({ status: 'completed' });
			const [first, second] = sent('E13');
			const [givenBack] = sent('deleteConversation');
			expect(Number(givenBack?.arrivedAt) - Number(first?.arrivedAt)).toBeLessThan(1_000);
			expect(Number(second?.arrivedAt) - Number(givenBack?.arrivedAt)).toBeGreaterThan(29_000);
			expect(stored(thread)).toHaveLength(1);
		},
	);

	it('whose list takes longer than the time for it is begun under another lock', async () => {
		const thread = await newThread();
		add({ endpoint: 'listRuns', do: 'delay', ms: 25_000, nth: 1 });
		expect((await call(ask(), 'ours', thread)).json).toMatchObject({ status: 'completed' });
		expect(endpoints().slice(0, 5)).toEqual([
			'E13',
			'listRuns',
			'deleteConversation',
			'listRuns',
			'E13',
		]);
	});

	it('is looked for under the lock where the answer to its start is lost', async () => {
		const thread = await newThread();
		await call(ask(), 'before', thread);
		add(lasting(3_000), losing('runs', 'after', { nth: 1 }));
		fixture.sandbox.requests.clear();
		expect((await call(ask(), 'ours', thread)).json).toMatchObject({ status: 'completed' });
		const all = endpoints();
		expect(all.indexOf('deleteConversation')).toBeGreaterThan(all.indexOf('E15'));
		expect(all.indexOf('deleteConversation')).toBeLessThan(all.indexOf('join') + 2);
	});

	it('gives the lock back, and is waited for with it, where the execution is stopped meanwhile', async () => {
		const thread = await newThread();
		add(lasting(AN_HOUR), { endpoint: 'deleteConversation', do: 'delay', ms: 2_000 });
		const { onStart } = stopOnce(() => sent('join').length > 0);
		await fixture.run(ask(), { items: [says(thread, 'ours')], onStart });
		expect(locksOf(thread)).toBe(false);
	});
});

describe('a run behind that of somebody else', () => {
	it('is woken by the end of that run, and looks seldom until then', async () => {
		const thread = await newThread();
		add(onOthers(thread, { do: 'run', ms: 15 * MINUTE_MS }));
		await occupy(fixture.sandbox, thread, message('theirs'));
		const [theirs] = stored(thread);
		const asking = call(ask({ options: { deadlineMinutes: 30 } }), 'ours', thread);
		expect((await asking).json).toMatchObject({ status: 'completed' });
		const [, ours] = stored(thread);
		expect(Number(ours?.startedAt) - Number(theirs?.endedAt)).toBeLessThan(1_000);
		expect(sent('listRuns')).toHaveLength(2);
		expect(sent('run').length).toBeLessThanOrEqual(60);
		expect(ours && theirs && overlap(ours, theirs)).toBe(false);
	});

	it('finds its end by the run itself where its stream cannot be had', async () => {
		const thread = await newThread();
		add(onOthers(thread, { do: 'run', ms: 20_000 }), answering('join', 403));
		await occupy(fixture.sandbox, thread, message('theirs'));
		expect((await call(ask(), 'ours', thread)).json).toMatchObject({ status: 'completed' });
		const [theirs, ours] = stored(thread);
		expect(Number(ours?.startedAt) - Number(theirs?.endedAt)).toBeLessThan(6_000);
		expect(sent('listRuns')).toHaveLength(2);
	});

	it('starts in the end where two have waited and new ones come again and again', async () => {
		add(lasting(4_000));
		const results = await workersSay('key', [0, 100, 2_000, 4_000, 6_000, 8_000]);
		expect(results).toMatchObject(Array(6).fill({ status: 'completed' }));
		expectInTurn();
	});
});

it('a question on a thread with a thousand runs lists them once', async () => {
	const thread = await newThread();
	await call(ask(), 'before', thread);
	const [run] = stored(thread);
	const { runs } = fixture.sandbox.store;
	for (const n of range(1_000)) {
		const id = `${String(n).padStart(8, '0')}-0000-4000-8000-000000000001`;
		if (run) runs.unshift({ ...run, id, startedAt: run.startedAt - n });
	}
	fixture.sandbox.requests.clear();
	expect((await call(ask(), 'ours', thread)).json).toMatchObject({ status: 'completed' });
	expect(sent('listRuns')).toHaveLength(1);
	expect(endpoints()).toHaveLength(6);
});
