import { derivedId } from 'nodes/XpertAi/payloads/ids';
import { withDeadline } from 'nodes/XpertAi/runs/client';
import { takeTurnLock, turnLockId } from 'nodes/XpertAi/runs/turnLock';
import { type LockSupport, maySupportLocks } from 'nodes/XpertAi/threads/lockRecord';
import { anySuccessfulAnswer } from 'nodes/XpertAi/transport/answerSchemas';
import type { ApiRequest, RequestOutcome } from 'nodes/XpertAi/transport/request';

import { no, parsing, success } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { lost } from '../threads/support/answering';
import { lockServer } from './support/lockServer';
import { MINUTE, SECOND } from './support/run';

const ID = turnLockId('t');
const HOUR = 60 * MINUTE;

type Fault = (request: ApiRequest) => RequestOutcome | undefined;

/** A process with a server whose answers go wrong as the test says, one after another; undefined for a right one. */
function setUp({ stopAfterMs = Infinity, deadlineMs = 10 * MINUTE } = {}) {
	const time = virtualTime(stopAfterMs);
	const { records, answer } = lockServer(time.now);
	const sent: ApiRequest[] = [];
	const faults: Array<Fault | undefined> = [];
	const send = parsing((request) => {
		sent.push(request);
		return faults.shift()?.(request) ?? answer(request) ?? success({});
	});
	const deadline = time.now() + deadlineMs;
	const client = withDeadline({ send, clock: time, signal: time.signal, deadline });
	const support: LockSupport = { rejectionsInRow: { creation: 0, deletion: 0 } };
	const take = async (maxWaitMs?: number) => await takeTurnLock(client, support, 't', maxWaitMs);
	const taken = async () => {
		const { lock } = await take();
		if (!lock) throw new Error('the test needs a lock');
		return lock;
	};
	const names = () =>
		sent.map(({ method, path }) =>
			`${method} ${path.replace('/conversations', '').slice(1, 4)}`.trim(),
		);
	/** Somebody else's lock of this age. */
	const held = (ageMs: number) => {
		const createdAt = new Date(time.now() - ageMs).toISOString();
		records.set(ID, { id: ID, title: 'theirs', createdAt, updatedAt: createdAt });
		return createdAt;
	};
	return { time, records, sent, faults, client, support, take, taken, names, held };
}

const refused =
	(status: number, more: object = {}): Fault =>
	({ method, path }) =>
		no({ kind: 'status', status, method, path, ...more });
const duplicate = refused(400, { databaseCode: '23505' });
const unanswered: Fault = () => no(lost);
const bodies = (sent: ApiRequest[]) =>
	sent.flatMap(({ method, body }) =>
		method === 'POST' ? [JSON.parse(String(body)) as { id: string; title: string }] : [],
	);

describe('a lock that is free', () => {
	it('is taken by one request with an ID of the thread and a title of its own', async () => {
		const { take, sent, records } = setUp();
		expect(await take()).toMatchObject({ lock: {} });
		const [body, ...others] = bodies(sent);
		expect([Object.keys(body ?? {}), body?.id, others]).toEqual([['id', 'title'], ID, []]);
		records.clear();
		await take();
		expect(new Set(bodies(sent).map(({ title }) => title)).size).toBe(2);
	});

	it('is the same for a thread ID in capitals, and another for another thread', () => {
		expect(turnLockId('AB')).toBe(turnLockId('ab'));
		expect(turnLockId('ab')).not.toBe(turnLockId('abc'));
		// Workers of several versions of this package take turns with each other.
		expect(turnLockId('AB')).toBe(derivedId('ab', 'turn'));
	});

	it('is ours where the answer was lost: the same title is sent again', async () => {
		const { taken, faults, sent, records, time } = setUp();
		faults.push((request) => {
			// The first request arrives, and its answer is lost.
			const { id, title } = JSON.parse(String(request.body)) as { id: string; title: string };
			const createdAt = new Date(time.now()).toISOString();
			records.set(id, { id, title, createdAt, updatedAt: createdAt });
			time.pass(10 * SECOND);
			return no(lost);
		});
		const lock = await taken();
		expect(new Set(bodies(sent).map(({ title }) => title)).size).toBe(1);
		// Its time counts from the first request.
		time.pass(9 * SECOND);
		expect(lock.mayBegin).toBe(true);
		time.pass(SECOND);
		expect(lock.mayBegin).toBe(false);
	});

	it('is taken at the sixth look at the latest where others come at the same moment', async () => {
		const { take, faults, time } = setUp();
		faults.push(...Array<Fault>(5).fill(duplicate));
		expect(await take()).toMatchObject({ lock: {} });
		expect(time.waits).toEqual([]);
		const more = setUp();
		more.faults.push(...Array<Fault>(6).fill(duplicate));
		expect(await more.take()).toMatchObject({ lock: {} });
		expect(more.time.waits).toEqual([60]);
		const again = setUp();
		again.held(0);
		const five = Array<Fault>(5).fill(duplicate);
		again.faults.push(...five, undefined, ...five, () => void again.records.clear());
		expect(await again.take()).toMatchObject({ lock: {} });
		expect(again.time.waits).toEqual([60]);
	});
});

describe('a lock that somebody holds', () => {
	it('is looked at with growing pauses of up to a second, and taken once it is given back', async () => {
		const { take, held, faults, records, time, sent } = setUp();
		held(0);
		faults.push(...Array<undefined>(8).fill(undefined), () => void records.clear());
		expect(await take()).toMatchObject({ lock: {} });
		const waits = time.waits.map(Math.round);
		expect(waits).toEqual([60, 90, 135, 203, 304, 456, 683, 1000]);
		expect(new Set(bodies(sent).map(({ title }) => title)).size).toBe(9);
	});

	it.each([
		[0, 30],
		[0.9, 84],
	])('is looked at after a pause of chance: %d', async (random, ms) => {
		const { take, held, time } = setUp();
		time.random = () => random;
		held(0);
		await take(1);
		expect(time.waits).toEqual([ms]);
	});

	it.each<[string, Parameters<typeof setUp>[0], number | undefined, number]>([
		['as long as is allowed', {}, 5 * SECOND, 5 * SECOND],
		['until the deadline', { deadlineMs: 3 * SECOND }, undefined, 3 * SECOND],
		['until the execution is stopped', { stopAfterMs: 2 * SECOND }, undefined, 2 * SECOND],
	])('is waited for %s', async (_, limits, maxWaitMs, ms) => {
		const { take, held, time } = setUp(limits);
		held(0);
		expect(await take(maxWaitMs)).toEqual({ hasStoppedWaiting: true });
		expect(time.elapsed()).toBeGreaterThanOrEqual(ms);
		expect(time.elapsed()).toBeLessThan(ms + SECOND);
	});
});

describe('a lock whose holder has stopped', () => {
	const right = (createdAt: string) => derivedId(ID, createdAt);

	it('is taken away after a minute, by who has the right to', async () => {
		const { take, held, names, records, time } = setUp();
		const createdAt = held(MINUTE + 1);
		const id = right(createdAt);
		expect(await take()).toMatchObject({ lock: {} });
		const [lock, own] = [ID.slice(0, 3), id.slice(0, 3)];
		expect(names()).toEqual(['POST', 'POST', `GET ${lock}`, `DELETE ${lock}`, 'POST']);
		expect([...records.keys()].map((one) => one.slice(0, 3))).toEqual([own, lock]);
		expect(time.waits).toEqual([]);
	});

	it('is left alone until the minute is over', async () => {
		const { take, held, sent } = setUp();
		held(MINUTE - 1);
		expect(await take(1)).toEqual({ hasStoppedWaiting: true });
		expect(sent).toHaveLength(1);
	});

	it('is not taken away by a second process, nor where it is another lock by now', async () => {
		const { take, held, records, sent, time, faults } = setUp();
		const createdAt = held(2 * MINUTE);
		const now = new Date(time.now()).toISOString();
		const id = right(createdAt);
		records.set(id, { id, title: 'theirs', createdAt: now, updatedAt: now });
		expect(await take(1)).toEqual({ hasStoppedWaiting: true });
		records.delete(id);
		// Between the right and the look the other has given it back, and a third one has taken it.
		faults.push(undefined, undefined, () => void held(0));
		expect(await take(1)).toEqual({ hasStoppedWaiting: true });
		expect(sent.filter(({ method }) => method === 'DELETE')).toEqual([]);
	});

	it.each<[string, Fault]>([
		['is answered under another ID', () => success({ id: 'x', createdAt: '1', updatedAt: '1' })],
		['is refused', refused(500)],
	])('is not taken away where the right to %s', async (_, fault) => {
		const { take, held, sent, faults } = setUp();
		held(2 * MINUTE);
		faults.push(undefined, fault);
		expect(await take(1)).toEqual({ hasStoppedWaiting: true });
		expect(sent.filter(({ method }) => method === 'DELETE')).toEqual([]);
	});

	it('is taken away where who had the right to has stopped as well, one after another', async () => {
		const { take, held, records, time } = setUp();
		const createdAt = held(HOUR);
		const before = new Date(time.now() - 2 * MINUTE).toISOString();
		const first = right(createdAt);
		const second = derivedId(first, before);
		for (const id of [first, second])
			records.set(id, { id, title: 'theirs', createdAt: before, updatedAt: before });
		expect(await take()).toMatchObject({ lock: {} });
		expect(records.has(derivedId(second, before))).toBe(true);
	});

	it('is left to others where the right comes too late', async () => {
		const { take, held, sent, faults, time } = setUp();
		held(2 * MINUTE);
		faults.push(undefined, undefined, () => void time.pass(20 * SECOND));
		expect(await take(1)).toEqual({ hasStoppedWaiting: true });
		expect(sent.map(({ method }) => method)).toEqual(['POST', 'POST', 'GET']);
	});
});

describe('what is done under a lock', () => {
	const request: ApiRequest = {
		method: 'GET',
		path: '/x',
		timeoutMs: 30 * SECOND,
		schema: anySuccessfulAnswer,
	};

	it('is bounded by its time: 20 s before the start, and 51 s for the search', async () => {
		const { taken, sent, time } = setUp();
		const lock = await taken();
		const limits = async () => {
			const before = sent.length;
			for (const { send } of [lock.clientBeforeStart, lock.clientAfterStart]) await send(request);
			return sent.slice(before).map(({ timeoutMs }) => timeoutMs);
		};
		expect(await limits()).toEqual([20 * SECOND, 30 * SECOND]);
		time.pass(15 * SECOND);
		expect(await limits()).toEqual([5 * SECOND, 30 * SECOND]);
		time.pass(5 * SECOND);
		expect(await limits()).toEqual([30 * SECOND]);
		time.pass(20 * SECOND);
		expect(await limits()).toEqual([11 * SECOND]);
		time.pass(11 * SECOND);
		expect(await limits()).toEqual([]);
		expect(await lock.clientAfterStart.send({ ...request, apiRoot: '/api' })).toEqual({
			ok: false,
			failure: { kind: 'timeout', method: 'GET', path: '/api/x' },
		});
	});

	it.each<[string, Fault, boolean]>([
		['a temporary failure', refused(429, { retryAfterMs: SECOND }), false],
		['an answer that was lost', unanswered, false],
		['a refusal', refused(403), true],
	])('lets a start begin after %s or not', async (_, fault, mayBegin) => {
		const { taken, faults } = setUp();
		const lock = await taken();
		faults.push(fault);
		const { failure } = await lock.clientBeforeStart.send(request);
		expect(lock.mayBegin).toBe(mayBegin);
		expect(lock.failure).toEqual(mayBegin ? undefined : failure);
	});

	it.each([
		['the time of the machine', 'now'],
		['the monotonic clock', 'monotonic'],
	] as const)('ends by %s alone as well', async (_, name) => {
		const { taken, time } = setUp();
		const lock = await taken();
		const before = time[name]();
		time[name] = () => before + 20 * SECOND;
		expect(lock.mayBegin).toBe(false);
	});
});

describe('a lock that is given back', () => {
	it('is deleted by one request, however often, and after a stop of the execution', async () => {
		const { taken, sent, records, time } = setUp({ stopAfterMs: SECOND });
		const lock = await taken();
		time.pass(SECOND);
		await Promise.all([lock.giveBack(), lock.giveBack()]);
		expect(sent.slice(1)).toMatchObject([{ method: 'DELETE', ignoresStop: true }]);
		expect([...records]).toEqual([]);
	});

	it('is left to others once its time may be over', async () => {
		const { taken, sent, time } = setUp();
		const lock = await taken();
		time.pass(54 * SECOND);
		const late = await setUp().taken();
		time.pass(SECOND);
		await lock.giveBack();
		expect(sent).toHaveLength(1);
		await late.giveBack();
	});

	it.each<[string, Array<Fault | undefined>, string[]]>([
		['is deleted again where it is still there', [unanswered], ['DELETE', 'GET', 'DELETE']],
		[
			'is not deleted again while it cannot be read',
			[unanswered, refused(503)],
			['DELETE', 'GET', 'GET', 'DELETE'],
		],
		[
			'is left where there is no such route to read',
			[refused(404), refused(404)],
			['DELETE', 'GET'],
		],
	])('and whose deletion goes wrong %s', async (_, wrong, methods) => {
		const { taken, sent, faults } = setUp();
		const lock = await taken();
		faults.push(...wrong);
		await lock.giveBack();
		expect(sent.slice(1).map(({ method }) => method)).toEqual(methods);
	});

	it.each<[string, (records: ReturnType<typeof setUp>) => void]>([
		['is gone', ({ records }) => records.clear()],
		['is somebody else’s by now', ({ held }) => void held(-SECOND)],
	])('and whose deletion goes wrong is not deleted again where it %s', async (_, happen) => {
		const process = setUp();
		const lock = await process.taken();
		process.faults.push(() => {
			happen(process);
			return no(lost);
		});
		await lock.giveBack();
		expect(process.sent.slice(1).map(({ method }) => method)).toEqual(['DELETE', 'GET']);
	});

	it('waits as long as the server asks before it looks again, and no longer than its time', async () => {
		const { taken, faults, time, sent } = setUp();
		faults.push(
			undefined,
			refused(429, { retryAfterMs: 7 * SECOND }),
			refused(503, { retryAfterMs: HOUR }),
		);
		await (await taken()).giveBack();
		expect(time.waits).toEqual([7 * SECOND, 48 * SECOND]);
		expect(sent.slice(1).map(({ method }) => method)).toEqual(['DELETE', 'GET']);
	});

	it('is looked at no more once the execution is stopped', async () => {
		const { taken, faults, time, sent } = setUp({ stopAfterMs: 100 });
		const lock = await taken();
		faults.push(unanswered);
		await lock.giveBack();
		expect(time.elapsed()).toBe(100);
		expect(sent.slice(1).map(({ method }) => method)).toEqual(['DELETE']);
	});
});

describe('a server without locks', () => {
	const other =
		(more: object): Fault =>
		() =>
			success({ id: 'other', ...more });
	const times = { createdAt: '2026-01-01T00:00:00.000Z', updatedAt: '2026-01-01T00:00:00.000Z' };

	it.each<[string, Fault, string]>([
		['gives another ID', other(times), 'other'],
		['tells no times', other({ id: ID }), ID],
	])('is known once it %s, and what it has made is deleted', async (_, fault, id) => {
		const { take, faults, sent } = setUp();
		faults.push(fault);
		expect([await take(), await take()]).toEqual([{}, {}]);
		expect(sent.map(({ method }) => method)).toEqual(['POST', 'DELETE']);
		expect(sent[1]?.path).toBe(`/conversations/${id}`);
	});

	it.each([400, 404, 405, 422])('is known once it has refused twice with %i', async (status) => {
		const { take, faults, support, time } = setUp({ deadlineMs: 2 * HOUR });
		const missing = status === 404 ? { missing: 'record' } : {};
		const no = refused(status, missing);
		faults.push(no, no);
		expect(await take()).toMatchObject({ failure: { status } });
		expect(await take()).toEqual({});
		expect(maySupportLocks(support, time)).toBe(false);
		time.pass(HOUR - 1);
		expect(await take()).toEqual({});
		time.pass(1);
		expect(await take()).toMatchObject({ lock: {} });
	});

	it('is known once it has said twice in one call that there is no such route', async () => {
		const { take, faults } = setUp();
		const no = refused(404, { missing: 'route' });
		faults.push(no, no);
		expect(await take()).toEqual({});
	});

	it('is not known where a lock was made between two refusals', async () => {
		const { take, taken, faults, support, time } = setUp();
		faults.push(refused(422), undefined, undefined, refused(422));
		await take();
		await (await taken()).giveBack();
		await take();
		expect(maySupportLocks(support, time)).toBe(true);
	});

	it('is not known where a lock was deleted between two refusals', async () => {
		const { taken, faults, support, time, records } = setUp();
		for (const wrong of [refused(404), undefined, refused(404)]) {
			faults.push(undefined, wrong, wrong);
			await (await taken()).giveBack();
			faults.length = 0;
			records.clear();
		}
		expect(maySupportLocks(support, time)).toBe(true);
	});

	it.each<[string, Fault]>([
		['403', refused(403)],
		['429', refused(429)],
		['500', refused(500)],
		['503', refused(503)],
		['a broken connection', unanswered],
		['400 while an index is rebuilt', refused(400, { reason: 'Embedding rebuild is running' })],
	])('is not known by %s', async (_, fault) => {
		const { take, faults, support, time } = setUp();
		faults.push(...Array<Fault>(9).fill(fault));
		for (let n = 0; n < 3; n++) expect(await take()).toMatchObject({ failure: {} });
		expect(maySupportLocks(support, time)).toBe(true);
	});

	it.each([
		[403, 1],
		[405, 1],
		[404, 2],
	])('is known once it has refused the deletion with %i, %i times', async (status, count) => {
		const { taken, faults, support, time, records } = setUp();
		for (let n = 1; n <= count; n++) {
			expect(maySupportLocks(support, time)).toBe(true);
			faults.push(undefined, refused(status), refused(404));
			await (await taken()).giveBack();
			records.clear();
		}
		expect(maySupportLocks(support, time)).toBe(false);
	});
});
