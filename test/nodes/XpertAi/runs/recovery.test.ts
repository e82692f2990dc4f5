import {
	cutOff,
	drop,
	gateway,
	hangs,
	notNow,
	refusal,
	refusedConnection,
	stray404,
	tooMany,
	wrongBody,
} from './support/faults';
import type { Fault } from './support/faults';
import { ANSWER, CANCELLED, QUESTION, REASON, TASKS, THREAD } from './support/modelServer';
import type { World } from './support/modelServer';
import { MINUTE, SECOND, run } from './support/run';
import type { Send } from '../../../../nodes/XpertAi/transport/request';

const BROKEN_WAITS: Array<[string, Fault]> = [
	['the connection drops at once', drop(true)],
	['the connection drops after a minute', drop(true, MINUTE)],
	['the answer is cut off', cutOff],
	['somebody else answers in its place with a text', wrongBody('OK', true)],
	['somebody else answers in its place with other JSON', wrongBody({ success: false }, true)],
	[
		'somebody else answers in its place with JSON that has content',
		wrongBody({ content: 'down for maintenance' }, true),
	],
	['a proxy whose server is away answers 404', stray404(true)],
	['a gateway answers 502', gateway(502)],
	['a gateway answers 504', gateway(504)],
	['a gateway answers 524', gateway(524, true, 100 * SECOND)],
	['a proxy answers 408', gateway(408)],
	['a proxy answers a bare 503', gateway(503)],
	['the request times out below the deadline', { ...hangs(true), afterMs: 5 * MINUTE }],
];

const ANY_EARLIER = [undefined, 'idle', 'error', 'interrupted', 'cancelled'] as const;

/** Threads on which the server shows at once that our run goes on. */
const SHOWN_EARLIER = [undefined, 'idle', 'error'] as const;

describe('when the wait breaks', () => {
	it.each(BROKEN_WAITS)('because %s, the answer is taken from the thread', async (_, fault) => {
		for (const earlier of ANY_EARLIER) {
			const world = { earlier, runMs: 7 * MINUTE, runs: [fault] };
			const { verdict, server } = await run(world);
			expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
			expect(server.of('E4')).toHaveLength(1);
		}
	});

	it('the failure of the run is found, with its reason', async () => {
		for (const earlier of ANY_EARLIER) {
			const runs = [gateway(504)];
			const { verdict } = await run({ earlier, runs, runMs: 3 * MINUTE, outcome: 'fail' });
			expect(verdict).toMatchObject({ status: 'failed', recovered: true });
			expect(verdict.reason).toBe(`The run failed: ${REASON}`);
		}
	});

	it('its question to a person is found', async () => {
		for (const earlier of ANY_EARLIER) {
			const runs = [drop(true)];
			const { verdict } = await run({ earlier, runs, outcome: 'interrupt' });
			expect(verdict).toMatchObject({ status: 'interrupted', recovered: true });
			expect(verdict.interrupt).toEqual(TASKS);
		}
	});

	it('that somebody cancelled it is found', async () => {
		for (const earlier of ANY_EARLIER) {
			const runs = [drop(true)];
			const { verdict } = await run({ earlier, runs, runMs: MINUTE, outcome: 'cancel' });
			expect(verdict).toMatchObject({ status: 'failed', recovered: true });
			expect(verdict.reason).toBe(`The run was cancelled on the server: ${CANCELLED}`);
		}
	});

	it('a run that left nothing on its thread is not taken for an answer', async () => {
		const world: World = { earlier: 'idle', runs: [drop(true)], outcome: 'nothing' };
		const { verdict } = await run(world);
		expect(verdict).toMatchObject({
			status: 'failed',
			reason: 'The thread has gone on without this message',
		});
	});

	it('an answer of nothing is found as well', async () => {
		const world: World = { earlier: 'idle', runs: [drop(true)], outcome: 'empty' };
		const { verdict } = await run(world);
		expect(verdict).toMatchObject({ status: 'completed', output: '', recovered: true });
	});

	it('a message that has not arrived is said not to, and is not sent again', async () => {
		for (const earlier of SHOWN_EARLIER) {
			const { verdict, server, reads } = await run({ earlier, runs: [drop(false)] });
			expect(verdict.status).toBe('failed');
			expect(verdict.reason).toMatch(/^The message did not reach the assistant\. .*ECONNRESET/);
			expect(server.of('E4')).toHaveLength(1);
			// Two looks decide: it may not have begun at the first.
			expect(reads).toEqual([0, 2 * SECOND, 5 * SECOND]);
		}
	});
});

describe('while the wait is broken, the thread', () => {
	it('is read after 2 s, then less and less often, up to every 15 s', async () => {
		const { reads, verdict } = await run({ runs: [drop(true)], runMs: 80 * SECOND });
		const expected = [0, 2, 5, 9.5, 16.25, 26.375, 41.375, 56.375, 71.375, 86.375];
		expect(reads).toEqual(expected.map((seconds) => seconds * SECOND));
		expect(verdict.status).toBe('completed');
	});

	it('is read on although some readings fail', async () => {
		const reads = [undefined, drop(false), gateway(502, false, 0), tooMany(), refusedConnection];
		const { verdict } = await run({ runs: [gateway(504)], runMs: 2 * MINUTE, reads });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
	});

	it('is read no sooner than the server asks for, however near the deadline is', async () => {
		const reads = [undefined, ...Array.from({ length: 99 }, () => tooMany(20 * SECOND))];
		const asked = await run({ runs: [drop(true)], runMs: 60 * MINUTE, reads });
		const gaps = asked.reads.slice(2).map((at, index) => at - (asked.reads[index + 1] ?? 0));
		expect(gaps.length).toBeGreaterThan(10);
		expect(Math.min(...gaps)).toBeGreaterThanOrEqual(20 * SECOND);
		expect(asked.tookMs).toBe(15 * MINUTE);
	});

	it('is read until the deadline and no longer', async () => {
		const { verdict, tookMs } = await run({ runs: [drop(true, MINUTE)], runMs: 60 * MINUTE });
		expect(verdict).toMatchObject({ status: 'timedOut', failure: { code: 'ECONNRESET' } });
		expect(verdict.reason).toBe('The run was still going on when the deadline came');
		expect(tookMs).toBe(15 * MINUTE);
	});

	it('is read once more when the wait has gone on in vain until the deadline', async () => {
		const seen = { status: 'completed', output: ANSWER, recovered: true };
		const unseen = 'The message may have reached the assistant, but nothing of it was to be seen';
		for (const earlier of SHOWN_EARLIER) {
			const late = await run({ earlier, runs: [hangs(true)], runMs: 7 * MINUTE });
			expect(late.verdict).toMatchObject(seen);
			expect(late.reads).toEqual([0, 15 * MINUTE]);
			// Whether it is about to begin one look cannot tell.
			const away = await run({ earlier, runs: [hangs(false)] });
			expect(away.verdict).toMatchObject({ status: 'timedOut' });
			expect(away.verdict.reason).toBe(`${unseen} when the deadline came`);
			const reads = [undefined, undefined, ...Array.from({ length: 99 }, () => drop(false))];
			const lost = await run({ earlier, runs: [drop(true)], runMs: 60 * MINUTE, reads });
			expect(lost.verdict.reason).toBe('The run was still going on when the deadline came');
			const long = await run({ earlier, runs: [hangs(true)], runMs: 60 * MINUTE });
			expect(long.verdict.reason).toBe('The run was still going on when the deadline came');
		}
	});

	it.each([404, 500])('that answers %i has never run if it had not before', async (status) => {
		const reads = Array.from({ length: 10 }, () => refusal(status));
		const { verdict, tookMs } = await run({ runs: [drop(false)], reads });
		expect(verdict.reason).toContain('did not reach the assistant');
		expect(tookMs).toBe(5 * SECOND);
	});

	it.each([404, 500])(
		'that answers %i for a moment is read on if it had run before',
		async (status) => {
			const reads = [undefined, refusal(status), refusal(status), refusal(status)];
			const { verdict } = await run({ earlier: 'idle', runs: [drop(true)], reads });
			expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
		},
	);

	it('that cannot be read in the first moments of its first run is read on while its conversation is busy', async () => {
		const world = { runs: [drop(true)], runMs: MINUTE, firstStepMs: 20 * SECOND };
		const { verdict, server } = await run(world);
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
		expect(server.arrivals).toHaveLength(1);
	});

	it.each([401, 403])(
		'that may not be read (%i) is not taken for one that never ran',
		async (status) => {
			const reads = [undefined, ...Array.from({ length: 500 }, () => refusal(status))];
			const { verdict } = await run({ runs: [drop(true)], reads });
			expect(verdict).toMatchObject({ status: 'failed', failure: { status } });
			expect(verdict.reason).toMatch(/^The run may be going on, but its thread cannot be read/);
		},
	);
});

const said = (id: string, content: string, calls?: unknown[]) => ({
	...{ id, content },
	...(calls ? { tool_calls: calls } : {}),
});

/** A server whose E4 breaks, and whose thread holds these messages before and after. */
function brokenWait({
	before,
	after,
	input,
}: {
	before: unknown[];
	after: unknown[];
	input?: string;
}) {
	let reads = 0;
	const send: Send = async ({ method, path }) => {
		if (method === 'POST')
			return { ok: false, failure: { kind: 'status', status: 502, method, path } };
		const messages = ++reads > 1 ? after : before;
		return {
			ok: true,
			status: 200,
			answer: { thread_id: THREAD, status: 'idle', values: { messages, input } },
		};
	};
	return send;
}

describe('the answer taken from the thread', () => {
	it('is the one that follows our message, not that of a run after ours', async () => {
		const { verdict } = await run({ runs: [drop(true)], runMs: SECOND, nextMs: 20 * SECOND });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
	});

	it('is that to our own words, where older ones are the same', async () => {
		const before = [said('1', QUESTION), said('2', 'an older answer', [])];
		const after = [...before, said('3', QUESTION), said('4', ANSWER, [])];
		const { verdict } = await run({}, { send: brokenWait({ before, after }) });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
	});

	it('is found after words that the server keeps differently, where it names ours as its last question', async () => {
		const before = [said('1', 'p'), said('2', 'an older answer', [])];
		const after = [...before, said('3', `A person asks: ${QUESTION}`), said('4', ANSWER, [])];
		const { verdict } = await run({}, { send: brokenWait({ before, after, input: QUESTION }) });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
		const other = await run({}, { send: brokenWait({ before, after, input: 'another' }) });
		expect(other.verdict.reason).toBe('The thread has gone on without this message');
	});

	it('to the last message answered again is found, although its messages were replaced', async () => {
		const world: World = { kind: 'retry', earlier: 'idle', runs: [drop(true)], runMs: MINUTE };
		const { verdict } = await run(world);
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
	});
});

describe('a decision whose wait breaks', () => {
	const decision: World = { kind: 'decision', earlier: 'interrupted' };

	it('is looked for until the deadline, and never said not to have arrived', async () => {
		for (const arrived of [true, false]) {
			const world: World = { ...decision, runs: [drop(arrived)], runMs: 60 * MINUTE };
			const { verdict, tookMs } = await run(world);
			expect(verdict.status).toBe('timedOut');
			expect(verdict.reason).toBe(
				'The decision may have reached the assistant, but nothing of it was to be seen when the deadline came',
			);
			expect(tookMs).toBe(15 * MINUTE);
		}
	});

	it('so is a message to a thread that waits for a decision, of which nothing is known', async () => {
		const world: World = { earlier: 'interrupted', runs: [drop(false)] };
		const { verdict } = await run(world);
		expect(verdict.status).toBe('timedOut');
		expect(verdict.reason).toContain('The message may have reached the assistant');
	});
});

describe('the thread of a first run that cannot be read for a moment after it has ended', () => {
	it('is read on, as its conversation has run', async () => {
		const reads = [undefined, refusal(500), refusal(500), refusal(500)];
		const { verdict } = await run({ runs: [drop(true)], reads });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
	});
});

describe('answering again after a run that failed', () => {
	it('is found by the question that failed, which the thread names', async () => {
		for (const earlier of ['error', 'cancelled'] as const) {
			const { verdict } = await run({ kind: 'retry', earlier, runs: [drop(true)] });
			expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
		}
	});
});

describe('a request that certainly did not arrive', () => {
	it.each<[string, Fault]>([
		['a refused connection', refusedConnection],
		['429', tooMany()],
		['429 with Retry-After', tooMany(3 * SECOND)],
		['503 with Retry-After', notNow(3 * SECOND)],
	])('is sent again after %s', async (_, fault) => {
		const { verdict, server } = await run({ runs: [fault, fault, fault, fault] });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: false });
		expect(server.of('E4')).toHaveLength(5);
		expect(server.arrivals).toHaveLength(1);
	});

	it('is given up when the server stays away, with its reason', async () => {
		const { verdict, server, tookMs } = await run({
			runs: Array.from({ length: 9 }, () => tooMany()),
		});
		expect(verdict).toMatchObject({ status: 'failed', failure: { status: 429 } });
		expect(server.arrivals).toEqual([]);
		expect(tookMs).toBeLessThan(MINUTE);
	});
});
