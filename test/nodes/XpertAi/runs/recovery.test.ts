import {
	cutOff,
	drop,
	gateway,
	hangs,
	notNow,
	refusal,
	refusedConnection,
	tooMany,
} from './support/faults';
import type { Fault } from './support/faults';
import { ANSWER, INTERRUPTS, REASON } from './support/modelServer';
import type { World } from './support/modelServer';
import { BODIES, MINUTE, SECOND, run } from './support/run';

const DIALECTS = ['xpert', 'langgraph'] as const;

const BROKEN_WAITS: Array<[string, Fault]> = [
	['the connection drops at once', drop(true)],
	['the connection drops after a minute', drop(true, MINUTE)],
	['the answer is cut off', cutOff],
	['a gateway answers 502', gateway(502)],
	['a gateway answers 504', gateway(504)],
	['a gateway answers 524', gateway(524, true, 100 * SECOND)],
	['a proxy answers 408', gateway(408)],
	['a proxy answers a bare 503', gateway(503)],
	['the request times out below the deadline', { ...hangs(true), afterMs: 5 * MINUTE }],
];

describe.each(DIALECTS)('on a server of the family %s, when the wait breaks', (dialect) => {
	it.each(BROKEN_WAITS)('because %s, the answer is taken from the thread', async (_, fault) => {
		for (const earlier of [undefined, 'idle', 'error'] as const) {
			const world = { dialect, earlier, runMs: 7 * MINUTE, runs: [fault] };
			const { verdict, server } = await run(world);
			expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER, recovered: true });
			expect(server.of('E4')).toHaveLength(1);
		}
	});

	it('the failure of the run is found, with its reason', async () => {
		for (const earlier of [undefined, 'idle', 'error'] as const) {
			const runs = [gateway(504)];
			const { verdict } = await run({ dialect, earlier, runs, runMs: 3 * MINUTE, outcome: 'fail' });
			expect(verdict).toMatchObject({ status: 'failed', recovered: true });
			expect(verdict.reason).toBe(`The run failed: ${REASON}`);
		}
	});

	it('its question to a person is found', async () => {
		for (const earlier of [undefined, 'idle', 'interrupted'] as const) {
			const runs = [drop(true)];
			const { verdict } = await run({ dialect, earlier, runs, outcome: 'interrupt' });
			expect(verdict).toMatchObject({ status: 'interrupted', recovered: true });
			expect(verdict.interrupt).toEqual(INTERRUPTS);
		}
	});

	it('an answer of nothing is found as well', async () => {
		const world: World = { dialect, earlier: 'idle', runs: [drop(true)], outcome: 'empty' };
		const { verdict } = await run(world);
		expect(verdict).toMatchObject({ status: 'completed', reply: '', recovered: true });
	});

	it('a message that has not arrived is said not to, and is not sent again', async () => {
		for (const earlier of [undefined, 'idle', 'error', 'interrupted'] as const) {
			const { verdict, server, reads } = await run({ dialect, earlier, runs: [drop(false)] });
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
		expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER, recovered: true });
	});

	it('is read until the deadline and no longer', async () => {
		const { verdict, tookMs } = await run({ runs: [drop(true, MINUTE)], runMs: 60 * MINUTE });
		expect(verdict).toMatchObject({ status: 'timedOut', failure: { code: 'ECONNRESET' } });
		expect(verdict.reason).toBe('The run was still going on when the deadline came');
		expect(tookMs).toBe(15 * MINUTE);
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
			expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER, recovered: true });
		},
	);

	it.each([401, 403])(
		'that may not be read (%i) is not taken for one that never ran',
		async (status) => {
			const reads = Array.from({ length: 500 }, () => refusal(status));
			const { verdict } = await run({ runs: [drop(true)], reads });
			expect(verdict).toMatchObject({ status: 'failed', failure: { status } });
			expect(verdict.reason).not.toContain('did not reach');
		},
	);
});

describe('the answer taken from the thread', () => {
	it('is the one that follows our message, not that of a run after ours', async () => {
		const { verdict } = await run({ runs: [drop(true)], runMs: SECOND, nextMs: 20 * SECOND });
		expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER });
	});

	it('is the one that follows the last of our messages', async () => {
		const said = [
			['user', 'an older question'],
			['assistant', 'an older answer'],
			['user', 'our question'],
		] as const;
		const messages = said.map(([role, content]) => ({ role, content }));
		const body = JSON.stringify({ assistant_id: 'a', input: { messages } });
		const world: World = { dialect: 'langgraph', earlier: 'idle', runs: [drop(true)] };
		expect((await run(world, { body })).verdict.reply).toBe(ANSWER);
	});

	it.each([
		['a decision', { input: { action: 'resume', target: {}, decision: { type: 'confirm' } } }],
		['an input of another form', { input: { input: 'our question' } }],
		['words the server keeps differently', { input: { messages: [{ content: 'Our  question' }] } }],
	])('is found as well after %s', async (_, input) => {
		const body = JSON.stringify({ ...JSON.parse(BODIES.xpert), ...input });
		const { verdict } = await run({ earlier: 'idle', runs: [drop(true)] }, { body });
		expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER, recovered: true });
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
		expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER, recovered: false });
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
