import fc from 'fast-check';
import { withDeadline } from 'nodes/XpertAi/runs/client';
import type { UnsuccessfulResult } from 'nodes/XpertAi/runs/result';
import { intentOf } from 'nodes/XpertAi/runs/runBody';
import { type StartedRun, startInTurn } from 'nodes/XpertAi/runs/start';
import type { ApiRequest, RequestOutcome } from 'nodes/XpertAi/transport/request';

import { PROPERTY_RUNS } from '../../../support/propertyRuns';
import { no, parsing, success } from '../../support/send';
import { Timeline } from '../../support/timeline';
import { lockServer } from './support/lockServer';
import { MINUTE, saying, SECOND } from './support/run';

interface ServerRun {
	id: string;
	text: unknown;
	mark: unknown;
	at: number;
	endsAt: number;
}

/** A server with one thread. Its runs begin when their start arrives, and each lasts for the same time. */
function oneThread(time: Timeline, runMs: number) {
	const locks = lockServer(() => Date.UTC(2026, 0, 1) + time.now);
	const runs: ServerRun[] = [];
	const overlaps: string[] = [];
	const moment = (ms: number) => new Date(ms).toISOString();
	const shown = ({ id, at, endsAt }: ServerRun) => ({
		run_id: id,
		thread_id: 't',
		assistant_id: 'a',
		status: endsAt > time.now ? 'running' : 'success',
		created_at: moment(at),
		updated_at: moment(Math.min(endsAt, time.now)),
	});
	const start = ({ body }: ApiRequest) => {
		const { input } = JSON.parse(String(body)) as {
			input: { message: { input: { input: unknown; n8nMark: unknown } } };
		};
		const { input: text, n8nMark: mark } = input.message.input;
		overlaps.push(...runs.filter(({ endsAt }) => endsAt > time.now).map(({ id }) => id));
		const run = { id: `r${runs.length}`, text, mark, at: time.now, endsAt: time.now + runMs };
		runs.push(run);
		return success(shown(run));
	};
	/** The answer at the moment when a request arrives. */
	const answer = (request: ApiRequest): RequestOutcome => {
		const { method, path } = request;
		const lock = locks.answer(request);
		if (lock) return lock;
		if (path === '/threads/t/runs')
			return method === 'POST' ? start(request) : success(runs.map(shown));
		const one = runs.find(({ id }) => path.includes(`/runs/${id}`));
		if (one) return success(shown(one));
		const human = { n8nMark: runs.at(-1)?.mark };
		return success({ thread_id: 't', status: 'busy', values: { human } });
	};
	/** Until when a stream goes on. */
	const endOf = ({ path }: ApiRequest) =>
		runs.find(({ id }) => path.includes(`/runs/${id}/`))?.endsAt ?? 0;
	return { answer, endOf, runs, overlaps };
}

/** The time to the server, and back. */
const latency = (ms: number) => fc.tuple(fc.nat(ms), fc.nat(ms));

/** What a process meets: how long its requests take, which answers are lost, and when it is killed. */
const process = fc.record({
	atMs: fc.constantFrom(0, 1, 5, 30, 400, 3_000),
	aheadMs: fc.constantFrom(0, -MINUTE, 5 * MINUTE),
	/** How long its requests take, again and again, and those that take long, by their number. */
	latencies: fc.array(latency(400), { minLength: 1, maxLength: 5 }),
	slow: fc.dictionary(fc.nat(10).map(String), latency(26 * SECOND), { maxKeys: 2 }),
	/** The requests whose answer is lost, by their number. */
	lost: fc.uniqueArray(fc.nat(8), { maxLength: 2 }),
	/** The request with which it is killed, before or after this arrives. */
	killedWith: fc.option(fc.tuple(fc.nat(8), fc.boolean())),
});

type Process = typeof process extends fc.Arbitrary<infer One> ? One : never;

const forever = async () => await new Promise<never>(() => undefined);

/** Says something on the thread of the server, as a process with its own view of the time does. */
async function say(
	time: Timeline,
	server: ReturnType<typeof oneThread>,
	one: Process,
	text: string,
) {
	await time.wait(one.atMs);
	let sent = 0;
	const send = parsing(async (request) => {
		const number = sent++;
		const usual = one.latencies[number % one.latencies.length];
		const [there = 0, back = 0] = one.slow[number] ?? usual ?? [];
		const [killedWith, arrives] = one.killedWith ?? [];
		if (killedWith === number && !arrives) return await forever();
		const { method, path, timeoutMs } = request;
		const late = no({ kind: 'timeout', method, path });
		await time.wait(Math.min(there, timeoutMs));
		if (there > timeoutMs) return late;
		const outcome = server.answer(request);
		if (killedWith !== undefined && number >= killedWith) return await forever();
		if (request.stream) {
			await time.wait(Math.max(0, server.endOf(request) - time.now));
			request.stream.onEvent({ id: '1', data: '{"type":"complete"}' });
		}
		await time.wait(request.stream ? back : Math.min(back, timeoutMs - there));
		if (!request.stream && there + back > timeoutMs) return late;
		if (!one.lost.includes(number)) return outcome;
		return no({ kind: 'network', code: 'ECONNRESET', method, path });
	});
	const clock = time.clock(one.aheadMs);
	const body = saying(text);
	return await startInTurn({
		...withDeadline({ send, clock, deadline: clock.now() + 30 * MINUTE }),
		threadId: 't',
		facts: {},
		body,
		intent: intentOf('message', body),
		isThreadNew: false,
		whenBusy: 'wait',
		cancelSilentMs: 0,
		backgroundRoutes: { areMissing: false },
		lockSupport: { rejectionsInRow: { creation: 0, deletion: 0 } },
	});
}

const NOT_KNOWN = /It is not known whether/;

describe('three processes on one thread', () => {
	it('start one after another, each message once, whoever is killed or not answered', async () => {
		await fc.assert(
			fc.asyncProperty(
				fc.array(process, { minLength: 2, maxLength: 3 }),
				fc.constantFrom(10, 700, 20 * SECOND),
				async (all, runMs) => {
					const time = new Timeline();
					const server = oneThread(time, runMs);
					const came = all.map((): StartedRun | UnsuccessfulResult | undefined => undefined);
					all.forEach((one, at) => {
						void say(time, server, one, `m${at}`).then((result) => (came[at] = result));
					});
					await time.run(10 * MINUTE);
					expect(server.overlaps).toEqual([]);
					for (const [at, one] of all.entries()) {
						const own = server.runs.filter(({ text }) => text === `m${at}`);
						expect(own.length).toBeLessThanOrEqual(1);
						const result = came[at];
						if (one.killedWith && !result) continue;
						if (result && 'othersAtStart' in result) expect(result.runId).toBe(own[0]?.id);
						else {
							expect(result).toMatchObject({ reason: expect.stringMatching(NOT_KNOWN) as string });
						}
					}
				},
			),
			{ numRuns: PROPERTY_RUNS * 10 },
		);
	});
});
