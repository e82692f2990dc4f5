import { beginRun } from '../../../../nodes/XpertAi/runs/begin';
import type { Seen } from '../../../../nodes/XpertAi/runs/begin';
import type { Sent } from '../../../../nodes/XpertAi/runs/run';
import { virtualTime } from '../../support/virtualTime';
import { failure, listed, lost, no, success } from '../threads/support/answering';
import { BODIES, saying } from './support/run';
import { LIST, NO_ROUTE, READ, RUN, SEARCH, START, serving, telling } from './support/routes';
import type { Routes } from './support/routes';

const SECOND = 1000;
const BODY = { ...saying('Hi'), assistant_id: 'a' };
const THREAD = {
	...{ thread_id: 't', status: 'idle', values: { messages: [] } },
	metadata: { id: 'c', assistant_id: 'of the thread' },
};

/** Begins a run on a thread that has run before, on which nothing runs. */
async function begin(routes: Routes, more: Partial<Sent> = {}, seen?: Seen, stopAfterMs?: number) {
	const { asking, asked, names, time } = serving(
		{ [READ]: [success(THREAD)], [LIST]: [telling()], [START]: [success(RUN)], ...routes },
		virtualTime(stopAfterMs),
	);
	const sent: Sent = {
		...{ ...asking, threadId: 't', body: BODY, isNew: false, whenBusy: 'wait' },
		...{ deadline: time.now() + 600 * SECOND, ...more },
	};
	const begun = await beginRun(sent, seen);
	const bodies = asked.flatMap(({ method, path, body }) =>
		`${method} ${path}` === START ? [JSON.parse(String(body)) as unknown] : [],
	);
	return { begun, names: names(), bodies, time };
}

describe('a run that begins in the background', () => {
	it('is told with who answers in which conversation, and how its thread was', async () => {
		const { begun, names, bodies } = await begin({});
		expect(begun).toMatchObject({ runId: 'r', assistantId: 'a', conversationId: 'c' });
		expect(begun).toHaveProperty('before.status', 'idle');
		expect(names).toEqual([READ, LIST, START]);
		expect(bodies).toEqual([BODY]);
	});

	it('begins at once on a thread of its own, and on one that was seen just now', async () => {
		expect((await begin({}, { isNew: true })).names).toEqual([START]);
		expect((await begin({}, {}, { runs: [] })).names).toEqual([START]);
	});

	it('of a question that is answered again has the assistant of its thread, unless one is named', async () => {
		const { assistant_id: _, ...unnamed } = BODIES.retry;
		const again = await begin({}, { body: unnamed });
		expect(again.begun).toMatchObject({ runId: 'r', assistantId: 'of the thread' });
		expect(again.bodies).toEqual([{ assistant_id: 'of the thread', ...unnamed }]);
		const named = await begin({}, { body: BODIES.retry });
		expect(named.begun).toMatchObject({ assistantId: 'a' });
	});

	it('has nothing to answer again where nothing was said: it would be busy for ever', async () => {
		const there = { [SEARCH]: [listed({ id: 'c', threadId: 't' })] };
		const { begun, names } = await begin(there, { body: BODIES.retry }, { runs: [] });
		expect(begun).toHaveProperty(
			'verdict.reason',
			'Nothing was said on this thread that could be answered again',
		);
		expect(names).toEqual([SEARCH]);
		const message = await begin({}, {}, { runs: [] });
		expect(message.begun).toMatchObject({ runId: 'r' });
	});

	it('does not begin while another is on the thread that is not to be waited for', async () => {
		const busy = { [READ]: [success({ ...THREAD, status: 'busy' })] };
		const { begun, names } = await begin(busy, { whenBusy: 'fail' });
		expect(begun).toMatchObject({ verdict: { status: 'failed' } });
		expect(names).not.toContain(START);
	});

	it('does not begin once the execution was stopped', async () => {
		const { begun, names } = await begin({}, {}, undefined, 0);
		expect(begun).toMatchObject({ verdict: { status: 'cancelled' } });
		expect(names).toEqual([]);
		const stopping = await begin({ [START]: [no({ ...lost, kind: 'cancelled' })] });
		expect(stopping.begun).toMatchObject({ verdict: { status: 'cancelled' } });
	});

	it('is not begun where the runs of its thread cannot be listed, and says what to use without them', async () => {
		const forbidden = { ...failure, status: 403 };
		const refused = await begin({ [LIST]: [no(forbidden)] });
		expect(refused.begun).toMatchObject({ verdict: { status: 'failed', failure: forbidden } });
		expect(refused.begun).not.toHaveProperty('verdict.advice', expect.anything());
		const missing = await begin({ [LIST]: [NO_ROUTE] });
		expect(missing.begun).toMatchObject({
			verdict: { reason: 'This server starts no runs in the background' },
		});
		expect(missing.names).not.toContain(START);
	});

	it('is not looked for where the server says no, or certainly did not begin it', async () => {
		for (const why of [
			{ ...failure, status: 403 },
			{ ...lost, code: 'ECONNREFUSED' },
		]) {
			const { begun, names } = await begin({ [START]: [no(why)] });
			expect(begun).toMatchObject({ verdict: { status: 'failed', failure: why } });
			expect(names.filter((one) => one === LIST)).toHaveLength(1);
		}
	});
});

describe('a run whose number was lost', () => {
	const dropped = { [START]: [no(lost)] };
	const old = { run_id: 'old', created_at: '2026-11-22T11:00:00.000Z' };

	it.each([
		['the connection', lost],
		['a gateway that gave up', { ...failure, status: 524 }],
	])('is the one that was not there before (%s)', async (_, why) => {
		const lists = { [LIST]: [telling(old), telling(old, {})] };
		const { begun, names, time } = await begin({ ...lists, [START]: [no(why)] });
		expect(begun).toMatchObject({ runId: 'r', assistantId: 'a', conversationId: 'c' });
		expect(names.filter((one) => one === START)).toHaveLength(1);
		expect(time.elapsed()).toBe(0);
	});

	it('is looked for four times, less and less often, also while a look fails', async () => {
		const forbidden = no({ ...failure, status: 403 });
		const late = { [LIST]: [telling(), telling(), forbidden, telling(), telling({})] };
		const found = await begin({ ...dropped, ...late });
		expect(found.begun).toMatchObject({ runId: 'r' });
		expect(found.time.elapsed()).toBe((2 + 3 + 4.5) * SECOND);
		// Here nothing can stop it.
		const { begun, names } = await begin(dropped, { signal: undefined });
		expect(begun).toMatchObject({ verdict: { status: 'failed', failure: lost } });
		expect(begun).toHaveProperty('verdict.reason', expect.stringContaining('may have begun'));
		expect(names.filter((one) => one === LIST)).toHaveLength(5);
	});

	it('is looked for no longer than until the deadline, or until the execution is stopped', async () => {
		const late = await begin(dropped, { deadline: virtualTime().now() + 3 * SECOND });
		expect(late.begun).toMatchObject({ verdict: { status: 'failed', failure: lost } });
		expect(late.time.elapsed()).toBe(3 * SECOND);
		// Once before it was begun, and then after 0, 2 and 3 s.
		expect(late.names.filter((one) => one === LIST)).toHaveLength(4);
		const stopped = await begin(dropped, {}, undefined, SECOND);
		expect(stopped.begun).toMatchObject({ verdict: { status: 'cancelled', failure: lost } });
	});

	it('of a thread of its own is any that is there', async () => {
		const { begun } = await begin({ ...dropped, [LIST]: [telling({})] }, { isNew: true });
		expect(begun).toMatchObject({ runId: 'r' });
	});
});
