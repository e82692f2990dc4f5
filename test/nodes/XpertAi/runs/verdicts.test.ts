import { cutOff, drop, refusal } from './support/faults';
import {
	ANSWER,
	CANCELLED,
	CONVERSATION,
	OLD_ANSWER,
	REASON,
	TASKS,
	THREAD,
} from './support/modelServer';
import type { World } from './support/modelServer';
import { MINUTE, SECOND, run } from './support/run';

const ANY_EARLIER = [undefined, 'idle', 'error', 'interrupted', 'cancelled'] as const;

describe('a run', () => {
	it.each<World['earlier']>([...ANY_EARLIER])(
		'that is answered is completed (the thread before: %s)',
		async (earlier) => {
			const { verdict, server } = await run({ earlier, runMs: 5 * SECOND });
			expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: false });
			expect(verdict.conversationId).toBe(CONVERSATION);
			expect(server.arrivals).toHaveLength(1);
		},
	);

	it('may take seven minutes', async () => {
		const { verdict, tookMs, server } = await run({ runMs: 7 * MINUTE });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: false });
		expect(tookMs).toBe(7 * MINUTE);
		expect(server.of('E4')).toHaveLength(1);
	});

	it('is not interrupted by what waited before it, where the thread cannot be read any more', async () => {
		const bert = { text: 'a question of Bert', fromMs: 0, runMs: 0, outcome: 'interrupt' } as const;
		const reads = [undefined, drop(false), drop(false), drop(false)];
		const { verdict } = await run({ bert, reads });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
	});

	it('may take hours when the deadline does', async () => {
		const { verdict } = await run({ runMs: 299 * MINUTE }, { deadlineMs: 300 * MINUTE });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
	});

	it.each<World['earlier']>([...ANY_EARLIER])(
		'that fails has failed with the reason of the server (the thread before: %s)',
		async (earlier) => {
			const { verdict } = await run({ earlier, outcome: 'fail' });
			expect(verdict).toMatchObject({ status: 'failed', recovered: false });
			expect(verdict.reason).toBe(`The run failed: ${REASON}`);
			expect(verdict.output).toBeUndefined();
		},
	);

	it.each<World['earlier']>([...ANY_EARLIER])(
		'that somebody cancels has failed, and waits for nobody (the thread before: %s)',
		async (earlier) => {
			const { verdict } = await run({ earlier, outcome: 'cancel' });
			expect(verdict).toMatchObject({ status: 'failed', recovered: false });
			expect(verdict.reason).toBe(`The run was cancelled on the server: ${CANCELLED}`);
			expect(verdict.interrupt).toBeUndefined();
		},
	);

	it.each<World['earlier']>([...ANY_EARLIER])(
		'that asks a person is interrupted, with its question (the thread before: %s)',
		async (earlier) => {
			const { verdict } = await run({ earlier, outcome: 'interrupt' });
			expect(verdict).toMatchObject({ status: 'interrupted', recovered: false });
			expect(verdict.interrupt).toEqual(TASKS);
		},
	);

	it('that is answered with nothing is completed when the thread shows that nothing was said', async () => {
		for (const earlier of ANY_EARLIER) {
			const { verdict } = await run({ earlier, outcome: 'empty' });
			expect(verdict).toMatchObject({ status: 'completed', output: '', recovered: false });
		}
	});

	it('that is answered with nothing, and left nothing on the thread, is not completed', async () => {
		for (const earlier of ANY_EARLIER) {
			const { verdict } = await run({ earlier, outcome: 'nothing' });
			expect(verdict.status).toBe('failed');
			expect(verdict.reason).toBe(
				'The run ended without an answer, and the server does not say why',
			);
		}
	});

	it('that is answered with nothing is judged by a thread that cannot be read for a moment', async () => {
		const reads = [undefined, refusal(500), refusal(500)];
		const { verdict } = await run({ earlier: 'idle', outcome: 'unsaid', reads });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
	});

	it('that is answered with nothing has the reply the thread holds', async () => {
		for (const earlier of ANY_EARLIER) {
			const { verdict, server } = await run({ earlier, outcome: 'unsaid' });
			expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
			expect(server.arrivals).toHaveLength(1);
		}
	});

	it.each([400, 401, 403, 404, 413, 422])(
		'that the server refuses with %i has failed',
		async (status) => {
			const { verdict, server } = await run({ earlier: 'idle', runs: [refusal(status)] });
			expect(verdict).toMatchObject({ status: 'failed', failure: { status }, recovered: false });
			expect(server.of('E4')).toHaveLength(1);
		},
	);
});

describe('a decision', () => {
	const kind = 'decision';

	it('for a thread that waits lets its run go on', async () => {
		const { verdict } = await run({ kind, earlier: 'interrupted', runMs: MINUTE });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: false });
	});

	it.each<World['earlier']>(['idle', 'error'])(
		'for a thread that is %s is not sent: nothing waits for it',
		async (earlier) => {
			const { verdict, server } = await run({ kind, earlier });
			expect(verdict.reason).toBe('Nothing on this thread waits for a decision');
			expect(verdict.status).toBe('failed');
			expect(server.of('E4')).toEqual([]);
		},
	);

	it('that the server answers with nothing, and a thread as it was, was not waited for', async () => {
		const thread = {
			thread_id: THREAD,
			status: 'interrupted',
			values: { messages: [{ id: 'm', content: 'q' }] },
		};
		const conversations = {
			items: [{ id: 'c1', threadId: THREAD, status: 'interrupted', error: CANCELLED }],
		};
		const { verdict } = await run(
			{ kind },
			{ send: answering({ thread, conversations, run: { role: 'ai', content: '' } }) },
		);
		expect(verdict.reason).toBe('Nothing on this thread waits for a decision');
	});
});

/** A server that always answers the same. */
function answering({ thread, conversations, run: answer }: Record<string, unknown>) {
	return async ({ method, path }: { method: string; path: string }) => {
		const read = method === 'GET' ? thread : path.endsWith('/search') ? conversations : answer;
		return { ok: true as const, status: 201, answer: read };
	};
}

describe('an answer that does not say whether it is new', () => {
	it('is not taken for the answer when the thread is as it was', async () => {
		const messages = [
			{ id: 'm1', content: 'q' },
			{ id: 'm2', content: OLD_ANSWER, tool_calls: [] },
		];
		const thread = { thread_id: THREAD, status: 'error', values: { messages } };
		const conversations = {
			items: [{ id: 'c1', threadId: THREAD, status: 'error', error: 'an older reason' }],
		};
		const { verdict } = await run(
			{},
			{ send: answering({ thread, conversations, run: { role: 'ai', content: OLD_ANSWER } }) },
		);
		expect(verdict.status).toBe('failed');
		expect(verdict.reason).toBe('The server answered, but its thread shows nothing of this run');
	});

	it('is checked again while the thread cannot be read', async () => {
		const reads = [undefined, drop(false), cutOff, drop(false)];
		for (const outcome of ['fail', 'interrupt'] as const) {
			const { verdict } = await run({ earlier: 'idle', outcome, reads });
			expect(verdict.status).toBe({ fail: 'failed', interrupt: 'interrupted' }[outcome]);
		}
	});

	it('is given back when the thread cannot be read in three looks, but nothing like it was there before', async () => {
		const reads = [undefined, ...Array.from({ length: 500 }, () => drop(false))];
		const { verdict, server, tookMs } = await run({ earlier: 'idle', reads });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(server.of('E15')).toHaveLength(4);
		expect(tookMs).toBe(5 * SECOND);
	});

	it('is not completed where only the conversation knows that the run failed', async () => {
		const reads = [refusal(500), refusal(500)];
		const { verdict } = await run({ outcome: 'fail', reads });
		expect(verdict).toMatchObject({ status: 'failed', reason: `The run failed: ${REASON}` });
	});

	it.each([
		['interrupted', 'The run was interrupted, and the server does not say why'],
		['error', 'The run failed: the server gave no reason'],
	])('of a thread that is %s has failed when nothing says why', async (status, reason) => {
		const thread = { thread_id: THREAD, status, values: { messages: [] } };
		const conversations = { items: [{ id: 'c1', threadId: THREAD, status, operation: null }] };
		const { verdict } = await run(
			{},
			{
				isNew: true,
				send: answering({ thread, conversations, run: { role: 'ai', content: '' } }),
			},
		);
		expect(verdict).toMatchObject({ status: 'failed', reason, conversationId: 'c1' });
	});

	it('does not hide behind one message of another shape that the thread is still busy', async () => {
		const odd = [null, 7, { content: 5, tool_calls: 3 }, { id: 'm', content: 'q' }];
		const thread = { thread_id: THREAD, status: 'busy', values: { messages: odd } };
		const { verdict } = await run(
			{},
			{
				isNew: true,
				send: answering({ thread, conversations: {}, run: { role: 'ai', content: '' } }),
			},
		);
		expect(verdict.status).toBe('timedOut');
		expect(verdict.reason).toBe('The run was still going on when the deadline came');
	});
});

describe('a thread that no conversation has', () => {
	it('is said not to exist, instead of what the server does not explain', async () => {
		const send = async ({ method, path }: { method: string; path: string }) =>
			path.endsWith('/search')
				? { ok: true as const, status: 200, answer: { items: [], total: 0 } }
				: { ok: false as const, failure: { kind: 'status' as const, status: 500, method, path } };
		const { verdict } = await run({}, { send });
		expect(verdict).toMatchObject({ status: 'failed', failure: { status: 500 } });
		expect(verdict.reason).toBe('There is no conversation with this thread');
		expect(verdict.advice).toContain('Check "Thread"');
	});

	it('is not said not to exist when it has run before', async () => {
		const { verdict } = await run({ earlier: 'idle', runs: [refusal(500)] });
		expect(verdict).toMatchObject({ status: 'failed', failure: { status: 500 } });
		expect(verdict.reason).toBeUndefined();
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
	it('ends a run that takes longer', async () => {
		const { verdict, tookMs } = await run({ runMs: 16 * MINUTE });
		expect(verdict).toMatchObject({ status: 'timedOut', recovered: false });
		expect(verdict.reason).toBe('The run was still going on when the deadline came');
		expect(verdict.advice).toContain('"Run Anyway"');
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

	it('also ends waiting for another run, names the way out, and nothing is sent then', async () => {
		const { verdict, tookMs, server } = await run({ otherUntilMs: 60 * MINUTE });
		expect(verdict.reason).toBe(
			'Another run was still going on on the thread when the deadline came',
		);
		expect(verdict.advice).toContain('"When the Thread Is Busy" set to "Run Anyway"');
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
