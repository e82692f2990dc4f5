import { differenceBy, max, sortBy, uniqBy } from 'lodash';
import { z } from 'zod';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { MINUTE_MS } from '../XpertAi/transport/clock';

/*
 * Each poll stores two times for the next poll: `again` and `since`. Both use the clock of the server, because the
 * clock of the n8n machine may be wrong.
 *
 *   … forgotten … | again                      since | not read yet …
 *                 |---- overlap: read again, known ----|
 *
 * - All changes before `since` were read. A poll moves `since` up, but not past a change that it did not handle.
 * - A change can become visible up to `OVERLAP_MS` after a change with a later time. So each poll starts to read at
 *   `again` and reads the overlap once more.
 * - `again` stays at least `OVERLAP_MS` behind the previous `since` and behind the time of the server.
 * - `known` lists the changes at or after `again`. The node does not emit a change in `known` twice.
 * - A change with an unreadable thread holds back both times. After `THREAD_TRIES` polls, the node emits the change
 *   without messages.
 */

/**
 * The length of the overlap. Servers set the time of a change before the change becomes visible, and the clocks of
 * several servers differ.
 */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A change of a conversation, identified by the ID of the conversation and the time of the change. */
export interface Change {
	id: string;
	/** The time of the change, as the server wrote it. */
	updatedAt: string;
	/** `updatedAt` in milliseconds since the epoch; NaN if `updatedAt` is not a valid time. */
	at: number;
}

/** The state that a poll stores for the next poll (see the top of this file). */
const memorySchema = z.object({
	/** Identifies the server, the credential and the assistant. The node ignores a memory with another value. */
	watched: z.string(),
	since: z.number(),
	again: z.number(),
	/**
	 * The changes at or after `again`, oldest first. `tries` counts the polls that postponed a change. Emitted changes
	 * have no `tries`.
	 */
	known: z.array(z.object({ id: z.string(), at: z.number(), tries: z.number().optional() })),
});

export type Memory = z.infer<typeof memorySchema>;

/** Returns the stored memory if it is valid and belongs to the same server, credential and assistant. */
export function readMemory(stored: unknown, watched: string): Memory | undefined {
	const { data } = memorySchema.safeParse(stored);
	if (data?.watched !== watched) return undefined;
	return { ...data, again: Math.min(data.again, data.since) };
}

/** Returns the changes at or after `again` that were not emitted yet, oldest first and without duplicates. */
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
	/** The end (exclusive) of the time range that was read completely. */
	upTo: number;
	/** The error that ended the reading early. */
	failure?: unknown;
}

/**
 * Returns the memory after a poll.
 *
 * @param memory the memory as stored now; an overlapping poll may have changed it
 * @param before the memory at the start of the poll
 * @param found the changes that the poll read
 * @param outcome `wanted`: changes that the workflow starts for; `handled`: wanted changes that are done; `unread`:
 * wanted changes that the poll postponed
 */
export function nextMemory(
	memory: Memory,
	before: Memory,
	{ changes, upTo, serverTime = Infinity }: Reading<Change>,
	{ wanted, handled, unread }: Record<'wanted' | 'handled' | 'unread', Change[]>,
): Memory {
	const [firstLeft] = differenceBy(newChanges(memory, wanted), handled, changeKey);
	const left = firstLeft?.at ?? Infinity;
	// A change with a future time must not move `since` to that time. Otherwise, polls would miss the changes before
	// that time.
	const since = Math.min(upTo, left, serverTime + OVERLAP_MS);
	const settled = Math.min(before.since, serverTime) - OVERLAP_MS;
	const again = Math.max(memory.again, Math.min(upTo, left, settled));
	const tried = new Set(unread.map(changeKey));
	const seen = newChanges(memory, changes).map((one) => ({
		...toKnown(one),
		tries: triesOf(memory, one) + Number(tried.has(changeKey(one))),
	}));
	const known = uniqBy([...handled.map(toKnown), ...seen, ...memory.known], changeKey);
	return {
		watched: memory.watched,
		since: Math.max(memory.since, since),
		again,
		known: sortBy(known, 'at').filter(({ at }) => at >= again),
	};
}

/** Returns the entry of `known` for an emitted change. */
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
 * Reads changes page by page, oldest first. Each page starts at the time of the last change on the previous page. An
 * offset would skip conversations if the list changes during the reading. Never throws: the result contains the failure
 * and the changes read until then.
 *
 * @param from the earliest time of the changes, in milliseconds since the epoch
 * @param isEnough called after each page; returns true to end the reading
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	isEnough: (soFar: Reading<One>) => boolean = () => false,
	pageSize = PAGE_SIZE,
): Promise<Reading<One>> {
	/** Changes by key, in reading order. */
	const seen = new Map<string, One>();
	const read: Reading<One> = { upTo: from, changes: [] };
	try {
		for (let [sameTime, isOver] = [0, false]; !isOver; ) {
			const since = read.upTo;
			// If many changes have the same time, a larger page gets past that time.
			const limit = Math.max(pageSize, 2 * sameTime) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			for (const change of page.changes) seen.set(changeKey(change), change);
			const times = timesOf(page.changes);
			const last = times.at(-1) ?? since;
			// A page with fewer changes than `limit` is the last page. A page with more changes is complete: the server
			// ignored `limit`.
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

/**
 * Returns the time of the server, or else the time of the newest change. `start` is one overlap before the newest
 * change. For `start`, changes more than one overlap in the future are ignored.
 */
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
	// The comparison also removes changes with an invalid time (NaN), because JSON has no NaN.
	const known = changes.filter(({ at }) => at >= start).map(toKnown);
	return { watched, since: upTo, again: start, known };
}

/**
 * Corrects a memory whose `since` is too far in the future. This happens if the server's clock was wrong earlier. With
 * the corrected memory, polls continue one overlap before the newest change.
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
