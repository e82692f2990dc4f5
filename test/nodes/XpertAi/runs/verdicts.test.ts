import { cutOff, drop, refusal } from './support/faults';
import { ANSWER, INTERRUPTS, OLD_ANSWER, REASON } from './support/modelServer';
import type { World } from './support/modelServer';
import { MINUTE, SECOND, run } from './support/run';

const DIALECTS = ['xpert', 'langgraph'] as const;

describe.each(DIALECTS)('on a server of the family %s, a run', (dialect) => {
	it.each<World['earlier']>([undefined, 'idle', 'error', 'interrupted'])(
		'that is answered is completed (the thread before: %s)',
		async (earlier) => {
			const { verdict, server } = await run({ dialect, earlier, runMs: 5 * SECOND });
			expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER, recovered: false });
			expect(server.arrivals).toHaveLength(1);
		},
	);

	it('may take seven minutes', async () => {
		const { verdict, tookMs, server } = await run({ dialect, runMs: 7 * MINUTE });
		expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER, recovered: false });
		expect(tookMs).toBe(7 * MINUTE);
		expect(server.of('E4')).toHaveLength(1);
	});

	it('may take hours when the deadline does', async () => {
		const { verdict } = await run({ dialect, runMs: 299 * MINUTE }, { deadlineMs: 300 * MINUTE });
		expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER });
	});

	it.each<World['earlier']>([undefined, 'idle'])(
		'that fails has failed with the reason of the server (the thread before: %s)',
		async (earlier) => {
			const { verdict } = await run({ dialect, earlier, outcome: 'fail' });
			expect(verdict).toMatchObject({ status: 'failed', recovered: false });
			expect(verdict.reason).toContain(REASON);
			expect(verdict.reply).toBeUndefined();
		},
	);

	it.each<World['earlier']>([undefined, 'idle', 'interrupted'])(
		'that asks a person is interrupted, with its question (the thread before: %s)',
		async (earlier) => {
			const { verdict } = await run({ dialect, earlier, outcome: 'interrupt' });
			expect(verdict).toMatchObject({ status: 'interrupted', recovered: false });
			expect(verdict.interrupt).toEqual(dialect === 'xpert' ? INTERRUPTS : INTERRUPTS.task1);
		},
	);

	it('that is answered with nothing, and did not fail, is completed with an empty reply', async () => {
		for (const earlier of [undefined, 'idle', 'error'] as const) {
			const { verdict } = await run({ dialect, earlier, outcome: 'empty' });
			expect(verdict).toMatchObject({ status: 'completed', reply: '', recovered: false });
		}
	});

	it('that is answered with nothing has the reply the thread holds', async () => {
		for (const earlier of [undefined, 'idle'] as const) {
			const { verdict, server } = await run({ dialect, earlier, outcome: 'unsaid' });
			expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER });
			expect(server.arrivals).toHaveLength(1);
		}
	});

	it.each([400, 401, 403, 413, 500])(
		'that the server refuses with %i has failed',
		async (status) => {
			const { verdict, server } = await run({ dialect, runs: [refusal(status)] });
			expect(verdict).toMatchObject({ status: 'failed', failure: { status }, recovered: false });
			expect(server.of('E4')).toHaveLength(1);
		},
	);
});

describe('an answer that does not say whether it is new', () => {
	it('is not taken for the answer when the run failed', async () => {
		const { verdict } = await run({ earlier: 'idle', outcome: 'fail' });
		expect(verdict.reply).not.toBe(OLD_ANSWER);
		expect(verdict).toMatchObject({ status: 'failed', conversationId: 'c1' });
	});

	it('is checked again while the thread cannot be read', async () => {
		const reads = [undefined, drop(false), cutOff, drop(false)];
		for (const outcome of ['fail', 'interrupt'] as const) {
			const { verdict } = await run({ earlier: 'idle', outcome, reads });
			expect(verdict.status).toBe({ fail: 'failed', interrupt: 'interrupted' }[outcome]);
		}
	});

	it('is given back when the thread cannot be read, but nothing like it was there before', async () => {
		const reads = [undefined, ...Array.from({ length: 500 }, () => drop(false))];
		const { verdict, tookMs } = await run({ earlier: 'idle', reads });
		expect(verdict).toMatchObject({ status: 'completed', reply: ANSWER });
		expect(tookMs).toBe(0);
	});

	it('with a stored reason has failed, also when the thread looks well', async () => {
		const send = async ({ method, path }: { method: string; path: string }) => {
			const answers: Record<string, unknown> = {
				GET: { status: 'idle', values: { messages: [] } },
				'/conversations/search': { items: [{ id: 'c1', error: REASON }] },
			};
			const answer = answers[method] ?? answers[path] ?? { role: 'ai', content: '' };
			return { ok: true as const, status: 201, answer };
		};
		const { verdict } = await run({}, { send });
		expect(verdict).toEqual({
			status: 'failed',
			reason: `The run failed: ${REASON}`,
			answer: { status: 'idle', values: { messages: [] } },
			recovered: false,
			conversationId: 'c1',
		});
	});
});

describe('a new thread', () => {
	it('is not read before its run: nothing else can be on it', async () => {
		const { server, verdict } = await run({}, { isNew: true });
		expect(verdict.status).toBe('completed');
		expect(server.seen.map(({ endpoint }) => endpoint)).toEqual(['E4', 'E15']);
	});
});

describe('the deadline', () => {
	it.each(DIALECTS)('ends a run that takes longer (%s)', async (dialect) => {
		const { verdict, tookMs } = await run({ dialect, runMs: 16 * MINUTE });
		expect(verdict).toMatchObject({ status: 'timedOut', recovered: false });
		expect(verdict.reason).toBe('The run was still going on when the deadline came');
		expect(tookMs).toBe(15 * MINUTE);
	});

	it('counts the time the server asks to wait', async () => {
		const notNow = {
			failure: { kind: 'status' as const, status: 503, retryAfterMs: 10 * MINUTE },
			arrives: false,
			afterMs: 0,
		};
		const { verdict, tookMs } = await run({ runs: [notNow], runMs: 20 * MINUTE });
		expect(verdict.status).toBe('timedOut');
		expect(tookMs).toBeLessThanOrEqual(15 * MINUTE + SECOND);
	});

	it('also ends waiting for another run, and nothing is sent then', async () => {
		const { verdict, tookMs, server } = await run({ otherUntilMs: 60 * MINUTE });
		expect(verdict.reason).toBe(
			'Another run was still going on on the thread when the deadline came',
		);
		expect(verdict.status).toBe('timedOut');
		expect(tookMs).toBe(15 * MINUTE);
		expect(server.of('E4')).toEqual([]);
	});

	it('is never passed on as a request without a time limit', async () => {
		const slowRead = { ...drop(false), afterMs: 30 * SECOND };
		const { server } = await run({ reads: [slowRead] }, { deadlineMs: 30 * SECOND });
		expect(server.seen.map(({ timeoutMs }) => timeoutMs > 0)).not.toContain(false);
	});
});
