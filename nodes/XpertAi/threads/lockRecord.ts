import { z } from 'zod';

import { lenientText } from '../payloads/zodHelpers';
import { createAccountCache } from '../transport/accountCache';
import { anySuccessfulAnswer } from '../transport/answerSchemas';
import { buildPath } from '../transport/api';
import { type ApiClient, call } from '../transport/call';
import type { Clock } from '../transport/clock';
import { CONVERSATION_PATH, CONVERSATIONS_PATH } from './requests';

/*
 * Requests for the record of a lock. The record is a conversation with an ID of its own and a title. Without an owner,
 * no list of conversations shows it. Recorded in `test/recordings/turn-lock.json`. These functions never throw.
 */

/** Timeout of these requests. It is short, because a lock lasts only a minute. */
const TIMEOUT_MS = 10_000;

/** A record of a lock. All fields are undefined if there is no such record. */
const lockRecordSchema = z.object({
	id: lenientText,
	createdAt: lenientText,
	updatedAt: lenientText,
});

export type LockRecord = z.infer<typeof lockRecordSchema>;

/**
 * Creates the record of a lock, or changes the title of an existing record. A retry sends the same title, so the server
 * does not write the record again, and `isJustCreated` stays true if this call has created the record.
 *
 * @param title must be new for each call. With an equal title, an existing record would look just created.
 */
export async function createOrRetitleLockRecord(client: ApiClient, id: string, title: string) {
	return await call(client, {
		method: 'POST',
		path: CONVERSATIONS_PATH,
		body: JSON.stringify({ id, title }),
		schema: lockRecordSchema.extend({ id: z.string().min(1) }),
		repeatable: true,
		timeoutMs: TIMEOUT_MS,
	});
}

/** Reads the record of a lock. If there is no such record, the answer is an object whose fields are all undefined. */
export async function readLockRecord(client: ApiClient, id: string) {
	return await call(client, {
		method: 'GET',
		path: buildPath(CONVERSATION_PATH, { conversationId: id }),
		schema: lockRecordSchema,
		repeatable: true,
		maxTries: 1,
		timeoutMs: TIMEOUT_MS,
	});
}

/** Deletes the record of a lock. Sends the request once, because a late retry could delete the record of the next lock. */
export async function deleteLockRecord(client: ApiClient, id: string, timeoutMs = TIMEOUT_MS) {
	return await call(client, {
		method: 'DELETE',
		path: buildPath(CONVERSATION_PATH, { conversationId: id }),
		schema: anySuccessfulAnswer,
		repeatable: false,
		maxTries: 1,
		timeoutMs: Math.min(timeoutMs, TIMEOUT_MS),
	});
}

/** Whether the request that returned this record has created it. A later change of the title moves `updatedAt`. */
export const isJustCreated = ({ createdAt, updatedAt }: LockRecord) =>
	createdAt !== undefined && createdAt === updatedAt;

/** The age of a record at its last change, in milliseconds by the clock of the server. NaN without valid times. */
export const ageAtLastChangeMs = ({ createdAt = '', updatedAt = '' }: LockRecord) =>
	Date.parse(updatedAt) - Date.parse(createdAt);

/** What is known about locks on a server. */
export interface LockSupport {
	/** How many times in a row the server has rejected the creation or the deletion of a record. */
	rejectionsInRow: { creation: number; deletion: number };
	/** When the server was found to support no locks, in milliseconds since the epoch. */
	unsupportedSince?: number;
}

/** Returns what is known about locks on the server of an account. */
export const { of: lockSupportOf } = createAccountCache(
	(): LockSupport => ({ rejectionsInRow: { creation: 0, deletion: 0 } }),
);

/** The time until the node tries locks again. A proxy may have rejected the requests during an outage. */
const LOCK_SUPPORT_RECHECK_MS = 3_600_000;

/** Whether the server may support locks: true unless `markLocksUnsupported` was called within `LOCK_SUPPORT_RECHECK_MS`. */
export const maySupportLocks = ({ unsupportedSince = -Infinity }: LockSupport, clock: Clock) =>
	clock.now() - unsupportedSince >= LOCK_SUPPORT_RECHECK_MS;

/** Stores that the server supports no locks. */
export function markLocksUnsupported(support: LockSupport, clock: Clock) {
	support.unsupportedSince = clock.now();
	support.rejectionsInRow = { creation: 0, deletion: 0 };
}

/** Counts a rejected request. After the second rejection in a row, the server counts as one without locks. */
export function countRejection(
	support: LockSupport,
	request: keyof LockSupport['rejectionsInRow'],
	clock: Clock,
) {
	if (++support.rejectionsInRow[request] >= 2) markLocksUnsupported(support, clock);
}
