import { randomUUID } from 'crypto';

import { derivedId } from '../payloads/ids';
import {
	ageOf,
	countRejection,
	createLockRecord,
	deleteLockRecord,
	isJustCreated,
	type LockRecord,
	type LockSupport,
	maySupportLocks,
	noLocks,
	readLockRecord,
} from '../threads/lockRecord';
import { API_ROOT } from '../transport/api';
import { type ApiClient, OutageBudget } from '../transport/call';
import type { Clock } from '../transport/clock';
import {
	type Failure,
	isBusy,
	isDuplicate,
	mayMeanNoRoute,
	isTransient,
} from '../transport/failure';
import type { Send } from '../transport/request';
import type { Client } from './client';

/*
 * A lock on a thread, for processes that share only the server. A process creates a record with an ID that is derived
 * from the thread ID. The server creates the record once: only the creator gets equal times of creation and change.
 * `test/recordings/turn-lock.json` shows this for requests at the same moment.
 *
 * A process may stop while it holds the lock. So the lock ends after a minute, and another process deletes the record.
 */

/** How long a lock lasts. The holder counts from the request that creates the record, so the holder's time ends first. */
const LEASE_MS = 60_000;

/** The age of the lock at which the holder begins nothing new. */
const BEGIN_MS = 20_000;

/** Timeout of the request that starts a run under the lock. */
export const START_MS = 25_000;

/** The age of the lock at which the search for a lost start ends. */
const LOST_LOCK_SEARCH_MS = 51_000;

/** The age of the lock at which the holder leaves the record to others. */
const GIVE_BACK_MS = 55_000;

/** The first and the longest pause between two attempts to create the record, before the random factor. */
const [FIRST_LOOK_MS, LONGEST_LOOK_MS] = [60, 1_000];

/** How many times in a row the node tries at once after a request at the same moment. */
const MAX_DUPLICATES = 5;

/** First pause before the node looks at a record whose deletion failed. */
const DELETE_PAUSE_MS = 250;

/** Statuses with which a server without locks rejects the creation of a record. */
const NOT_CREATED = [400, 404, 405, 422];

/** A lock that this process holds. */
export class TurnLock {
	/** The last temporary failure of a request under the lock. */
	failure?: Failure;

	private givenBack?: Promise<unknown>;

	/** @param ageMs returns the milliseconds since the request that created the record */
	constructor(
		private readonly client: Client,
		private readonly support: LockSupport,
		private readonly record: LockRecord & { id: string },
		private readonly ageMs: () => number,
	) {}

	/** Whether the holder may start a run now. After a temporary failure, the start might have to wait for too long. */
	get mayBegin() {
		return this.ageMs() < BEGIN_MS && this.failure === undefined;
	}

	/** A client for the requests before the start. Sends each request once. */
	get beforeStart() {
		return this.clientUntil(BEGIN_MS);
	}

	/** A client for finding a run whose start was not answered. Sends no request after `LOST_LOCK_SEARCH_MS`. */
	get afterStart() {
		return this.clientUntil(LOST_LOCK_SEARCH_MS);
	}

	/** Deletes the record, also after a stop of the execution. Leaves the record if the lease may end first. */
	async giveBack(): Promise<void> {
		const leftMs = () => GIVE_BACK_MS - this.ageMs();
		this.givenBack ??= deleteOwn(this.client, this.support, this.record, leftMs);
		await this.givenBack;
	}

	private clientUntil(ageMs: number): Pick<ApiClient, 'send' | 'outageBudget'> {
		const send: Send = async (request) => {
			const leftMs = ageMs - this.ageMs();
			const { method, path, apiRoot = API_ROOT } = request;
			if (leftMs <= 0)
				return { ok: false, failure: { kind: 'timeout', method, path: apiRoot + path } };
			const timeoutMs = Math.min(request.timeoutMs, leftMs);
			const outcome = await this.client.send({ ...request, timeoutMs });
			if (outcome.failure && isTransient(outcome.failure)) this.failure = outcome.failure;
			return outcome;
		};
		return { send, outageBudget: new OutageBudget({ maxTries: 1, maxElapsedMs: 0 }) };
	}
}

/** Returns a function that gives the milliseconds since this call. */
function stopwatch(clock: Clock) {
	const [time, steady] = [clock.now(), clock.monotonic()];
	// The monotonic clock can stop with a suspended machine, and a correction can turn back the other clock.
	return () => Math.max(clock.now() - time, clock.monotonic() - steady);
}

/** Creates the record of a lock. `ageMs` returns the milliseconds since the first request. */
async function create(client: Client, id: string) {
	const ageMs = stopwatch(client.clock);
	return { ...(await createLockRecord(client, id, `n8n ${randomUUID()}`)), ageMs };
}

/** The ID of the record of a thread. The case of the thread ID does not matter. */
export const turnLockId = (threadId: string) => derivedId(threadId.toLowerCase(), 'turn');

/**
 * Takes the lock of a thread. Waits while another process holds the lock. Never throws.
 *
 * @param maxWaitMs how long to wait for the lock at most
 * @returns `lock`, or why there is none: `failure` if the server rejected the request, `isHeld` if the lock was not free
 * until the end of the wait, the deadline or a stop of the execution. Nothing if the server supports no locks.
 */
export async function takeTurnLock(
	client: Client,
	support: LockSupport,
	threadId: string,
	maxWaitMs = Infinity,
): Promise<{ lock?: TurnLock; failure?: Failure; isHeld?: true }> {
	const { clock, signal } = client;
	const id = turnLockId(threadId);
	const waitedMs = stopwatch(clock);
	let duplicates = 0;
	const isOver = () => signal?.aborted || client.remaining() <= 0 || waitedMs() >= maxWaitMs;
	for (let pause = FIRST_LOOK_MS; maySupportLocks(support, clock) && !isOver(); ) {
		const { answer, failure, ageMs } = await create(client, id);
		if (failure && !isDuplicate(failure)) {
			// `missing` is only set after two answers.
			if (failure.missing === 'route') noLocks(support, clock);
			else if (NOT_CREATED.includes(failure.status ?? 0) && !isBusy(failure))
				countRejection(support, 'creation', clock);
			return maySupportLocks(support, clock) ? { failure } : {};
		}
		if (answer && !isLock(answer, id)) {
			// The server ignores the ID, and has created a conversation that users can see.
			await deleteLockRecord(unlimited(client), answer.id);
			noLocks(support, clock);
			return {};
		}
		support.rejected.creation = 0;
		if (answer && isJustCreated(answer))
			return { lock: new TurnLock(client, support, answer, ageMs) };
		duplicates = failure ? duplicates + 1 : 0;
		if (failure && duplicates <= MAX_DUPLICATES) continue;
		const isDeleted = answer && (await deleteDead(client, support, answer));
		if (isDeleted) continue;
		await client.wait(pause * (0.5 + clock.random()));
		pause = Math.min(LONGEST_LOOK_MS, pause * 1.5);
	}
	return maySupportLocks(support, clock) ? { isHeld: true } : {};
}

const isLock = ({ id, createdAt, updatedAt }: LockRecord, wanted: string) =>
	id === wanted && createdAt !== undefined && updatedAt !== undefined;

/** A client without the deadline. Its requests are also sent after a stop of the execution. */
const unlimited = ({ sendUnlimited, clock }: Client): ApiClient => ({
	clock,
	send: async (request) => await sendUnlimited({ ...request, afterStop: true }),
});

/**
 * Deletes the record of a lock whose holder has stopped.
 *
 * @param record as the server showed it just now
 * @returns whether the record was deleted
 */
async function deleteDead(
	client: Client,
	support: LockSupport,
	record: LockRecord & { id: string },
): Promise<boolean> {
	if (!(ageOf(record) > LEASE_MS)) return false;
	const right = await rightToDelete(client, record);
	if (!right) return false;
	const leftMs = () => BEGIN_MS - right.ageMs();
	const { answer } = await readLockRecord(client, record.id);
	if (answer?.createdAt !== record.createdAt) return false;
	return await deleteOwn(client, support, record, leftMs);
}

/**
 * Takes the right to delete a record. Without this right, a slow process could delete the record of the next holder. The
 * right is a lock, too: a record that nobody deletes. If its holder has stopped, the next right is derived from it.
 *
 * @returns undefined if another process holds the right, or if the server could not be asked
 */
async function rightToDelete(client: Client, dead: LockRecord & { id: string }) {
	for (let record = dead; ; ) {
		const id = derivedId(record.id, record.createdAt ?? '');
		const { answer, ageMs } = await create(client, id);
		if (!answer || !isLock(answer, id)) return undefined;
		if (isJustCreated(answer)) return { ageMs };
		if (!(ageOf(answer) > LEASE_MS)) return undefined;
		record = answer;
	}
}

/**
 * Deletes a record that only this process may delete. After a lost answer, looks whether the record is still the same:
 * another process may have created it anew. Never throws.
 *
 * @param leftMs returns how long this process has the right to delete the record
 * @returns whether the record was deleted
 */
async function deleteOwn(
	client: Client,
	support: LockSupport,
	{ id, createdAt }: LockRecord & { id: string },
	leftMs: () => number,
): Promise<boolean> {
	const late = unlimited(client);
	const { clock, signal } = client;
	let retryAfterMs = 0;
	const isUnchanged = async () => {
		for (let pause = DELETE_PAUSE_MS; ; pause *= 2) {
			await clock.sleep(Math.min(Math.max(pause, retryAfterMs), leftMs()), signal);
			if (signal?.aborted || leftMs() <= 0) return false;
			const { answer, failure } = await readLockRecord(late, id);
			if (answer) return answer.createdAt === createdAt;
			if (mayMeanNoRoute(failure)) return false;
			retryAfterMs = failure.retryAfterMs ?? 0;
		}
	};
	while (leftMs() > 0 && maySupportLocks(support, clock)) {
		const { failure } = await deleteLockRecord(late, id, leftMs());
		if (!failure) {
			support.rejected.deletion = 0;
			return true;
		}
		if ([403, 405].includes(failure.status ?? 0)) noLocks(support, clock);
		// A proxy answers 404 while its server is down. So one 404 does not show that the route is missing.
		if (failure.status === 404) countRejection(support, 'deletion', clock);
		retryAfterMs = failure.retryAfterMs ?? 0;
		if (!(await isUnchanged())) return false;
	}
	return false;
}
