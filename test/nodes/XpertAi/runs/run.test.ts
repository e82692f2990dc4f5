import { anyAnswer } from '../../../../nodes/XpertAi/transport/answer';
import { readThreadPatiently, withDeadline } from '../../../../nodes/XpertAi/runs/run';
import type { Run } from '../../../../nodes/XpertAi/runs/run';
import { waitForRunResult } from '../../../../nodes/XpertAi/runs/runThread';
import { startInTurn } from '../../../../nodes/XpertAi/runs/start';
import type { ApiRequest, Outcome, Send } from '../../../../nodes/XpertAi/transport/request';
import { no, parsing, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import type { VirtualTime } from '../../support/virtualTime';
import { answering, failure, listed, lost, mine } from '../threads/support/answering';

const SECOND = 1000;
const READ: ApiRequest = {
	method: 'GET',
	path: '/threads/t',
	timeoutMs: 30 * SECOND,
	schema: anyAnswer,
};
const STREAM: ApiRequest = { ...READ, stream: { onEvent: () => undefined } };

const later = (seconds: number) => no({ ...failure, retryAfterMs: seconds * SECOND });

/** Sends until a deadline, in so many seconds, to a server that gives these answers, the last for ever. */
function sending(deadlineS: number, answers: Outcome[] = [success({})], stopAfterMs = Infinity) {
	const time = virtualTime(stopAfterMs);
	const sent: Array<ApiRequest & { at: number }> = [];
	const client = withDeadline({
		clock: time,
		signal: time.signal,
		deadline: time.now() + deadlineS * SECOND,
		send: parsing((request) => {
			sent.push({ ...request, at: time.elapsed() / SECOND });
			return answers[Math.min(sent.length, answers.length) - 1] ?? success({});
		}),
	});
	return { send: client.send, sent, time, client };
}

describe('a request that is sent in time', () => {
	it('does not outlast the deadline, but has a second for a last look', async () => {
		const { send, sent, time } = sending(40);
		await send(READ);
		time.pass(25 * SECOND);
		await send(READ);
		time.pass(30 * SECOND);
		await send(READ);
		const limits = sent.map(({ timeoutMs, totalMs }) => [timeoutMs, totalMs]);
		expect(limits).toEqual([
			[30 * SECOND, 40 * SECOND],
			[15 * SECOND, 15 * SECOND],
			[SECOND, SECOND],
		]);
	});

	it('of a stream limits its silence, and all of it by the deadline', async () => {
		const { send, sent } = sending(600);
		await send(STREAM);
		expect(sent).toMatchObject([{ timeoutMs: 30 * SECOND, totalMs: 600 * SECOND }]);
	});

	it('is not sent once the execution was stopped', async () => {
		const { send, sent } = sending(600, [], 0);
		expect(await send(READ)).toEqual({
			ok: false,
			failure: { kind: 'cancelled', method: 'GET', path: '/api/ai/threads/t' },
		});
		expect(sent).toEqual([]);
	});

	it.each([
		['is sent no sooner than the server asked for, whatever is sent next', 600, 0, [0, 20, 20]],
		['is not waited for where so much time has passed', 600, 25, [0, 25, 25]],
		['is sent where that time ends with the deadline', 20, 0, [0, 20, 20]],
	])('%s', async (_, deadlineS, passedS, times) => {
		const { send, sent, time } = sending(deadlineS, [later(20), success({})]);
		await send(READ);
		time.pass(passedS * SECOND);
		expect(await send({ ...READ, path: '/other' })).toMatchObject({ ok: true });
		await send(READ);
		expect(sent.map(({ at }) => at)).toEqual(times);
		expect(time.waits).toHaveLength(passedS ? 0 : 1);
	});

	it('is not sent where that time is beyond the deadline, and says at once what the server said', async () => {
		const { send, sent, time } = sending(10, [later(20)]);
		await send(READ);
		const { failure: why } = (await send({ ...READ, path: '/other' })) as { failure: object };
		expect(why).toEqual({
			...failure,
			retryAfterMs: 20 * SECOND,
			method: 'GET',
			path: '/api/ai/other',
		});
		expect(sent).toHaveLength(1);
		expect(time.waits).toEqual([]);
	});

	it('ends its wait when the execution is stopped, and is not sent', async () => {
		const { send, sent } = sending(600, [later(20)], 5 * SECOND);
		await send(READ);
		expect(await send(READ)).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
		expect(sent).toHaveLength(1);
	});
});

describe('the time until the deadline', () => {
	it('is never below nothing, and no wait goes beyond it', async () => {
		const { client, time } = sending(10);
		await client.wait(4 * SECOND);
		expect(client.remaining()).toBe(6 * SECOND);
		await client.wait(60 * SECOND);
		expect(time.elapsed()).toBe(10 * SECOND);
		time.pass(SECOND);
		expect(client.remaining()).toBe(0);
	});
});

it.each([
	['is read with growing pauses until the server shows it', 60, 2, { ok: true }, [2, 3]],
	['is read until the deadline', 2, Infinity, { failure }, [2]],
])('a thread %s', async (_, deadlineS, failures, outcome, waits) => {
	let reads = 0;
	const time = virtualTime();
	const send = parsing(() =>
		++reads > failures ? success({ thread_id: 't', status: 'idle' }) : no(failure),
	);
	const limits = { clock: time, deadline: time.now() + deadlineS * SECOND };
	const read = await readThreadPatiently({ ...withDeadline({ send, ...limits }), threadId: 't' });
	expect(read).toMatchObject(outcome);
	expect(time.waits).toEqual(waits.map((seconds) => seconds * SECOND));
});

const RUN = { run_id: 'r', thread_id: 't', assistant_id: 'a' };

const start = async (send: Send, clock: VirtualTime, more: Partial<Run> = {}) =>
	await startInTurn({
		...withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND }),
		threadId: 't',
		body: {},
		isNew: false,
		whenBusy: 'wait',
		cancelSilentMs: 0,
		intent: { kind: 'message' },
		routes: { areMissing: false },
		...more,
	});

it('a run on a thread is given up after three tries where the server cannot be reached', async () => {
	const { asking, asked } = answering(no(lost));
	const result = { failure: { kind: 'network' } };
	expect(await start(asking.send, virtualTime())).toMatchObject({ kind: 'notStarted', result });
	expect(asked).toHaveLength(3);
});

it('a stream that breaks is joined again soon as long as it has said something new', async () => {
	const time = virtualTime();
	let said = 0;
	const send = parsing(async ({ stream }) => {
		stream?.onEvent({ id: String(++said), data: '{"type":"event"}' });
		return stream ? no(lost) : success({ ...RUN, status: 'running', created_at: '' });
	});
	const client = withDeadline({ send, clock: time, deadline: time.now() + 600 * SECOND });
	await waitForRunResult({ ...client, threadId: 't', runId: 'r' });
	// The longer waits are those for a sign of the stream.
	const short = time.waits.filter((ms) => ms < 10 * SECOND);
	expect(short.slice(0, 3)).toEqual([2_000, 2_000, 2_000]);
});

it.each([
	['is read once it can be', 2, { status: 'completed', output: 'Late' }],
	[
		'is not known where it never can be',
		Infinity,
		{
			status: 'timedOut',
			reason: 'The run has ended, but its answer could not be read when the deadline came',
			failure: { kind: 'status', status: 500 },
		},
	],
])('the answer of a stream without words %s', async (_, failures, result) => {
	const time = virtualTime();
	let reads = 0;
	const send = parsing(async ({ path, stream }) => {
		stream?.onEvent({ id: '1', data: '{"type":"event","event":"on_conversation_start"}' });
		stream?.onEvent({ id: '2', data: '{"type":"complete"}' });
		if (stream) return success('');
		if (++reads <= failures) return no(failure);
		const ofRun = { role: 'ai', content: 'Late', executionId: 'silent' };
		return path.includes('messages') ? success({ items: [ofRun] }) : listed(mine('c'));
	});
	const client = withDeadline({ send, clock: time, deadline: time.now() + 60 * SECOND });
	expect(await waitForRunResult({ ...client, threadId: 't', runId: 'silent' })).toMatchObject(
		result,
	);
});

it('a run that was never read is given up after a minute', async () => {
	const time = virtualTime();
	const limits = { clock: time, deadline: time.now() + 600 * SECOND };
	const client = withDeadline({ send: parsing(() => no(lost)), ...limits });
	const result = await waitForRunResult({ ...client, threadId: 't', runId: 'r' });
	expect(result).toMatchObject({ status: 'failed', failure: { code: 'ECONNRESET' } });
	expect(time.elapsed()).toBeGreaterThanOrEqual(60 * SECOND);
	expect(time.elapsed()).toBeLessThan(120 * SECOND);
});

describe('a run on a thread whose last run has ended', () => {
	it.each([
		[-800, 0],
		[-799, 800],
		[0, 800],
		[799, 1],
		[800, 0],
	])('%i ms ago begins in %i ms, once the answer before it is stored', async (agoMs, waitMs) => {
		const time = virtualTime();
		const endedAt = new Date(time.now() - agoMs).toISOString();
		const last = { ...RUN, status: 'success', created_at: endedAt, updated_at: endedAt };
		let begunMs: number | undefined;
		const send = parsing(async ({ method }) => {
			if (method === 'POST') begunMs = time.elapsed();
			return success(method === 'POST' ? last : [last]);
		});
		const started = await start(send, time);
		expect(begunMs).toBe(waitMs);
		// Kept as long as the run lasts, the runs of a long thread would fill the memory.
		expect(started).not.toHaveProperty('before');
	});
});

it.each(['route', undefined] as const)(
	'a server is known to list no runs only if it says so itself (missing: %s)',
	async (missing) => {
		const routes = { areMissing: false };
		const { asking } = answering(no({ ...failure, status: 404, missing }));
		expect(await start(asking.send, virtualTime(), { routes })).toMatchObject({
			kind: 'noRoutes',
		});
		expect(routes.areMissing).toBe(missing === 'route');
	},
);

it.each([
	['running', '09', true],
	['success', '09', false],
	['success', '10', true],
	['error', '11', false],
	['interrupted', '11', false],
])('beside an older run (%s since %s), one that began at 10 gives way: %s', async (...course) => {
	const [status, updated_at, givesWay] = course;
	const own = { ...RUN, status: 'running', created_at: '10' };
	const older = { ...RUN, run_id: 'older', status, created_at: '08', updated_at };
	// The list cannot be read at first, which is no reason to give up.
	const lists = [success([]), no(lost), no(lost), no(lost)];
	let isCancelled = false;
	const send = parsing(async ({ method, path }) => {
		isCancelled ||= path.endsWith('/r/cancel');
		if (path.endsWith('cancel')) return success({ canceledExecutionIds: ['r'] });
		return method === 'POST' ? success(own) : (lists.shift() ?? success([older, own]));
	});
	await start(send, virtualTime(), { whenBusy: 'fail' });
	expect(isCancelled).toBe(givesWay);
});
