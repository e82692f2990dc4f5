import { clamp, compact, differenceBy, max, sortBy, uniqBy } from 'lodash';
import { z } from 'zod';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { MINUTE_MS } from '../XpertAi/transport/clock';
import {
	type Change,
	changeKey,
	type FetchChanges,
	type Page,
	readChanges,
	type Reading,
	timesOf,
} from './changes';

/*
 * The node stores these values between polls:
 *
 * - `again`: the next poll reads changes from this time on.
 * - `since`: earlier polls read all changes up to this time.
 * - `known`: changes that were read, with times from `again` on. The node does not emit the handled ones again.
 *
 * The next poll reads the changes between `again` and `since` once more, because changes can become visible late.
 * After a poll, `again` is at most the previous `since` minus `OVERLAP_MS`. It never moves back.
 * Neither time advances past the oldest unhandled change.
 * Both times use the server's clock, because the clock of the n8n machine may be wrong.
 */

/** The assumed maximum delay until a change becomes visible to polls. */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A change that the memory knows. `tries` counts the polls that postponed it. A handled change has no `tries`. */
const knownSchema = z.object({ id: z.string(), at: z.number(), tries: z.number().optional() });

/** The state that a poll stores for the next poll (see the top of this file). */
export interface Memory {
	/** The server that the memory belongs to. */
	watched: string;
	since: number;
	again: number;
	known: Array<z.infer<typeof knownSchema>>;
}

/** A time that a request can hold. A corrupt time becomes undefined. */
const time = z
	.number()
	.transform((ms) => clamp(ms, 0, Date.UTC(9999, 0)))
	.optional()
	.catch(undefined);

/** A stored memory, in which each part may be corrupt. */
const storedMemory = z.object({
	watched: z.string(),
	since: time,
	again: time,
	known: z.array(knownSchema.nullable().catch(null)).catch([]),
});

/**
 * Returns the stored memory if it matches `watched`. A corrupt part does not cost the others: if a time is corrupt, the
 * other replaces it; if both are, there is no memory.
 */
export function readMemory(stored: unknown, watched: string): Memory | undefined {
	const { data } = storedMemory.safeParse(stored);
	if (data?.watched !== watched) return undefined;
	const since = data.since ?? data.again;
	if (since === undefined) return undefined;
	const again = Math.min(data.again ?? since - OVERLAP_MS, since);
	return { watched, since, again, known: compact(data.known) };
}

/** Returns the changes at or after `again` that were not emitted, oldest first and without duplicates. */
export function newChanges<One extends Change>({ again, known }: Memory, changes: One[]): One[] {
	const emitted = new Set(known.filter(({ tries }) => tries === undefined).map(changeKey));
	const fresh = changes.filter((one) => one.at >= again && !emitted.has(changeKey(one)));
	return sortBy(uniqBy(fresh, changeKey), 'at', 'updatedAt', 'id');
}

/** Returns how many earlier polls postponed a change. */
export const triesOf = ({ known }: Memory, change: Change): number =>
	known.find((one) => changeKey(one) === changeKey(change))?.tries ?? 0;

/**
 * Returns the memory after a poll.
 *
 * @param memory the stored memory, which an overlapping poll may have changed
 * @param before the memory at the start of the poll
 * @param found the changes that the poll read
 * @param outcome three lists: the wanted changes, the handled changes and the postponed changes (`unread`)
 */
export function nextMemory(
	memory: Memory,
	before: Memory,
	{ changes, upTo, serverTime = Infinity }: Reading<Change>,
	{ wanted, handled, unread }: Record<'wanted' | 'handled' | 'unread', Change[]>,
): Memory {
	const [firstLeft] = differenceBy(newChanges(memory, wanted), handled, changeKey);
	const oldestUnhandled = firstLeft?.at ?? Infinity;
	// `serverTime` limits `since` and `again`, so that a change with a wrong future time cannot hide other changes.
	const since = Math.min(upTo, oldestUnhandled, serverTime + OVERLAP_MS);
	const latestAgain = Math.min(before.since, serverTime) - OVERLAP_MS;
	const again = Math.max(memory.again, Math.min(upTo, oldestUnhandled, latestAgain));
	const tried = triedChanges(memory, changes, unread);
	// The first entry of a change wins: a handled change must lose its `tries`.
	const known = uniqBy([...handled.map(toKnown), ...tried, ...memory.known], changeKey);
	return {
		watched: memory.watched,
		since: Math.max(memory.since, since),
		again,
		known: sortBy(known, 'at').filter(({ at }) => at >= again),
	};
}

/** Returns the new changes with their `tries`. This poll has postponed the changes in `unread` once more. */
function triedChanges(memory: Memory, changes: Change[], unread: Change[]): Memory['known'] {
	const postponed = new Set(unread.map(changeKey));
	return newChanges(memory, changes).map((one) => ({
		...toKnown(one),
		tries: triesOf(memory, one) + Number(postponed.has(changeKey(one))),
	}));
}

const toKnown = ({ id, at }: Change): Memory['known'][number] => ({ id, at });

/** Returns the time of the server, and the time from which to read changes (`start`). */
async function readNewest(fetchChanges: FetchChanges<Change>) {
	const page = await fetchChanges({ order: 'DESC', limit: PAGE_SIZE });
	const times = timesOf(page.changes);
	const newest = max(times) ?? 0;
	const { serverTime = newest } = page;
	const plausible = times.filter((at) => at <= serverTime + OVERLAP_MS);
	return { serverTime, start: (max(plausible) ?? Math.min(newest, serverTime)) - OVERLAP_MS };
}

/**
 * Returns the memory after the first poll. All existing changes count as emitted.
 *
 * @throws if a request fails
 */
export async function readFirstMemory(fetchChanges: FetchChanges<Change>, watched: string) {
	const { start } = await readNewest(fetchChanges);
	const { upTo, changes, failure } = await readChanges(fetchChanges, start);
	if (failure !== undefined) throw failure;
	// The comparison is false for invalid times (NaN), which the memory cannot store.
	const known = changes.filter(({ at }) => at >= start).map(toKnown);
	return { watched, since: upTo, again: start, known };
}

/**
 * Corrects a memory whose `since` is more than `OVERLAP_MS` after the server's time, because the server's clock was
 * wrong before.
 *
 * @param found the changes that were read with this memory
 * @returns the corrected memory; undefined if the memory is plausible
 * @throws if a request fails
 */
export async function correctMemory(
	fetchChanges: FetchChanges<Change>,
	memory: Memory,
	{ changes, serverTime }: Page<Change>,
): Promise<Memory | undefined> {
	const isPlausible = (time: number) => memory.since <= time + OVERLAP_MS;
	if (serverTime === undefined ? changes.length > 0 : isPlausible(serverTime)) return undefined;
	const newest = await readNewest(fetchChanges);
	if (isPlausible(newest.serverTime)) return undefined;
	return { ...memory, since: newest.start, again: Math.min(memory.again, newest.start) };
}
