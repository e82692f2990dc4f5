import { repeatUntil, waitAtMost, withDeadline } from 'nodes/XpertAi/runs/client';
import { readThread } from 'nodes/XpertAi/threads/thread';
import { anySuccessfulAnswer } from 'nodes/XpertAi/transport/answerSchemas';
import type { ApiRequest, RequestOutcome } from 'nodes/XpertAi/transport/request';

import { no, parsing, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { failure } from '../threads/support/answering';
import { SECOND } from './support/run';

const READ: ApiRequest = {
	method: 'GET',
	path: '/threads/t',
	timeoutMs: 30 * SECOND,
	schema: anySuccessfulAnswer,
};
const STREAM: ApiRequest = { ...READ, stream: { onEvent: () => undefined } };

const later = (seconds: number) => no({ ...failure, retryAfterMs: seconds * SECOND });

/** Sends until a deadline, in so many seconds, to a server that gives these answers, the last for ever. */
function sending(
	deadlineS: number,
	answers: RequestOutcome[] = [success({})],
	stopAfterMs = Infinity,
) {
	const time = virtualTime(stopAfterMs);
	const sent: Array<ApiRequest & { at: number }> = [];
	const client = withDeadline({
		clock: time,
		signal: time.signal,
		deadline: time.now() + deadlineS * SECOND,
		send: parsing((request) => {
			sent.push({ ...request, at: time.elapsed() / SECOND });
			return answers[Math.min(sent.length, answers.length) - 1] ?? success({});
		}),
	});
	return { send: client.send, sent, time, client };
}

describe('a request that is sent in time', () => {
	it('does not outlast the deadline, but has a second for a last look', async () => {
		const { send, sent, time } = sending(40);
		await send(READ);
		time.pass(25 * SECOND);
		await send(READ);
		time.pass(30 * SECOND);
		await send(READ);
		const limits = sent.map(({ timeoutMs, totalMs }) => [timeoutMs, totalMs]);
		expect(limits).toEqual([
			[30 * SECOND, 40 * SECOND],
			[15 * SECOND, 15 * SECOND],
			[SECOND, SECOND],
		]);
	});

	it('of a stream limits its silence, and all of it by the deadline', async () => {
		const { send, sent } = sending(600);
		await send(STREAM);
		expect(sent).toMatchObject([{ timeoutMs: 30 * SECOND, totalMs: 600 * SECOND }]);
	});

	it('is not sent once the execution was stopped', async () => {
		const { send, sent } = sending(600, [], 0);
		expect(await send(READ)).toEqual({
			ok: false,
			failure: { kind: 'cancelled', method: 'GET', path: '/api/ai/threads/t' },
		});
		expect(sent).toEqual([]);
	});

	it.each([
		['is sent no sooner than the server asked for, whatever is sent next', 600, 0, [0, 20, 20]],
		['is not waited for where so much time has passed', 600, 25, [0, 25, 25]],
		['is sent where that time ends with the deadline', 20, 0, [0, 20, 20]],
	])('%s', async (_, deadlineS, passedS, times) => {
		const { send, sent, time } = sending(deadlineS, [later(20), success({})]);
		await send(READ);
		time.pass(passedS * SECOND);
		expect(await send({ ...READ, path: '/other' })).toMatchObject({ ok: true });
		await send(READ);
		expect(sent.map(({ at }) => at)).toEqual(times);
		expect(time.waits).toHaveLength(passedS ? 0 : 1);
	});

	it('is not sent where that time is beyond the deadline, and says at once what the server said', async () => {
		const { send, sent, time } = sending(10, [later(20)]);
		await send(READ);
		const { failure: why } = (await send({ ...READ, path: '/other' })) as { failure: object };
		expect(why).toEqual({
			...failure,
			retryAfterMs: 20 * SECOND,
			method: 'GET',
			path: '/api/ai/other',
		});
		expect(sent).toHaveLength(1);
		expect(time.waits).toEqual([]);
	});

	it('ends its wait when the execution is stopped, and is not sent', async () => {
		const { send, sent } = sending(600, [later(20)], 5 * SECOND);
		await send(READ);
		expect(await send(READ)).toMatchObject({ ok: false, failure: { kind: 'cancelled' } });
		expect(sent).toHaveLength(1);
	});
});

describe('the time until the deadline', () => {
	it('is never below nothing, and no wait goes beyond it', async () => {
		const { client, time } = sending(10);
		await client.wait(4 * SECOND);
		expect(client.remainingMs()).toBe(6 * SECOND);
		await client.wait(60 * SECOND);
		expect(time.elapsed()).toBe(10 * SECOND);
		time.pass(SECOND);
		expect(client.remainingMs()).toBe(0);
	});
});

it.each([
	['is read with growing pauses until the server shows it', 60, 2, { ok: true }, [2, 3]],
	['is read until the deadline', 2, Infinity, { failure }, [2]],
])('a thread %s', async (_, deadlineS, failures, outcome, waits) => {
	let reads = 0;
	const time = virtualTime();
	const send = parsing(() =>
		++reads > failures ? success({ thread_id: 't', status: 'idle' }) : no(failure),
	);
	const limits = { clock: time, deadline: time.now() + deadlineS * SECOND };
	const client = withDeadline({ send, ...limits });
	const reading = async () => await readThread(client, 't');
	const read = await repeatUntil(client, reading, ({ ok }) => ok);
	expect(read).toMatchObject(outcome);
	expect(time.waits).toEqual(waits.map((seconds) => seconds * SECOND));
});

it('a wait ends its sleep also where what it waits for fails', async () => {
	const { client, time } = sending(600);
	let stopped: AbortSignal | undefined;
	client.clock = {
		...time,
		sleep: async (_, signal) => {
			stopped = signal;
			await new Promise(() => undefined);
		},
	};
	await expect(waitAtMost(client, SECOND, Promise.reject(new Error('no')))).rejects.toThrow('no');
	expect(stopped?.aborted).toBe(true);
});
