import { clamp, compact, differenceBy, max, sortBy, uniqBy } from 'lodash';
import { z } from 'zod';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { MINUTE_MS } from '../XpertAi/transport/clock';

/*
 * The node stores these values between polls:
 *
 * - `again`: the next poll reads changes from this time on.
 * - `since`: earlier polls read all changes up to this time.
 * - `known`: the read changes at or after `again`, so that the node emits no change twice.
 *
 * The next poll reads the changes between `again` and `since` once more, because changes can become visible late.
 * A poll moves `again` forward, but never beyond `OVERLAP_MS` before the old `since`.
 * Neither time advances past the oldest unhandled change.
 * Both times use the server's clock, because the clock of the n8n machine may be wrong.
 */

/** The assumed maximum delay until a change becomes visible to polls. */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A change of a conversation, identified by the ID of the conversation and the time of the change. */
export interface Change {
	id: string;
	/** The time of the change, as the server wrote it. */
	updatedAt: string;
	/** `updatedAt` in milliseconds since the epoch; NaN if `updatedAt` is not a valid time. */
	at: number;
}

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

/** A page of changes. `serverTime` is missing if the server did not send its time. */
interface Page<One extends Change> {
	changes: One[];
	serverTime?: number;
}

/** The changes read so far. `serverTime` comes from the first page. */
export interface Reading<One extends Change> extends Page<One> {
	/** The reading is complete up to this time (exclusive). */
	upTo: number;
	/** The error that stopped the reading. */
	failure?: unknown;
}

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
	const tried = new Set(unread.map(changeKey));
	const seen = newChanges(memory, changes).map((one) => ({
		...toKnown(one),
		tries: triesOf(memory, one) + Number(tried.has(changeKey(one))),
	}));
	// The first entry of a change wins: a handled change must lose its `tries`.
	const known = uniqBy([...handled.map(toKnown), ...seen, ...memory.known], changeKey);
	return {
		watched: memory.watched,
		since: Math.max(memory.since, since),
		again,
		known: sortBy(known, 'at').filter(({ at }) => at >= again),
	};
}

const toKnown = ({ id, at }: Change): Memory['known'][number] => ({ id, at });

const changeKey = ({ id, at }: Pick<Change, 'id' | 'at'>): string => `${id} ${at}`;

/** A request for one page of changes. */
export interface ChangesQuery {
	/** The earliest time of the changes, in milliseconds since the epoch; default all changes. */
	since?: number;
	order: 'ASC' | 'DESC';
	limit: number;
}

/** Fetches a page of changes; throws if the request fails. */
export type FetchChanges<One extends Change> = (query: ChangesQuery) => Promise<Page<One>>;

/**
 * Reads changes page by page, oldest first. Each page starts at a timestamp. An offset would be wrong if the list
 * changes between two requests. Returns an error as `failure`.
 *
 * @param from the earliest time of the changes, in milliseconds since the epoch
 * @param isEnough returns true to end the reading; has no effect after a page that does not go beyond its start time
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	isEnough: (soFar: Reading<One>) => boolean = () => false,
	pageSize = PAGE_SIZE,
): Promise<Reading<One>> {
	const seen = new Map<string, One>();
	const read: Reading<One> = { upTo: from, changes: [] };
	try {
		for (let [sameTime, isOver] = [0, false]; !isOver; ) {
			const since = read.upTo;
			// The limit grows if many changes have the same time, so that a page can go beyond this time.
			const limit = Math.max(pageSize, 2 * sameTime) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			for (const change of page.changes) seen.set(changeKey(change), change);
			const times = timesOf(page.changes);
			const last = times.at(-1) ?? since;
			// A full page means that more changes can follow. A larger page means that the server ignored `limit`.
			const isEnd = page.changes.length !== limit || times.length === 0;
			read.upTo = last + Number(isEnd && times.length > 0);
			read.changes = [...seen.values()];
			read.serverTime ??= page.serverTime;
			isOver = isEnd || (isEnough(read) && last > since);
			sameTime = times.filter((at) => at === last).length;
		}
	} catch (failure) {
		read.failure = failure;
	}
	return read;
}

/** Returns the times of changes, without invalid times. */
export const timesOf = (changes: Change[]): number[] =>
	changes.map(({ at }) => at).filter((at) => !Number.isNaN(at));

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
