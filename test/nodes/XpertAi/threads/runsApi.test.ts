import { RunTranscript } from 'nodes/XpertAi/threads/runTranscript';
import {
	streamRequest,
	listRuns,
	newestRun,
	readRun,
	requestCancel,
	type RunRecord,
	stageOf,
	startRun,
} from 'nodes/XpertAi/threads/runsApi';
import type { RequestOutcome } from 'nodes/XpertAi/transport/request';

import { no, success } from '../../support/send';
import { answering, lost } from './support/answering';

const RUN = { run_id: 'r', thread_id: 't', status: 'success', created_at: '10' };
const IDS = { threadId: 't', runId: 'r' };

it.each([
	['goesOn', ['running', 'pending']],
	['ended', ['success', 'error', 'interrupted', 'timeout']],
	['unknown', ['rolled_back', '', undefined]],
])('the stage of a run is "%s" by its status', (stage, statuses) => {
	for (const status of statuses) expect(stageOf({ ...RUN, status })).toBe(stage);
});

describe('listRuns', () => {
	it('reads runs of any status, and leaves out what is no run', async () => {
		const odd = [null, 7, {}, { run_id: '' }, { ...RUN, run_id: 5 }];
		const unknown = { ...RUN, run_id: 'u', status: 'rolled_back', assistant_id: null };
		const open = { run_id: 'o', status: 7, created_at: 7, updated_at: 7 };
		const { asking, asked } = answering(success([...odd, RUN, unknown, open]));
		expect(await listRuns(asking, 'a/b')).toMatchObject({
			answer: [RUN, unknown, { run_id: 'o', created_at: '', status: undefined }],
		});
		expect(asked).toMatchObject([{ method: 'GET', path: '/threads/a%2Fb/runs' }]);
	});

	it('does not take another answer for no runs', async () => {
		const reason = 'it is not a list of runs';
		const read = await listRuns(answering(success({ items: [] })).asking, 't');
		expect(read).toMatchObject({ failure: { kind: 'unreadable', reason } });
	});

	it('newestRun is the last that started, with equal times the greater ID', () => {
		const run = (id: string, at: string, assistant_id?: string) =>
			({ run_id: id, created_at: at, assistant_id }) as RunRecord;
		const runs = [run('a', '1', 'x'), run('c', '2', 'x'), run('b', '2', 'x'), run('d', '3')];
		expect(newestRun(runs)?.run_id).toBe('c');
	});
});

describe('readRun', () => {
	const read = async (outcome: RequestOutcome) =>
		await readRun({ ...answering(outcome).asking, ...IDS });

	it('takes a run of this thread, in any case', async () => {
		for (const thread_id of ['t', 'T', undefined])
			expect(await read(success({ ...RUN, thread_id }))).toMatchObject({ ok: true });
	});

	it('refuses a run of another thread', async () => {
		const failure = { kind: 'unsuccessful', method: 'GET', path: '/api/ai/threads/t/runs/r' };
		const other = await read(success({ ...RUN, thread_id: 'other' }));
		expect(other).toMatchObject({ ok: false, failure });
		expect(other.answer).toBeUndefined();
	});

	it('does not take another run', async () => {
		const other = await read(success({ ...RUN, run_id: 'other' }));
		expect(other).toMatchObject({ failure: { reason: 'it is not this run' } });
	});
});

describe('startRun', () => {
	const refused = { ...lost, code: 'ECONNREFUSED' };

	it.each([
		['once where it may have started', lost, 1],
		['as often as allowed while it certainly did not', refused, 2],
	])('is sent %s', async (_, why, times) => {
		const { asking, asked } = answering(no(why));
		await startRun(asking, 't', { input: 1 }, { maxTries: 2 });
		expect(asked).toHaveLength(times);
		expect(asked[0]).toMatchObject({
			method: 'POST',
			path: '/threads/t/runs',
			body: '{"input":1}',
		});
	});
});

describe('requestCancel', () => {
	it('is sent once, and must name the run', async () => {
		const { asking, asked } = answering(success({ canceledExecutionIds: ['other'] }));
		const reason = 'it does not say that this run was cancelled';
		expect(await requestCancel({ ...asking, ...IDS })).toMatchObject({ failure: { reason } });
		expect(asked).toMatchObject([{ method: 'POST', path: '/threads/t/runs/r/cancel' }]);
		const { asking: done } = answering(success({ canceledExecutionIds: ['r'] }));
		expect(await requestCancel({ ...done, ...IDS })).toMatchObject({ ok: true });
	});
});

it('streamRequest asks for what follows the last event', () => {
	const events = new RunTranscript('r');
	events.addEvent({ id: '5', data: '{"type":"message"}' });
	const { signal } = new AbortController();
	const request = streamRequest(IDS, events, signal);
	expect(request).toMatchObject({ path: '/threads/t/runs/r/stream', timeoutMs: 75_000 });
	expect(request.stream).toMatchObject({ lastEventId: '5', signal });
	request.stream?.onEvent({ id: '6', data: '{"type":"complete"}' });
	expect(events).toMatchObject({ lastId: '6', isComplete: true });
});
