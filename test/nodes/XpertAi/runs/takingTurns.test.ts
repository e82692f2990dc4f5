import { beginInTurn } from '../../../../nodes/XpertAi/runs/takingTurns';
import { failure, no } from '../threads/support/answering';
import { LIST, NO_ROUTE, serving } from './support/routes';
import { saying } from './support/run';
import { BEGUN_AT, scripted } from './support/scriptedRuns';

const LATER = '2026-11-22T10:00:00.500Z';
const EARLIER = '2026-11-22T09:59:59.000Z';

describe('a run on a thread that others may use', () => {
	it('begins at once where none goes on, and stays where no older one is there', async () => {
		const { begun, server, time } = await scripted({ lists: [[], []] });
		expect(begun).toMatchObject({ runId: 'ours-1' });
		expect(server.cancelled).toEqual([]);
		expect(time.elapsed()).toBe(0);
	});

	it('waits while one goes on, and until what that has said is stored', async () => {
		const other = { run_id: 'theirs', created_at: EARLIER, status: 'running' };
		const ended = { ...other, status: 'success', updated_at: EARLIER };
		const { begun, server, time } = await scripted({ lists: [[other], [other], [ended], [ended]] });
		expect(begun).toMatchObject({ runId: 'ours-1' });
		expect(server.begun).toBe(1);
		expect(time.elapsed()).toBe(2000 + 2000 + 800);
	});

	it('believes what was read of the thread just now, and only then', async () => {
		const state = { thread_id: 't1', status: 'idle', values: { messages: [] } };
		const other = { run_id: 'theirs', created_at: EARLIER, status: 'running' };
		const ended = { ...other, status: 'success', updated_at: EARLIER };
		const reads = async (...lists: Array<Array<typeof other>>) => {
			const { begun, server } = await scripted({ lists, read: { state } });
			expect(begun).toMatchObject({ before: state });
			return server.reads;
		};
		expect(await reads([], [])).toBe(0);
		expect(await reads([other], [ended])).toBe(1);
		// Once to see whether ours was answered before it gave way, and once before it begins again.
		expect(await reads([], [other], [ended])).toBe(2);
	});

	it.each([
		['goes on', { run_id: 'theirs', created_at: EARLIER, status: 'running' }],
		['goes on, begun at the same moment with a lower number', { run_id: 'a', status: 'running' }],
		[
			'has ended since ours began',
			{ run_id: 'theirs', created_at: EARLIER, status: 'success', updated_at: LATER },
		],
		[
			'has ended in the moment in which ours began',
			{ run_id: 'theirs', created_at: EARLIER, status: 'success', updated_at: BEGUN_AT },
		],
	])('gives way to an older one that %s, and begins again', async (_, theirs) => {
		const other = { created_at: BEGUN_AT, ...theirs };
		const ended = { ...other, status: 'success', updated_at: EARLIER };
		const { begun, server } = await scripted({ lists: [[], [], [other], [ended], [ended]] });
		expect(server.cancelled).toEqual(['ours-1']);
		expect(begun).toMatchObject({ runId: 'ours-2' });
	});

	it.each([
		['is younger', { run_id: 'theirs', created_at: LATER, status: 'running' }],
		['has a greater number', { run_id: 'z', created_at: BEGUN_AT, status: 'running' }],
		[
			'had ended before',
			{ run_id: 'theirs', created_at: EARLIER, status: 'success', updated_at: EARLIER },
		],
		['has failed', { run_id: 'theirs', created_at: EARLIER, status: 'error', updated_at: LATER }],
	])('stays before one that %s', async (_, other) => {
		const { begun, server } = await scripted({ lists: [[], [], [other]] });
		expect(server.cancelled).toEqual([]);
		expect(begun).toMatchObject({ runId: 'ours-1' });
	});

	const older = { run_id: 'theirs', created_at: EARLIER, status: 'running' };

	it('is not asked twice where it has ended by then', async () => {
		const { begun, server } = await scripted({ lists: [[], [], [older]], status: 'success' });
		expect(server.cancelled).toEqual([]);
		expect(begun).toMatchObject({ runId: 'ours-1' });
	});

	it('is not asked twice where it had its answer before it could be cancelled', async () => {
		const lists = [[], [], [older], []];
		const { begun, server } = await scripted({ lists, answered: 'hello' });
		expect(server.cancelled).toEqual(['ours-1']);
		expect(begun).toMatchObject({ runId: 'ours-1' });
		expect(server.begun).toBe(1);
	});

	it('begins again where words like its own were answered, or the thread cannot be read for a moment', async () => {
		const lists = [[], [], [older], []];
		const others = await scripted({ lists, answered: 'hello from Bert' });
		expect(others.begun).toMatchObject({ runId: 'ours-2' });
		const unread = await scripted({ lists, answered: 'hello', unread: 2 });
		expect(unread.begun).toMatchObject({ runId: 'ours-2' });
	});

	it('is not asked twice where it went on to its end all the same', async () => {
		const lists = [[], [], [older], []];
		const { begun, server } = await scripted({ lists, afterCancel: 'success' });
		expect(server.cancelled).toEqual(['ours-1']);
		expect(begun).toMatchObject({ runId: 'ours-1' });
		expect(server.begun).toBe(1);
	});

	it('begins again only where it was cancelled: where that was refused, its number tells', async () => {
		const lists = [[], [], [older], []];
		const goesOn = await scripted({ lists, refusesCancel: true });
		expect(goesOn.begun).toMatchObject({ runId: 'ours-1' });
		expect(goesOn.server.begun).toBe(1);
		const lost = await scripted({ lists, refusesCancel: true, afterCancel: 'interrupted' });
		expect(lost.begun).toMatchObject({ runId: 'ours-2' });
		const slow = await scripted({ lists, afterCancel: 'running' });
		expect(slow.begun).toMatchObject({ runId: 'ours-2' });
	});

	it('does not begin once the deadline has come, or the execution was stopped', async () => {
		const lists = [[older]];
		const late = await scripted({ lists, deadlineMs: 10_000 });
		expect(late.begun).toMatchObject({ verdict: { status: 'timedOut' } });
		const stopped = await scripted({ lists, stopAfterMs: 3000 });
		expect(stopped.begun).toMatchObject({ verdict: { status: 'cancelled' } });
		expect([late, stopped].map(({ server }) => server.begun)).toEqual([0, 0]);
	});

	it('is none where the server does not tell of its runs', async () => {
		const { begun, server } = await scripted({ lists: [], noList: true });
		expect(begun).toBeUndefined();
		expect(server.begun).toBe(0);
	});

	it('stays where it cannot be told whether it is behind', async () => {
		const { begun } = await scripted({ lists: [[], []], failsAfter: 2 });
		expect(begun).toMatchObject({ runId: 'ours-1' });
	});
});

describe('a run that takes no turns', () => {
	const taking = (routes: Parameters<typeof serving>[0] = {}) => {
		const { asking, asked } = serving(routes);
		const run = {
			...{ ...asking, threadId: 't', body: saying('Hi'), isNew: false, takesTurns: true },
			...{ whenBusy: 'wait' as const, deadline: asking.clock.now() + 60_000 },
			numbers: { areMissing: false },
		};
		return { run, asked };
	};

	it('asks nothing: where it is alone, or is not to wait, or the server numbers no runs', async () => {
		for (const more of [
			{ takesTurns: false },
			{ whenBusy: 'run' as const },
			{ whenBusy: 'fail' as const },
			{ numbers: { areMissing: true } },
		]) {
			const { run, asked } = taking();
			expect(await beginInTurn({ ...run, ...more })).toBeUndefined();
			expect(asked).toEqual([]);
		}
	});

	it('finds out for all of its execution where the server has no such route, and only then', async () => {
		const missing = taking({ [LIST]: [NO_ROUTE] });
		expect(await beginInTurn(missing.run)).toBeUndefined();
		expect(missing.run.numbers.areMissing).toBe(true);
		const refused = taking({ [LIST]: [no({ ...failure, status: 403 })] });
		expect(await beginInTurn(refused.run)).toBeUndefined();
		expect(refused.run.numbers.areMissing).toBe(false);
	});
});
