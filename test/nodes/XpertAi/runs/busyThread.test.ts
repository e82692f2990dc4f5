import { drop, gateway, noRoute, refusal } from './support/faults';
import { ANSWER } from './support/modelServer';
import { MINUTE, SECOND, run } from './support/run';
import type { Course } from './support/run';

const BUSY = 'Another run is going on on this thread';

/** The readings of a thread that is found busy and will be free after a good minute. */
const WAITING = [0, 2, 5, 9.5, 16.25, 26.375, 41.375, 56.375, 71.375];

describe('a thread with another run on it', () => {
	it('is waited for, reading it after 2 s, then less and less often', async () => {
		const { verdict, server, reads } = await run({ otherUntilMs: 60 * SECOND });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(reads.slice(0, 9)).toEqual(WAITING.map((seconds) => seconds * SECOND));
		expect(server.of('E4').map(({ at }) => at)).toEqual([71_375]);
		expect(server.overlaps).toBe(0);
	});

	it('is not waited for when that is not wanted: nothing is sent', async () => {
		const world = { otherUntilMs: 60 * SECOND };
		const { verdict, server, tookMs } = await run(world, { whenBusy: 'fail' });
		expect(verdict).toMatchObject({ status: 'failed', reason: BUSY, recovered: false });
		expect(server.of('E4')).toEqual([]);
		expect(tookMs).toBe(0);
	});

	it('is waited for although some readings fail', async () => {
		const reads = [drop(false), gateway(502, false, 0), undefined, drop(false)];
		const { verdict, server } = await run({ otherUntilMs: 60 * SECOND, reads });
		expect(verdict.status).toBe('completed');
		expect(server.overlaps).toBe(0);
	});

	it('is waited for however many readings fail in all, as long as not five in a row do', async () => {
		const reads = Array.from({ length: 24 }, (_, n) => (n % 5 === 4 ? undefined : drop(false)));
		const { verdict, server } = await run({ otherUntilMs: 4 * MINUTE, reads });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(server.overlaps).toBe(0);
	});

	it('is reported after five readings in a row that failed', async () => {
		const reads = [undefined, ...Array.from({ length: 100 }, () => drop(false))];
		const { verdict, server } = await run({ otherUntilMs: 10 * MINUTE, reads });
		expect(verdict).toMatchObject({ status: 'failed', failure: { code: 'ECONNRESET' } });
		expect(server.of('E15')).toHaveLength(6);
		expect(server.of('E4')).toEqual([]);
	});

	it('that cannot be reached at all is soon reported, and nothing is sent', async () => {
		const reads = Array.from({ length: 100 }, () => drop(false));
		const { verdict, server, tookMs } = await run({ reads });
		expect(verdict).toMatchObject({ status: 'failed', failure: { code: 'ECONNRESET' } });
		expect(server.of('E4')).toEqual([]);
		expect(tookMs).toBeLessThan(MINUTE);
	});

	it('that cannot be reached until the deadline is not taken for busy', async () => {
		const reads = Array.from({ length: 100 }, () => drop(false));
		const { verdict, server } = await run({ reads }, { deadlineMs: 3 * SECOND });
		expect(verdict).toMatchObject({ status: 'failed', failure: { code: 'ECONNRESET' } });
		expect(verdict.reason).toBeUndefined();
		expect(server.of('E15')).toHaveLength(3);
	});

	it('gives the answer to our message, not that of the other run', async () => {
		const { verdict } = await run({ otherUntilMs: 30 * SECOND, runs: [drop(true)] });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
	});

	it('is run on all the same when its server has died and the user says so', async () => {
		const world = { earlier: 'idle' as const, otherUntilMs: 60 * MINUTE, stranded: true };
		for (const reads of [[], [refusal(500)]]) {
			const { verdict, server, tookMs } = await run({ ...world, reads }, { whenBusy: 'run' });
			expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
			expect(server.of('E4')).toHaveLength(1);
			expect(tookMs).toBe(0);
		}
	});
});

describe('a thread that cannot be read before the run', () => {
	it.each([401, 403])('as it may not be (%i), is not run: nothing is sent', async (status) => {
		const { verdict, server } = await run({ earlier: 'idle', reads: [refusal(status)] });
		expect(verdict).toMatchObject({ status: 'failed', failure: { status } });
		expect(server.of('E4')).toEqual([]);
	});

	it('in the first moments of another first run is waited for, as its conversation is busy', async () => {
		const reads = [refusal(500), refusal(500), undefined];
		const world = { earlier: 'idle' as const, otherUntilMs: 4 * SECOND, reads };
		expect((await run(world, { whenBusy: 'fail' })).verdict.reason).toBe(BUSY);
		const { verdict, server } = await run(world);
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(server.overlaps).toBe(0);
	});

	it('for a moment although it has run is read again, so that an older answer is not taken for ours', async () => {
		const world = { earlier: 'idle' as const, reads: [refusal(500)], runs: [drop(false)] };
		const { verdict, reads } = await run(world);
		expect(verdict.reason).toContain('did not reach the assistant');
		expect(reads.slice(0, 2)).toEqual([0, 2 * SECOND]);
	});

	it('twice although its conversation has run, as one cancelled before its first step, is run', async () => {
		const reads = [refusal(500), refusal(500)];
		const { verdict, server } = await run({ earlier: 'cancelled', reads });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(server.of('E4').map(({ at }) => at)).toEqual([2 * SECOND]);
	});

	it('as the server says once that it has no such route, is read again', async () => {
		const { verdict, server } = await run({ earlier: 'idle', reads: [noRoute] });
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER });
		expect(server.of('E15')).toHaveLength(3);
	});

	it('as its conversation cannot be asked for, is reported after five tries', async () => {
		const searches = Array.from({ length: 50 }, () => drop(false));
		const { verdict, server } = await run({ searches });
		expect(verdict).toMatchObject({ status: 'failed', failure: { code: 'ECONNRESET' } });
		expect(server.of('E15')).toHaveLength(5);
		expect(server.of('E4')).toEqual([]);
	});
});

describe('an execution that is stopped', () => {
	/** Stops the execution in the middle of something, which then took this course. */
	const expectStopped = ({ verdict, server, tookMs }: Course, stopAfterMs: number) => {
		expect(verdict).toMatchObject({ status: 'cancelled', reason: 'The execution was canceled' });
		expect(tookMs).toBe(stopAfterMs);
		expect(server.sentAfterStop).toBe(0);
	};

	it.each([
		['before anything was sent', {}, 0],
		['while it waits for the thread', { otherUntilMs: MINUTE }, 3 * SECOND],
		['while the run goes on', { runMs: 7 * MINUTE }, 3 * MINUTE],
		['while a broken wait is taken up', { runs: [drop(true)], runMs: 7 * MINUTE }, 3 * MINUTE],
		['while a thread is read', { reads: [{ ...drop(false), afterMs: 9 * SECOND }] }, 4 * SECOND],
		[
			'while an empty answer is checked',
			{ outcome: 'nothing' as const, searches: [{ ...drop(false), afterMs: 9 * SECOND }] },
			4 * SECOND,
		],
	])('ends at once %s, and nothing more is sent', async (_, world, stopAfterMs) => {
		expectStopped(await run(world, { stopAfterMs }), stopAfterMs);
	});
});
