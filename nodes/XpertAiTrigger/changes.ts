import { differenceBy, max, sortBy, uniqBy } from 'lodash';
import { z } from 'zod';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { MINUTE_MS } from '../XpertAi/transport/clock';

/*
 * Each poll stores two times for the next poll, `again` and `since`, by the clock of the server:
 *
 *   … forgotten … | again                      since | not read yet …
 *                 |---- overlap: read again, known ----|
 *
 * - All changes before `since` were read. A poll moves `since` up to the end of its reading, or only to the first
 *   change that it did not handle, for example because the thread of this change is unreadable.
 * - A change can become visible up to `OVERLAP_MS` after a change with a later time. So each poll starts to read at
 *   `again` and reads the overlap once more. A page has room for all known changes and for new ones, so even a poll
 *   with time for only one page reads new changes.
 * - `again` moves up too, but stays `OVERLAP_MS` behind the `since` that the poll started with, and behind the time of
 *   the server: until then, a change can still become visible.
 * - `known` has the changes that were read from `again` on. Those that were emitted are not emitted again.
 * - A change with an unreadable thread holds back both times until its thread is read, or until `THREAD_TRIES` polls
 *   have tried to read it.
 *
 * The clock of the machine that runs n8n is not used, because it may be wrong.
 */

/**
 * The length of the overlap. A change can become visible after a later one, because servers set its time before they
 * show it, and because the clocks of several servers differ.
 */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A change of a conversation, identified by the ID of the conversation and the time of the change. */
export interface Change {
	id: string;
	/** The time of the change, as the server wrote it. */
	updatedAt: string;
	/** The same time in milliseconds since the epoch; NaN if the text is not a time. */
	at: number;
}

/** What one poll stores for the next one; see the top of this file. */
const memorySchema = z.object({
	/** Identifies the server, the credential and the assistant. A memory with another value is not used. */
	watched: z.string(),
	since: z.number(),
	again: z.number(),
	/**
	 * The changes read from `again` on, oldest first. A change with `tries` was not emitted; `tries` counts the polls
	 * that tried to emit it.
	 */
	known: z.array(z.object({ id: z.string(), at: z.number(), tries: z.number().optional() })),
});

export type Memory = z.infer<typeof memorySchema>;

/**
 * Returns the stored memory; undefined if it is missing or invalid, or if it belongs to another server, credential or
 * assistant.
 */
export function readMemory(stored: unknown, watched: string): Memory | undefined {
	const { data } = memorySchema.safeParse(stored);
	if (data?.watched !== watched) return undefined;
	return { ...data, again: Math.min(data.again, data.since) };
}

/** The changes from `again` on that were not emitted before, each once, oldest first. */
export function newChanges<One extends Change>({ again, known }: Memory, changes: One[]): One[] {
	const emitted = new Set(known.filter(({ tries }) => tries === undefined).map(changeKey));
	const fresh = changes.filter((one) => one.at >= again && !emitted.has(changeKey(one)));
	return sortBy(uniqBy(fresh, changeKey), 'at', 'updatedAt', 'id');
}

/** In how many earlier polls a change was tried, but not emitted. */
export const triesOf = ({ known }: Memory, change: Change): number =>
	known.find((one) => changeKey(one) === changeKey(change))?.tries ?? 0;

/** A page of changes, and the time of the server when it answered, if the server sends its time. */
interface Page<One extends Change> {
	/** A change with an unreadable time has `at: NaN`. */
	changes: One[];
	serverTime?: number;
}

/** The changes that were read so far, with the time of the server when it sent the first page. */
export interface Reading<One extends Change> extends Page<One> {
	/** The end of the range that was read, exclusive: all changes from its start up to this time were read. */
	upTo: number;
	/** The error that ended the reading early. */
	failure?: unknown;
}

/**
 * Returns the memory after a poll.
 *
 * @param memory the memory as stored now; an overlapping poll may have changed it
 * @param before the memory at the start of the poll
 * @param found the changes that were read from `again` on
 * @param outcome `wanted` are the changes that the workflow starts for, `handled` those of them that are done, and
 * `unread` those of them that were tried and wait for the next poll
 */
export function nextMemory(
	memory: Memory,
	before: Memory,
	{ changes, upTo, serverTime = Infinity }: Reading<Change>,
	{ wanted, handled, unread }: Record<'wanted' | 'handled' | 'unread', Change[]>,
): Memory {
	const [firstLeft] = differenceBy(newChanges(memory, wanted), handled, changeKey);
	const left = firstLeft?.at ?? Infinity;
	// A change with a time in the future is emitted, but does not move `since` there. Otherwise, polls would miss the
	// changes that happen before that time.
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

/** The entry in the memory for a change that was emitted. */
const toKnown = ({ id, at }: Change): Memory['known'][number] => ({ id, at });

const changeKey = ({ id, at }: Pick<Change, 'id' | 'at'>): string => `${id} ${at}`;

/** A page of changes to request. */
export interface ChangesQuery {
	/** Only changes from this time on are requested, in milliseconds since the epoch; default all changes. */
	since?: number;
	order: 'ASC' | 'DESC';
	limit: number;
}

/** Fetches a page of changes; throws if the request fails. */
export type FetchChanges<One extends Change> = (query: ChangesQuery) => Promise<Page<One>>;

/**
 * Reads changes from a time on, oldest first. Each page starts at the time of the last change on the page before, and
 * not at an offset: a conversation that changes meanwhile moves to the end of the list, so an offset would skip another
 * conversation. If a page ends with many changes of the same time, the next page has room for more than twice their
 * number, to get past this time. Never throws: after a failure, returns the changes read until then, and the failure.
 *
 * @param from the start of the reading, in milliseconds since the epoch
 * @param isEnough called after each page; true ends the reading, unless all changes on the page have the time at which
 * the page starts
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	isEnough: (soFar: Reading<One>) => boolean = () => false,
	pageSize = PAGE_SIZE,
): Promise<Reading<One>> {
	/** Changes by key, in the order in which they were first read. */
	const seen = new Map<string, One>();
	const read: Reading<One> = { upTo: from, changes: [] };
	try {
		for (let [sameTime, isOver] = [0, false]; !isOver; ) {
			const since = read.upTo;
			const limit = Math.max(pageSize, 2 * sameTime) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			for (const change of page.changes) seen.set(changeKey(change), change);
			const times = timesOf(page.changes);
			const last = times.at(-1) ?? since;
			// A page with fewer changes than `limit` is the last. A page with more has all changes, because the server
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

/** The times of changes, without times that could not be read. */
export const timesOf = (changes: Change[]): number[] =>
	changes.map(({ at }) => at).filter((at) => !Number.isNaN(at));

/**
 * Returns the time of the server, and `start`, the time one overlap before the newest change. If the server sends no
 * time, the time of the newest change counts as the time of the server. Changes more than one overlap in the future do
 * not count; if there are only such changes, `start` is one overlap before the time of the server. Without changes,
 * `start` is before the epoch.
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
 * Returns the memory after the first poll, in which all existing changes count as emitted.
 *
 * @throws if a request fails
 */
export async function readFirstMemory(fetchChanges: FetchChanges<Change>, watched: string) {
	const { start } = await readNewest(fetchChanges);
	const { upTo, changes, failure } = await readChanges(fetchChanges, start);
	if (failure !== undefined) throw failure;
	// The comparison also leaves out changes with an unreadable time (NaN), which JSON cannot hold.
	const known = changes.filter(({ at }) => at >= start).map(toKnown);
	return { watched, since: upTo, again: start, known };
}

/**
 * Corrects a memory whose `since` is more than one overlap later than the time of the server, because the server's
 * clock was wrong before. With the corrected memory, polls continue one overlap before the newest change.
 *
 * @param found what was read with this memory
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
