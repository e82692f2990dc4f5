import {
	listRuns,
	newest,
	readRun,
	requestCancel,
	startRun,
} from '../../../../nodes/XpertAi/runs/byNumber';
import { failure, lost, no, success } from '../threads/support/answering';
import { CANCEL, LIST, ONE_RUN, RUN, START, serving, telling } from './support/routes';

const NAMED = { threadId: 't', runId: 'r' };

describe('a run that is read by its number', () => {
	it('is told as the server has it', async () => {
		const { asking, asked } = serving({ [ONE_RUN]: [success(RUN)] });
		expect(await readRun(asking, NAMED)).toEqual({ record: RUN });
		expect(asked).toMatchObject([{ timeoutMs: 30_000 }]);
	});

	it.each<[string, unknown]>([
		['of another number', { ...RUN, run_id: 'r2' }],
		['without a number', { ...RUN, run_id: '' }],
		['of a status that nobody knows', { ...RUN, status: 'odd' }],
		['that is none', {}],
	])('is not taken from an answer %s', async (_, answer) => {
		const { asking } = serving({ [ONE_RUN]: [success(answer)] });
		const reason = 'it is not this run';
		expect(await readRun(asking, NAMED)).toMatchObject({ failure: { reason } });
	});

	it('is none where it is of another thread, which the server does not look at', async () => {
		const { asking } = serving({ [ONE_RUN]: [success({ ...RUN, thread_id: 'u' })] });
		const { failure: why } = (await readRun(asking, NAMED)) as { failure: object };
		expect(why).toMatchObject({
			...{ kind: 'unsuccessful', method: 'GET', path: '/api/ai/threads/t/runs/r' },
		});
	});

	it('is asked for again where its answer was lost', async () => {
		const { asking } = serving({ [ONE_RUN]: [no(lost), success(RUN)] });
		expect(await readRun(asking, NAMED)).toEqual({ record: RUN });
		const down = serving({ [ONE_RUN]: [no(failure)] });
		expect(await readRun(down.asking, NAMED)).toEqual({ failure });
	});
});

describe('the runs of a thread', () => {
	it('are those that truly began: what is left over of a decision has no assistant', async () => {
		const list = telling({}, { run_id: 'left', assistant_id: null }, { run_id: 'r2' });
		const { asking, asked } = serving({ [LIST]: [list] });
		const listed = await listRuns(asking, 't');
		expect(listed).toEqual({ runs: [RUN, { ...RUN, run_id: 'r2' }] });
		expect(asked).toMatchObject([{ timeoutMs: 30_000 }]);
	});

	it.each([{}, [{}], 'OK'])('are not known where the answer is %j', async (answer) => {
		const { asking } = serving({ [LIST]: [success(answer)] });
		const reason = 'it is not a list of runs';
		expect(await listRuns(asking, 't')).toMatchObject({ failure: { reason } });
	});

	it('are asked for three times at most, or as often as is wanted', async () => {
		const { asking, asked } = serving({ [LIST]: [no(lost)] });
		expect(await listRuns(asking, 't')).toMatchObject({ failure: lost });
		expect(asked).toHaveLength(3);
		await listRuns(asking, 't', { maxTries: 1, maxElapsedMs: 1000 });
		expect(asked).toHaveLength(4);
	});

	it('have one that began last; of one moment, that with the greater number', () => {
		const at = (created_at: string, run_id: string) => ({
			...{ ...RUN, status: 'running' as const },
			...{ created_at, run_id },
		});
		const [first, second] = [at('2026-11-22T10', 'z'), at('2026-11-22T11', 'a')];
		const same = at('2026-11-22T11', 'b');
		expect(newest([first, second])).toBe(second);
		expect(newest([second, same, first])).toBe(same);
		expect(newest([same, first, second])).toBe(same);
		expect(newest([])).toBeUndefined();
	});
});

describe('a run that is begun in the background', () => {
	const body = { assistant_id: 'a', input: { action: 'send' } };

	it('is told with its number', async () => {
		const { asking, asked } = serving({ [START]: [success(RUN)] });
		expect(await startRun(asking, 't', body)).toMatchObject({ record: RUN });
		expect(asked).toMatchObject([{ body: JSON.stringify(body), timeoutMs: 30_000 }]);
	});

	it('is not sent again where it may have begun, and is where it certainly did not', async () => {
		const dropped = serving({ [START]: [no(lost)] });
		const begun = await startRun(dropped.asking, 't', body);
		expect(begun).toMatchObject({ outcome: { ok: false }, mayBeDone: true });
		expect(begun).not.toHaveProperty('record');
		expect(dropped.asked).toHaveLength(1);
		const refused = no({ ...lost, code: 'ECONNREFUSED' });
		const { asking } = serving({ [START]: [refused, success(RUN)] });
		expect(await startRun(asking, 't', body)).toMatchObject({ record: RUN });
	});

	it('is none where the answer is of another thread', async () => {
		const { asking } = serving({ [START]: [success({ ...RUN, thread_id: 'u' })] });
		expect(await startRun(asking, 't', body)).toMatchObject({
			outcome: { failure: { reason: 'it is not this run' } },
		});
	});
});

describe('a run that is to be cancelled', () => {
	it('was where the server names it among those that were', async () => {
		const { asking, asked } = serving({
			[CANCEL]: [success({ canceledExecutionIds: ['x', 'r'] })],
		});
		expect(await requestCancel(asking, NAMED)).toBeUndefined();
		expect(asked).toMatchObject([{ timeoutMs: 30_000 }]);
	});

	it.each([{ canceledExecutionIds: ['x'] }, { canceledExecutionIds: [] }, {}])(
		'was not where the answer is %j',
		async (answer) => {
			const { asking } = serving({ [CANCEL]: [success(answer)] });
			const reason = 'it does not say that this run was cancelled';
			expect(await requestCancel(asking, NAMED)).toMatchObject({ reason });
		},
	);

	it('is asked for once: a second time it might have ended by itself', async () => {
		const { asking, asked } = serving({ [CANCEL]: [no(lost)] });
		expect(await requestCancel(asking, NAMED)).toEqual(lost);
		expect(asked).toHaveLength(1);
	});
});
