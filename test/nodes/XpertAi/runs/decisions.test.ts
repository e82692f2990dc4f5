import findLast from 'lodash/findLast';
import get from 'lodash/get';

import { drop, gateway } from './support/faults';
import { ANSWER, REASON, TASKS, THREAD } from './support/modelServer';
import type { World } from './support/modelServer';
import { recordedExchanges } from '../threads/support/recorded';
import type { Exchange } from '../threads/support/recorded';
import { MINUTE, SECOND, run } from './support/run';
import type { Send } from '../../../../nodes/XpertAi/transport/request';

const decision: World = { kind: 'decision', earlier: 'interrupted' };
const rejection: World = { kind: 'reject', earlier: 'interrupted' };

describe('a rejection', () => {
	it('ends the run with nobody saying anything more, and says that it was heard (recorded)', async () => {
		const { verdict, server } = await run({ ...rejection, runMs: 4 * SECOND });
		expect(verdict).toMatchObject({
			...{ status: 'completed', output: '', rejected: true, recovered: false },
			conversationId: 'c1',
		});
		expect(server.of('E4')).toHaveLength(1);
	});

	it('is found where its wait breaks', async () => {
		const { verdict } = await run({ ...rejection, runs: [drop(true)], runMs: MINUTE });
		expect(verdict).toMatchObject({ status: 'completed', output: '', rejected: true });
		expect(verdict.recovered).toBe(true);
	});

	it('that never arrived is not said to have been heard', async () => {
		const { verdict } = await run({ ...rejection, runs: [drop(false)] });
		expect(verdict.status).toBe('timedOut');
		expect(verdict.reason).toContain('The decision may have reached the assistant');
	});

	it('that never arrived is not taken for heard because somebody else’s question on the thread failed', async () => {
		const bert = { text: 'a question of Bert', fromMs: 1, runMs: SECOND, outcome: 'fail' as const };
		const { verdict } = await run({ ...rejection, runs: [gateway(502, false, SECOND)], bert });
		expect(verdict.status).toBe('failed');
		expect(verdict).not.toHaveProperty('rejected');
	});

	it('that never arrived, while somebody else confirmed, says that it was carried out', async () => {
		const { verdict } = await run({}, { send: confirmedByAnother(), body: rejecting });
		expect(verdict).toMatchObject({ status: 'failed', recovered: true });
		expect(verdict.reason).toBe('What was rejected was carried out');
		expect(verdict).not.toHaveProperty('rejected');
	});

	it('of another decision is no answer to a confirmation', async () => {
		const { verdict } = await run({}, { send: rejectedByAnother(), body: confirming });
		expect(verdict.status).toBe('failed');
		expect(verdict).not.toHaveProperty('rejected');
	});
});

describe('a decision', () => {
	it('is not sent where it cannot be asked what waits', async () => {
		const searches = Array.from({ length: 9 }, () => drop(false));
		const { verdict, server } = await run({ ...decision, searches });
		expect(verdict).toMatchObject({ status: 'failed', failure: { code: 'ECONNRESET' } });
		expect(server.of('E4')).toEqual([]);
	});

	it('that changes nothing is not said to have been made', async () => {
		const { verdict } = await run({}, { send: unmoved(), body: confirming });
		expect(verdict).toMatchObject({ status: 'failed' });
		expect(verdict.reason).toBe('The server answered, but what waits for a decision still waits');
		expect(verdict.advice).toContain('"Target"');
	});
});

describe('a decision that is answered', () => {
	it('has not ended while the thread still shows what was decided', async () => {
		const grown = { status: 'interrupted', messages: [asked, call, done, told] };
		const ended = { status: 'idle', messages: [asked, call, done, told] };
		const answer = { role: 'ai', content: 'It is deleted.' };
		const { verdict } = await run({}, { send: standing(grown, answer, ended), body: confirming });
		expect(verdict).toMatchObject({ status: 'completed', output: 'It is deleted.' });
		expect(verdict.interrupt).toBeUndefined();
	});
});

describe('a decision whose wait breaks', () => {
	it.each([100, 2 * SECOND, 7 * SECOND, 3 * MINUTE])(
		'after %i ms is followed to its end, although status and task stay as they were (recorded)',
		async (afterMs) => {
			for (const runMs of [SECOND, 9 * SECOND, 4 * MINUTE]) {
				const world: World = { ...decision, runs: [drop(true, afterMs)], runMs };
				const { verdict, server } = await run(world);
				expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
				expect(server.arrivals).toHaveLength(1);
			}
		},
	);

	it('is not over when its messages have grown, and says so at the deadline', async () => {
		const world: World = { ...decision, runs: [drop(true)], runMs: 20 * MINUTE };
		const { verdict, tookMs } = await run(world);
		expect(verdict.status).toBe('timedOut');
		expect(verdict.reason).toBe('The run was still going on when the deadline came');
		expect(tookMs).toBe(15 * MINUTE);
	});

	it('is over when other tasks wait', async () => {
		const world: World = { ...decision, runs: [drop(true)], runMs: MINUTE, outcome: 'interrupt' };
		const { verdict } = await run(world);
		expect(verdict).toMatchObject({ status: 'interrupted', interrupt: TASKS, recovered: true });
	});

	it('is over when its run has failed, or somebody has cancelled it', async () => {
		for (const [outcome, reason] of [
			['fail', `The run failed: ${REASON}`],
			['cancel', 'The run was cancelled on the server: Canceled by user'],
		] as const) {
			const world: World = { ...decision, runs: [gateway(504)], runMs: 2 * MINUTE, outcome };
			expect((await run(world)).verdict).toMatchObject({ status: 'failed', reason });
		}
	});

	it('is followed on although it cannot be asked at times what waits', async () => {
		const searches = [undefined, drop(false), drop(false), drop(false), drop(false)];
		const world: World = { ...decision, runs: [drop(true)], runMs: MINUTE, searches };
		const { verdict } = await run(world);
		expect(verdict).toMatchObject({ status: 'completed', output: ANSWER, recovered: true });
	});
});

describe('a decision that was watched on the server, and whose wait breaks', () => {
	/** Plays the readings in their order; the last for ever. E4 breaks as soon as the thread was seen to wait. */
	async function replay(sequence: 'decision-watched-confirm' | 'decision-watched-reject') {
		const exchanges = recordedExchanges(sequence);
		const isRead = ({ request }: Exchange) => request.method === 'GET';
		const isSearch = ({ request }: Exchange) => request.path.includes('/search');
		let place = -1;
		const next = (kind: (one: Exchange) => boolean) => {
			const found = exchanges.findIndex((one, index) => index > place && kind(one));
			if (found >= 0) place = found;
			return exchanges[place]?.response.body;
		};
		/** As it stood when the thread was read last, or right after. */
		const conversation = () =>
			(
				exchanges.slice(place + 1, place + 2).find(isSearch) ??
				findLast(exchanges.slice(0, place), isSearch)
			)?.response.body;
		const threadId = String(get(exchanges.find(isRead), 'response.body.thread_id'));
		const send: Send = async ({ method, path }) => {
			if (path.endsWith('/runs/wait'))
				return { ok: false, failure: { kind: 'status', status: 504, method, path } };
			const answer = method === 'GET' ? next(isRead) : conversation();
			return { ok: true, status: 200, answer };
		};
		const type = sequence.endsWith('reject') ? 'reject' : 'confirm';
		return await run({}, { send, threadId, body: body(type) });
	}

	it('is completed with its answer once it has ended, and not before', async () => {
		const { verdict } = await replay('decision-watched-confirm');
		expect(verdict).toMatchObject({
			...{ status: 'completed', recovered: true },
			output: 'Tool said: You said: go [users seen: 1]',
		});
	});

	it('is heard as a no once the thread is idle', async () => {
		const { verdict } = await replay('decision-watched-reject');
		expect(verdict).toMatchObject({ status: 'completed', output: '', rejected: true });
	});
});

const body = (type: string) => ({ input: { action: 'resume', target: {}, decision: { type } } });
const [confirming, rejecting] = [body('confirm'), body('reject')];

const asked = { id: 'p', content: 'delete it' };
const call = { id: 'a', content: '', tool_calls: [{ id: 'call' }] };
const done = { id: 't', content: 'deleted', tool_call_id: 'call' };
const told = { id: 'b', content: 'It is deleted.', tool_calls: [] };

interface Shown {
	status: string;
	messages: object[];
}

const WAITING: Shown = { status: 'interrupted', messages: [asked, call] };

/** A server whose thread waits first, and then stands so, in the end otherwise; E4 answers with this, or breaks. */
function standing(after: Shown, answer?: object, end = after): Send {
	let current = WAITING;
	let looks = 0;
	return async ({ method, path }) => {
		const { status, messages } = current;
		if (method === 'GET') {
			const updated_at = status;
			if (current === after && ++looks > 1) current = end;
			return {
				ok: true,
				status: 200,
				answer: { thread_id: THREAD, status, updated_at, values: { messages } },
			};
		}
		if (path === '/conversations/search') {
			const operation = status === 'interrupted' ? { tasks: [{ id: 'task' }] } : null;
			const items = [{ id: 'c', threadId: THREAD, status, operation }];
			return { ok: true, status: 200, answer: { items } };
		}
		current = after;
		return answer
			? { ok: true, status: 201, answer }
			: { ok: false, failure: { kind: 'network', code: 'ECONNRESET', method, path } };
	};
}

const confirmedByAnother = () => standing({ status: 'idle', messages: [asked, call, done, told] });
const rejectedByAnother = () => standing({ status: 'idle', messages: [asked, call] });
const unmoved = () => standing(WAITING, { role: 'ai', content: '' });
