import { cancelRunning, followRun } from '../../../../nodes/XpertAi/runs/followNumbered';
import { virtualTime } from '../../support/virtualTime';
import { failure, listed, lost, no, success } from '../threads/support/answering';
import { CANCEL, LIST, ONE_RUN, RUN, SAID, SEARCH, serving, telling } from './support/routes';
import type { Routes } from './support/routes';

const NAMED = { threadId: 't', runId: 'r' };
const SECOND = 1000;

const goesOn = success(RUN);
const record = (status: string) => success({ ...RUN, status });

/** Where a run that has failed says why. */
const CONVERSATION: Routes = {
	[SEARCH]: [listed({ id: 'c', threadId: 't', status: 'error', error: 'No model' })],
	[LIST]: [telling({ status: 'error' })],
	[SAID]: [success({ items: [] })],
};
const FAILED = { status: 'failed', reason: 'The run failed: No model' };

/** Follows a run; at each of these looks, so many milliseconds after it was begun. */
async function follow(
	looks: Routes[string],
	{ deadlineMs = 600 * SECOND, stopAfterMs = Infinity, heard }: Following = {},
) {
	const time = virtualTime(stopAfterMs);
	const { asking, names } = serving({ ...CONVERSATION, [ONE_RUN]: looks }, time);
	const at: number[] = [];
	const send: typeof asking.send = async (request) => {
		if (`${request.method} ${request.path}` === ONE_RUN) at.push(time.elapsed() / SECOND);
		return await asking.send(request);
	};
	const inTime = { ...asking, send, deadline: time.now() + deadlineMs };
	return { ended: await followRun(inTime, NAMED, heard?.(time)), at, names, time };
}

interface Following {
	deadlineMs?: number;
	stopAfterMs?: number;
	heard?: (time: ReturnType<typeof virtualTime>) => AbortSignal;
}

describe('a run that is followed by its number', () => {
	it('is looked at less and less often until it has ended', async () => {
		const looks = [goesOn, goesOn, goesOn, record('error')];
		const { ended, at } = await follow(looks);
		expect(ended).toMatchObject({ verdict: FAILED, status: 'error', conversationId: 'c' });
		expect(at).toEqual([0, 2, 5, 9.5]);
	});

	it('is looked at again where a look fails for a while', async () => {
		const lostOnce = [goesOn, ...Array.from({ length: 3 }, () => no(lost)), record('error')];
		expect((await follow(lostOnce)).ended.verdict).toMatchObject(FAILED);
	});

	it('is not looked at again where the server says no for good', async () => {
		const refused = no({ ...failure, status: 403 });
		const { ended, at } = await follow([goesOn, refused, record('error')]);
		expect(ended.verdict).toMatchObject({ status: 'failed', failure: { status: 403 } });
		expect(at).toHaveLength(2);
	});

	it('goes on at the deadline, whatever the last looks came to', async () => {
		const { ended, time } = await follow([goesOn], { deadlineMs: 20 * SECOND });
		expect(ended).toMatchObject({ verdict: { status: 'timedOut' }, assistantId: 'a' });
		expect(ended.verdict.reason).toBe('The run was still going on when the deadline came');
		expect(ended.verdict.failure).toBeUndefined();
		expect(time.elapsed()).toBe(20 * SECOND);
		const unread = await follow([goesOn, no(lost)], { deadlineMs: 20 * SECOND });
		expect(unread.ended.verdict).toMatchObject({ status: 'timedOut', failure: lost });
		const looks = [goesOn, no(lost), no(lost), no(lost), goesOn];
		const readAgain = await follow(looks, { deadlineMs: 20 * SECOND });
		expect(readAgain.ended.verdict.failure).toBeUndefined();
	});

	it('is given up after a minute in which it could not be read once', async () => {
		const { ended, time } = await follow([no(lost)]);
		expect(ended.verdict).toMatchObject({ status: 'failed', failure: lost });
		expect(time.elapsed()).toBeGreaterThanOrEqual(60 * SECOND);
		expect(time.elapsed()).toBeLessThan(90 * SECOND);
		const later = await follow([goesOn, no(lost)]);
		expect(later.ended.verdict.status).toBe('timedOut');
		expect(later.time.elapsed()).toBeGreaterThanOrEqual(600 * SECOND);
	});

	it('gives the reason for which it could not be read, not that the last look had no time', async () => {
		const late = no({ ...lost, kind: 'timeout', code: undefined });
		const looks = [no(lost), no(lost), no(lost), late];
		const { ended } = await follow(looks, { deadlineMs: SECOND });
		expect(ended.verdict).toMatchObject({ status: 'failed', failure: lost });
	});

	it('is left at once when the execution is stopped', async () => {
		const { ended, at } = await follow([goesOn], { stopAfterMs: 3 * SECOND });
		expect(ended).toMatchObject({ verdict: { status: 'cancelled', recovered: false } });
		expect(at).toEqual([0, 2]);
	});

	it('is looked at soon once its end was heard, and no longer waited for', async () => {
		const over = new AbortController();
		const heard = () => over.signal;
		const looks = [goesOn, goesOn, goesOn, record('error')];
		over.abort();
		expect((await follow(looks, { heard })).at).toEqual([0, 2, 5, 9.5]);
		const hears = (time: ReturnType<typeof virtualTime>) => {
			const ending = new AbortController();
			const { sleep } = time;
			time.sleep = async (ms, signal) => {
				ending.abort();
				await sleep(signal === ending.signal || signal?.aborted ? 0 : ms, signal);
			};
			return ending.signal;
		};
		expect((await follow(looks, { heard: hears })).at).toEqual([0, 0, 0.3, 0.75]);
	});
});

describe('a run that is to be cancelled if it goes on', () => {
	const cancel = async (routes: Routes) => {
		const { asking, names, time } = serving({ ...CONVERSATION, ...routes });
		const inTime = { ...asking, deadline: time.now() + 60 * SECOND };
		return { came: await cancelRunning(inTime, NAMED), names: names() };
	};
	const done = success({ canceledExecutionIds: ['r'] });

	it('is cancelled', async () => {
		const { came } = await cancel({ [ONE_RUN]: [goesOn], [CANCEL]: [done] });
		expect(came).toEqual({ cancelled: true, assistantId: 'a' });
	});

	it('is left where it has ended, and told as it stands: the server would make a cancelled one of it', async () => {
		const { came, names } = await cancel({ [ONE_RUN]: [record('error')], [CANCEL]: [done] });
		expect(came).toMatchObject({ cancelled: false, verdict: FAILED, status: 'error' });
		expect(names).not.toContain(CANCEL);
	});

	it('is left where it cannot be read', async () => {
		const { came, names } = await cancel({ [ONE_RUN]: [no(failure)], [CANCEL]: [done] });
		expect(came).toMatchObject({ cancelled: false, verdict: { status: 'failed', failure } });
		expect(names).not.toContain(CANCEL);
	});

	it('is read once more where the answer was lost: it tells whether it was cancelled', async () => {
		const dropped = { [CANCEL]: [no(lost)] };
		const was = await cancel({ [ONE_RUN]: [goesOn, record('interrupted')], ...dropped });
		expect(was.came).toEqual({ cancelled: true, assistantId: 'a' });
		for (const after of [goesOn, no(failure)]) {
			const { came } = await cancel({ [ONE_RUN]: [goesOn, after], ...dropped });
			expect(came).toMatchObject({
				cancelled: false,
				verdict: { status: 'failed', failure: lost },
			});
		}
	});

	it('was not where the server says no, and is not read once more', async () => {
		const refused = { ...failure, status: 403 };
		const looks = { [ONE_RUN]: [goesOn, record('interrupted')], [CANCEL]: [no(refused)] };
		const { came, names } = await cancel(looks);
		expect(came).toMatchObject({ cancelled: false, verdict: { failure: refused } });
		expect(names.filter((one) => one === ONE_RUN)).toHaveLength(1);
	});
});
