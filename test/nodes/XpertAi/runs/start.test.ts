import { setImmediate } from 'node:timers/promises';

import { get } from 'lodash';
import { withDeadline } from 'nodes/XpertAi/runs/client';
import type { Run } from 'nodes/XpertAi/runs/run';
import { startInTurn } from 'nodes/XpertAi/runs/start';
import type { Send } from 'nodes/XpertAi/transport/request';

import { no, parsing, success } from '../../support/send';
import { virtualTime, type VirtualTime } from '../../support/virtualTime';
import { answering, failure, listed, lost, mine } from '../threads/support/answering';
import { lockServer } from './support/lockServer';
import { bodyWith, RUN, SECOND } from './support/run';

const start = async (send: Send, clock: VirtualTime, more: Partial<Run> = {}) =>
	await startInTurn({
		...withDeadline({ send, clock, deadline: clock.now() + 60 * SECOND }),
		threadId: 't',
		facts: {},
		body: {},
		isThreadNew: false,
		whenBusy: 'wait',
		cancelSilentMs: 0,
		intent: { kind: 'message' },
		backgroundRoutes: { areMissing: false },
		lockSupport: { rejectionsInRow: { creation: 0, deletion: 0 } },
		...more,
	});

it('a run on a thread is given up after three tries of two requests where the server cannot be reached', async () => {
	const { asking, asked } = answering(no(lost));
	const result = { status: 'failed', failure: { kind: 'network' } };
	expect(await start(asking.send, virtualTime())).toMatchObject(result);
	expect(asked.map(({ path }) => path)).toEqual([
		...Array<string>(3).fill('/conversations'),
		...Array<string>(3).fill('/threads/t/runs'),
	]);
});

it.each([
	['is found by its mark', ['ours'], 'ours'],
	['is not told from another that began beside it', ['ours', 'theirs'], undefined],
])('a run whose start is not answered %s', async (_, begun, runId) => {
	const time = virtualTime();
	const lists = [[], begun.map((run_id) => ({ ...RUN, run_id, created_at: run_id }))];
	let mark: unknown;
	const send = parsing(({ method, path, body }) => {
		if (method === 'POST' && path.endsWith('/runs')) {
			mark = get(JSON.parse(String(body)), 'input.message.input.n8nMark');
			return no(lost);
		}
		if (path.endsWith('/runs')) return success(lists[mark === undefined ? 0 : 1]);
		// The thread shows the mark of its newest question alone.
		return success({ thread_id: 't', status: 'idle', values: { human: { n8nMark: mark } } });
	});
	const body = bodyWith({ input: 'Hi' });
	const started = await start(send, time, { body });
	expect(mark).toEqual(expect.any(String));
	if (runId) expect(started).toMatchObject({ runId });
	else
		expect(started).toMatchObject({
			status: 'failed',
			reason: expect.stringMatching(/^It is not known whether the message/) as string,
		});
});

it('a started run is followed while its lock is given back', async () => {
	const time = virtualTime();
	const { answer } = lockServer(time.now);
	const order: string[] = [];
	const send = parsing(async (request) => {
		if (request.method === 'DELETE') {
			await setImmediate();
			order.push('given back');
		}
		return answer(request) ?? success(request.method === 'POST' ? RUN : []);
	});
	const started = await start(send, time);
	order.push('started');
	if ('othersAtStart' in started) await started.untilLockGivenBack;
	expect(order).toEqual(['started', 'given back']);
});

describe('a message on a thread whose last run was interrupted', () => {
	it.each([
		[-800, 0],
		[-799, 800],
		[0, 800],
		[799, 1],
		[800, 0],
	])('%i ms ago reads in %i ms what waits, once it is stored', async (agoMs, waitMs) => {
		const time = virtualTime();
		const { answer } = lockServer(time.now);
		const endedAt = new Date(time.now() - agoMs).toISOString();
		// Not the run that was followed last, for which there is no wait: other tests follow their own.
		const last = {
			...RUN,
			run_id: 'interrupted',
			status: 'interrupted',
			created_at: endedAt,
			updated_at: endedAt,
		};
		let readMs: number | undefined;
		const send = parsing(async (request) => {
			if (request.path === '/conversations/search') readMs = time.elapsed();
			if (readMs === time.elapsed() && request.path.endsWith('search')) return listed(mine('c'));
			return answer(request) ?? success(request.method === 'POST' ? last : [last]);
		});
		const started = await start(send, time);
		expect(readMs).toBe(waitMs);
		// Kept as long as the run lasts, the runs of a long thread would fill the memory.
		expect(started).toMatchObject({
			othersAtStart: { hasActiveRun: false, endedIds: ['interrupted'] },
		});
		expect(started).not.toHaveProperty('runsBefore');
	});
});

it.each([
	['itself', 'route'],
	['by somebody else, for now', undefined],
] as const)(
	'a server is known to list no runs only if it says so itself: said %s',
	async (_, missing) => {
		const routes = { areMissing: false };
		const { asking } = answering(no({ ...failure, status: 404, missing }));
		expect(await start(asking.send, virtualTime(), { backgroundRoutes: routes })).toMatchObject({
			lacksRoutes: true,
		});
		expect(routes.areMissing).toBe(missing === 'route');
	},
);
