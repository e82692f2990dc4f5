import { whenLeft } from '../../../../nodes/XpertAi/runs/leaving';
import type { FindNumber } from '../../../../nodes/XpertAi/runs/leaving';
import type { Leaving } from '../../../../nodes/XpertAi/runs/run';
import { cancelled, stillRunning } from '../../../../nodes/XpertAi/runs/verdict';
import type { Verdict } from '../../../../nodes/XpertAi/runs/verdict';
import { virtualTime } from '../../support/virtualTime';
import { answering, failure, listed, no, success } from '../threads/support/answering';
import type { Answer } from '../threads/support/answering';

const RUN = { run_id: 'r', thread_id: 't', assistant_id: 'a', created_at: '2026-11-22T10:00:00Z' };
const running = success({ ...RUN, status: 'running' });
const ended = success({ ...RUN, status: 'success' });
const done = success({ canceledExecutionIds: ['r'] });

const completed: Verdict = { status: 'completed', output: 'Hi', recovered: false };

/** What is to become of the run, and how it is left. */
interface Left extends Partial<Leaving> {
	verdict: Verdict;
	isStopped?: boolean;
	find?: FindNumber;
	answers?: Answer[];
}

async function left({ isStopped, answers = [running, done], ...given }: Left) {
	const { verdict, find = async () => await Promise.resolve('r'), ...leaving } = given;
	const { asking, asked } = answering(...answers);
	const { signal } = virtualTime(isStopped ? 0 : Infinity);
	const inTime = {
		...{ ...asking, signal, deadline: asking.clock.now() },
		...{ whenStopped: 'leave' as const, whenLate: 'leave' as const, ...leaving },
	};
	return { told: await whenLeft(inTime, 't', verdict, find), asked };
}

const late = { verdict: stillRunning(), whenLate: 'cancel' } as const;

describe('a run that is waited for no longer', () => {
	it('is left to itself where that is wanted', async () => {
		for (const given of [
			{ verdict: stillRunning() },
			{ verdict: stillRunning(), whenStopped: 'cancel' },
			{ verdict: cancelled(), isStopped: true },
			{ verdict: cancelled(), isStopped: true, whenLate: 'cancel' },
		] satisfies Left[]) {
			const { told, asked } = await left(given);
			expect(told).toEqual(given.verdict);
			expect(asked).toEqual([]);
		}
	});

	it('is not cancelled where it has come to its end', async () => {
		const wanted = { whenLate: 'cancel', whenStopped: 'cancel' } as const;
		const { told, asked } = await left({ ...wanted, verdict: completed });
		expect(told).toEqual(completed);
		expect(asked).toEqual([]);
	});

	it.each<[string, Left]>([
		['at the deadline', late],
		['by Stop', { verdict: cancelled(), isStopped: true, whenStopped: 'cancel' }],
	])('is cancelled %s where that is wanted, and says so', async (_, given) => {
		const { told, asked } = await left(given);
		expect(told).toEqual({
			...{ ...given.verdict, runId: 'r' },
			advice: 'It was cancelled on the server.',
		});
		const sent = asked.map(({ method, path }) => `${method} ${path}`);
		expect(sent).toEqual(['GET /threads/t/runs/r', 'POST /threads/t/runs/r/cancel']);
		// Neither the deadline nor Stop holds them back, and they take no longer than five seconds.
		for (const request of asked)
			expect(request).toMatchObject({ afterStop: true, timeoutMs: 5000 });
	});

	it('is as it was where its number is not known', async () => {
		const { told, asked } = await left({
			...late,
			find: async () => await Promise.resolve(undefined),
		});
		expect(told).toEqual(late.verdict);
		expect(asked).toEqual([]);
	});

	it('is not cancelled where it may be the run of others, and says why', async () => {
		const find: FindNumber = async () => await Promise.resolve({ isOthers: true });
		const { told, asked } = await left({ ...late, find });
		expect(told).toMatchObject({ status: 'timedOut', reason: late.verdict.reason });
		expect(told.advice).toContain('not cancelled: others use its thread');
		expect(asked).toEqual([]);
	});

	it('is looked up by the same server, without the deadline', async () => {
		const find: FindNumber = async ({ send, deadline, clock }) => {
			await send({ method: 'GET', path: '/x', timeoutMs: 30_000 });
			expect(deadline).toBe(clock.now() + 5000);
			return undefined;
		};
		const { asked } = await left({ ...late, find });
		expect(asked).toMatchObject([{ path: '/x', afterStop: true, timeoutMs: 5000 }]);
	});

	it('that has ended by then is not cancelled: its answer is on the thread', async () => {
		const conversation = listed({ id: 'c', threadId: 't', status: 'busy' });
		const list = success([{ ...RUN, status: 'success' }]);
		const { told, asked } = await left({ ...late, answers: [ended, ended, conversation, list] });
		expect(told).toMatchObject({ status: 'timedOut', runId: 'r' });
		expect(told.advice).toBe('It had ended by then: read the thread.');
		expect(asked.map(({ path }) => path)).not.toContain('/threads/t/runs/r/cancel');
	});

	it('that cannot be cancelled goes on, and says why', async () => {
		const refused = no({ ...failure, status: 403, reason: 'not yours' });
		const { told } = await left({ ...late, answers: [running, refused] });
		expect(told).toMatchObject({ status: 'timedOut', runId: 'r' });
		expect(told.advice).toMatch(/^It could not be cancelled, and goes on: .*not yours/);
	});
});
