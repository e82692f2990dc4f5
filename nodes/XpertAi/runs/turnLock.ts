import { randomUUID } from 'crypto';

import { derivedId } from '../payloads/ids';
import {
	ageAtLastChangeMs,
	countRejection,
	createOrRetitleLockRecord,
	deleteLockRecord,
	isJustCreated,
	type LockRecord,
	type LockSupport,
	markLocksUnsupported,
	maySupportLocks,
	readLockRecord,
} from '../threads/lockRecord';
import { API_ROOT } from '../transport/api';
import { type ApiClient, OutageBudget } from '../transport/call';
import type { Clock } from '../transport/clock';
import {
	type Failure,
	isDuplicate,
	isRebuildingIndex,
	isTransient,
	mayMeanNoRoute,
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

/** A record that the server has created or shown, so it has an ID. */
type LockRecordWithId = LockRecord & { id: string };

/** How long a lock lasts. The holder counts from its request, which is earlier than the creation of the record. */
const LEASE_MS = 60_000;

/**
 * From this age of the lock on, the holder starts no run, and sends no request to prepare one. The right to delete a
 * record is a lock, too (see `takeRightToDelete`): from this age on, its holder does not delete the record.
 */
const MAX_AGE_TO_BEGIN_MS = 20_000;

/** Timeout of the request that starts a run under the lock. */
export const START_TIMEOUT_MS = 25_000;

/** The age of the lock at which the search for a lost start ends. */
const MAX_AGE_TO_FIND_START_MS = 51_000;

/** The age of the lock at which the holder leaves the record to others. */
const MAX_AGE_TO_GIVE_BACK_MS = 55_000;

/** The first and the longest pause between two attempts to create the record, before the random factor. */
const [FIRST_LOOK_MS, LONGEST_LOOK_MS] = [60, 1_000];

/** Maximum number of duplicates in a row without a pause between the attempts (see `isDuplicate`). */
const MAX_DUPLICATES = 5;

/** First pause before the node looks at a record whose deletion failed. */
const FAILED_DELETE_PAUSE_MS = 250;

/** Statuses with which a server without locks rejects the creation of a record. */
const CREATION_REJECTED_STATUSES = [400, 404, 405, 422];

/** A lock that this process holds. */
export class TurnLock {
	/** The last temporary failure of a request under the lock. */
	failure?: Failure;

	private givenBack?: Promise<unknown>;

	/** @param ageMs returns the milliseconds since the request that created the record */
	constructor(
		private readonly client: Client,
		private readonly support: LockSupport,
		private readonly record: LockRecordWithId,
		private readonly ageMs: () => number,
	) {}

	/**
	 * Whether the holder may start a run now. False after a temporary failure, because the start might have to wait for too
	 * long.
	 */
	get mayBegin() {
		return this.ageMs() < MAX_AGE_TO_BEGIN_MS && this.failure === undefined;
	}

	/** A client for the requests before the start. Sends no request after `MAX_AGE_TO_BEGIN_MS`. */
	get clientBeforeStart() {
		return this.clientUntil(MAX_AGE_TO_BEGIN_MS);
	}

	/** A client for finding a run after a lost answer to its start. Sends no request after `MAX_AGE_TO_FIND_START_MS`. */
	get clientAfterStart() {
		return this.clientUntil(MAX_AGE_TO_FIND_START_MS);
	}

	/** Deletes the record, also after a stop of the execution. Leaves a record whose lease may end before the deletion. */
	async giveBack(): Promise<void> {
		const leftMs = () => MAX_AGE_TO_GIVE_BACK_MS - this.ageMs();
		this.givenBack ??= deleteWithExclusiveRight(this.client, this.support, this.record, leftMs);
		await this.givenBack;
	}

	/**
	 * A client that sends no request once the lock has this age. Sends each request once. Stores a temporary failure in
	 * `failure`.
	 */
	private clientUntil(maxAgeMs: number): Pick<ApiClient, 'send' | 'outageBudget'> {
		const send: Send = async (request) => {
			const leftMs = maxAgeMs - this.ageMs();
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

/**
 * Creates the record of a lock, or changes the title of an existing one. `ageMs` returns the milliseconds since the first
 * request.
 */
async function createOrRetitleWithAge(client: Client, id: string) {
	const ageMs = stopwatch(client.clock);
	return { ...(await createOrRetitleLockRecord(client, id, `n8n ${randomUUID()}`)), ageMs };
}

/** The ID of the lock record of a thread. Upper and lower case of the thread ID do not matter. */
export const turnLockId = (threadId: string) => derivedId(threadId.toLowerCase(), 'turn');

/**
 * Takes the lock of a thread. Waits while another process holds the lock. Never throws.
 *
 * @param maxWaitMs how long to wait for the lock at most
 * @returns
 * - `lock` if this process holds the lock
 * - `failure` if the server did not create the record
 * - `hasStoppedWaiting` if `maxWaitMs`, the deadline or a stop of the execution ended the attempts, even before the
 *   first attempt
 * - an empty object if the server supports no locks
 */
export async function takeTurnLock(
	client: Client,
	support: LockSupport,
	threadId: string,
	maxWaitMs = Infinity,
): Promise<{ lock?: TurnLock; failure?: Failure; hasStoppedWaiting?: true }> {
	const { clock, signal } = client;
	const id = turnLockId(threadId);
	const waitedMs = stopwatch(clock);
	let duplicates = 0;
	const mustGiveUp = () => signal?.aborted || client.remainingMs() <= 0 || waitedMs() >= maxWaitMs;
	for (let pause = FIRST_LOOK_MS; maySupportLocks(support, clock) && !mustGiveUp(); ) {
		const { answer, failure, ageMs } = await createOrRetitleWithAge(client, id);
		if (failure && !isDuplicate(failure)) {
			noteFailedCreation(support, failure, clock);
			return maySupportLocks(support, clock) ? { failure } : {};
		}
		if (answer && !isValidLockRecord(answer, id)) {
			// The server sends no times, or ignores the ID and has created a conversation that users can see.
			await deleteLockRecord(clientWithoutDeadline(client), answer.id);
			markLocksUnsupported(support, clock);
			return {};
		}
		support.rejectionsInRow.creation = 0;
		if (answer && isJustCreated(answer))
			return { lock: new TurnLock(client, support, answer, ageMs) };
		// A failure here is a duplicate: another process created the record at the same moment. Its lock may be free again,
		// so look again at once.
		duplicates = failure ? duplicates + 1 : 0;
		if (failure && duplicates <= MAX_DUPLICATES) continue;
		if (answer && (await deleteIfDead(client, support, answer))) continue;
		await client.wait(pause * (0.5 + clock.random()));
		pause = Math.min(LONGEST_LOOK_MS, pause * 1.5);
	}
	return maySupportLocks(support, clock) ? { hasStoppedWaiting: true } : {};
}

/** Stores what a failed creation tells about the server's support of locks. */
function noteFailedCreation(support: LockSupport, failure: Failure, clock: Clock) {
	// `call` sets `missing: 'route'` only after two answers, so this failure is proof.
	const lacksRoute = failure.missing === 'route';
	const isRejected =
		CREATION_REJECTED_STATUSES.includes(failure.status ?? 0) && !isRebuildingIndex(failure);
	if (lacksRoute) markLocksUnsupported(support, clock);
	else if (isRejected) countRejection(support, 'creation', clock);
}

/** Whether a record has the wanted ID and both times. */
const isValidLockRecord = ({ id, createdAt, updatedAt }: LockRecord, wanted: string) =>
	id === wanted && createdAt !== undefined && updatedAt !== undefined;

/** A client without the deadline. Its requests are also sent after a stop of the execution. */
const clientWithoutDeadline = ({ sendWithoutDeadline, clock }: Client): ApiClient => ({
	clock,
	send: async (request) => await sendWithoutDeadline({ ...request, ignoresStop: true }),
});

/**
 * Deletes the record of a lock whose holder has stopped.
 *
 * @param record as the server showed it just now
 * @returns whether the server confirmed the deletion
 */
async function deleteIfDead(
	client: Client,
	support: LockSupport,
	record: LockRecordWithId,
): Promise<boolean> {
	if (!isDead(record)) return false;
	const right = await takeRightToDelete(client, record);
	if (!right) return false;
	const leftMs = () => MAX_AGE_TO_BEGIN_MS - right.ageMs();
	// Another process may have deleted the record, and created it anew, before this process took the right.
	const { answer } = await readLockRecord(client, record.id);
	if (answer?.createdAt !== record.createdAt) return false;
	return await deleteWithExclusiveRight(client, support, record, leftMs);
}

/**
 * Whether the lease has ended by the clock of the server. `createOrRetitleWithAge` has just changed the title of the
 * record, so its last change is now. False without valid times.
 */
const isDead = (record: LockRecord) => ageAtLastChangeMs(record) > LEASE_MS;

/**
 * Takes the right to delete a record. Without this right, a slow process could delete the record of the next holder. The
 * right is a lock, too: a record that nobody deletes. If its holder has stopped, the next right is derived from it.
 *
 * @returns the age of the right; undefined if another process holds the right, or if the server could not be asked
 */
async function takeRightToDelete(client: Client, dead: LockRecordWithId) {
	for (let record = dead; ; ) {
		const id = derivedId(record.id, record.createdAt ?? '');
		const { answer, ageMs } = await createOrRetitleWithAge(client, id);
		if (!answer || !isValidLockRecord(answer, id)) return undefined;
		if (isJustCreated(answer)) return { ageMs };
		if (!isDead(answer)) return undefined;
		record = answer;
	}
}

/**
 * Deletes a record that only this process may delete. Tries again after a failure, if the record is still the same and
 * the execution was not stopped. Never throws.
 *
 * @param leftMs returns how long this process has the right to delete the record
 * @returns whether the server confirmed the deletion
 */
async function deleteWithExclusiveRight(
	client: Client,
	support: LockSupport,
	record: LockRecordWithId,
	leftMs: () => number,
): Promise<boolean> {
	const { clock } = client;
	while (leftMs() > 0 && maySupportLocks(support, clock)) {
		const { failure } = await deleteLockRecord(clientWithoutDeadline(client), record.id, leftMs());
		if (!failure) {
			support.rejectionsInRow.deletion = 0;
			return true;
		}
		if ([403, 405].includes(failure.status ?? 0)) markLocksUnsupported(support, clock);
		// A proxy answers 404 while its server is down. So one 404 does not show that the route is missing.
		if (failure.status === 404) countRejection(support, 'deletion', clock);
		if (!maySupportLocks(support, clock)) return false;
		// `waitAndCheckUnchanged` waits before it reads the record, so this loop needs no pause of its own.
		if (!(await waitAndCheckUnchanged(client, record, failure, leftMs))) return false;
	}
	return false;
}

/**
 * Whether a record is still the same after a failed deletion. The deletion may have arrived, and another process may have
 * created the record anew. Reads the record, with growing pauses, until the server answers.
 *
 * @returns false also if the time is over, the execution was stopped, or the server has no route to read the record
 */
async function waitAndCheckUnchanged(
	client: Client,
	{ id, createdAt }: LockRecordWithId,
	failedDeletion: Failure,
	leftMs: () => number,
): Promise<boolean> {
	const { clock, signal } = client;
	let { retryAfterMs = 0 } = failedDeletion;
	for (let pause = FAILED_DELETE_PAUSE_MS; ; pause *= 2) {
		await clock.sleep(Math.min(Math.max(pause, retryAfterMs), leftMs()), signal);
		if (signal?.aborted || leftMs() <= 0) return false;
		const { answer, failure } = await readLockRecord(clientWithoutDeadline(client), id);
		// For a deleted record, the answer is an object without times, so the result is false.
		if (answer) return answer.createdAt === createdAt;
		if (mayMeanNoRoute(failure)) return false;
		retryAfterMs = failure.retryAfterMs ?? 0;
	}
}
