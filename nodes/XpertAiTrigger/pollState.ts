import { clamp, compact, differenceBy, max, sortBy, uniqBy } from 'lodash';
import { z } from 'zod';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { MINUTE_MS } from '../XpertAi/transport/clock';
import {
	type Change,
	changeKey,
	type ChangesPage,
	type ChangesReading,
	type FetchChanges,
	readChanges,
	validTimes,
} from './readChanges';

/*
 * The node stores these values between polls:
 *
 * - `again`: the next poll reads changes from this time on.
 * - `since`: earlier polls read all changes up to this time.
 * - `known`: changes that were read, with times from `again` on. The node does not emit the handled ones again.
 *
 * The next poll reads the changes between `again` and `since` once more, because changes can become visible late.
 * After a poll, `again` is at most the previous `since` minus `OVERLAP_MS`. Only `correctPollState` moves it back.
 * Neither time advances past the oldest unhandled change.
 * Both times use the server's clock, because the clock of the n8n machine may be wrong.
 */

/** The assumed maximum delay until a change becomes visible to polls. */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A change that the state contains. `tries` counts the polls that postponed it. A handled change has no `tries`. */
const knownSchema = z.object({ id: z.string(), at: z.number(), tries: z.number().optional() });

/** The state that a poll stores for the next poll (see the top of this file). */
export interface PollState {
	/** The server that the state belongs to. */
	watched: string;
	since: number;
	again: number;
	known: Array<z.infer<typeof knownSchema>>;
}

/** A stored time, clamped to the years 1970 to 9998, which a request can hold. A corrupt time becomes undefined. */
const storedTimeSchema = z
	.number()
	.transform((ms) => clamp(ms, 0, Date.UTC(9999, 0)))
	.optional()
	.catch(undefined);

/** The schema of a stored state. Accepts corrupt parts, except `watched`. */
const storedStateSchema = z.object({
	watched: z.string(),
	since: storedTimeSchema,
	again: storedTimeSchema,
	known: z.array(knownSchema.nullable().catch(null)).catch([]),
});

/**
 * Returns the stored state of the server `watched`. If one of the two times is corrupt, it is derived from the other.
 *
 * @returns `undefined` if the state belongs to another server, or if both times are corrupt
 */
export function readPollState(stored: unknown, watched: string): PollState | undefined {
	const { data } = storedStateSchema.safeParse(stored);
	if (data?.watched !== watched) return undefined;
	const since = data.since ?? data.again;
	if (since === undefined) return undefined;
	const again = Math.min(data.again ?? since - OVERLAP_MS, since);
	return { watched, since, again, known: compact(data.known) };
}

/** Returns the changes at or after `again` that no poll has handled, oldest first and without duplicates. */
export function unhandledChanges<One extends Change>(
	{ again, known }: PollState,
	changes: One[],
): One[] {
	const handled = new Set(known.filter(({ tries }) => tries === undefined).map(changeKey));
	const unhandled = changes.filter((one) => one.at >= again && !handled.has(changeKey(one)));
	return sortBy(uniqBy(unhandled, changeKey), 'at', 'updatedAt', 'id');
}

/** Returns how many earlier polls postponed a change. */
export const triesOf = ({ known }: PollState, change: Change): number =>
	known.find((one) => changeKey(one) === changeKey(change))?.tries ?? 0;

/** What a poll did with the changes that it read. */
interface PollOutcome {
	/** The changes that the user selected. */
	wanted: Change[];
	/** The changes that need no further poll, also those that the user did not select. */
	handled: Change[];
	/** The changes that the next poll tries again. */
	postponed: Change[];
}

/**
 * Returns the state after a poll.
 *
 * @param latest the stored state, which an overlapping poll may have changed
 * @param atStart the state at the start of the poll
 * @param found the changes that the poll read
 */
export function nextPollState(
	latest: PollState,
	atStart: PollState,
	{ changes, completeUntil, serverTime = Infinity }: ChangesReading<Change>,
	{ wanted, handled, postponed }: PollOutcome,
): PollState {
	const [oldestUnhandled] = differenceBy(unhandledChanges(latest, wanted), handled, changeKey);
	const unhandledFrom = oldestUnhandled?.at ?? Infinity;
	// `serverTime` limits `since` and `again`, so that a change with a wrong future time cannot hide other changes.
	const since = Math.min(completeUntil, unhandledFrom, serverTime + OVERLAP_MS);
	const overlapFrom = Math.min(atStart.since, serverTime) - OVERLAP_MS;
	const again = Math.max(latest.again, Math.min(completeUntil, unhandledFrom, overlapFrom));
	// `withTries` has all changes that no earlier poll has handled, also those that this poll has handled. A postponed
	// change has one try more than before. A change that this poll neither handled nor postponed keeps its `tries`: 0,
	// unless an earlier poll postponed it.
	const withTries = newChangesWithTries(latest, changes, postponed);
	// The first entry of a change wins. So a handled change loses the `tries` that it has in the other lists.
	const known = uniqBy([...handled.map(toKnown), ...withTries, ...latest.known], changeKey);
	return {
		watched: latest.watched,
		since: Math.max(latest.since, since),
		again,
		known: sortBy(known, 'at').filter(({ at }) => at >= again),
	};
}

/** Returns the new changes with their `tries`, which this poll has raised for the postponed changes. */
function newChangesWithTries(
	state: PollState,
	changes: Change[],
	postponed: Change[],
): PollState['known'] {
	const postponedKeys = new Set(postponed.map(changeKey));
	return unhandledChanges(state, changes).map((change) => ({
		...toKnown(change),
		tries: triesOf(state, change) + (postponedKeys.has(changeKey(change)) ? 1 : 0),
	}));
}

const toKnown = ({ id, at }: Change): PollState['known'][number] => ({ id, at });

/**
 * Fetches the newest changes. Returns the server's time (if unknown, the newest time of a change), and the time from
 * which to read changes: `start` is `OVERLAP_MS` before the newest change that is at most `OVERLAP_MS` ahead of the
 * server's time. If all changes are further ahead, `start` is `OVERLAP_MS` before the server's time. Without changes,
 * `start` is before the epoch, so that all later changes are read.
 */
async function fetchServerAndStartTime(fetchChanges: FetchChanges<Change>) {
	const page = await fetchChanges({ order: 'DESC', limit: PAGE_SIZE });
	const times = validTimes(page.changes);
	const newest = max(times) ?? 0;
	const { serverTime = newest } = page;
	const plausible = times.filter((at) => at <= serverTime + OVERLAP_MS);
	return { serverTime, start: (max(plausible) ?? Math.min(newest, serverTime)) - OVERLAP_MS };
}

/**
 * Returns the state after the first poll. All existing changes count as emitted.
 *
 * @throws if a request fails
 */
export async function createPollState(fetchChanges: FetchChanges<Change>, watched: string) {
	const { start } = await fetchServerAndStartTime(fetchChanges);
	const { completeUntil, changes, readError } = await readChanges(fetchChanges, start);
	if (readError !== undefined) throw readError;
	// The comparison is false for invalid times (NaN), which the state cannot store.
	const known = changes.filter(({ at }) => at >= start).map(toKnown);
	return { watched, since: completeUntil, again: start, known };
}

/**
 * Corrects a state whose `since` is more than `OVERLAP_MS` after the server's time, because the server's clock was
 * wrong before.
 *
 * @param found the changes that were read with this state
 * @returns the corrected state; undefined if the state is plausible
 * @throws if a request fails
 */
export async function correctPollState(
	fetchChanges: FetchChanges<Change>,
	state: PollState,
	{ changes, serverTime }: ChangesPage<Change>,
): Promise<PollState | undefined> {
	const isPlausible = (time: number) => state.since <= time + OVERLAP_MS;
	// Without the server's time, changes from `again` on show that the state is not ahead of the server.
	const seemsPlausible = serverTime === undefined ? changes.length > 0 : isPlausible(serverTime);
	if (seemsPlausible) return undefined;
	// If the server's time is unknown here, too, `latestTime` is the newest time of a change.
	const { serverTime: latestTime, start } = await fetchServerAndStartTime(fetchChanges);
	if (isPlausible(latestTime)) return undefined;
	return { ...state, since: start, again: Math.min(state.again, start) };
}
