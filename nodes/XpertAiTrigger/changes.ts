import differenceBy from 'lodash/differenceBy';
import clamp from 'lodash/clamp';
import max from 'lodash/max';
import sortBy from 'lodash/sortBy';
import uniqBy from 'lodash/uniqBy';
import { z } from 'zod';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { MINUTE_MS } from '../XpertAi/transport/clock';

/*
 * One poll leaves two times for the next, in the server's time:
 *
 *   … forgotten … | again                      since | not read yet …
 *                 |---- overlap: read again, known ----|
 *
 * - All changes before `since` were read. A poll reads on from there and moves `since` to the first change that it did
 *   not handle, or that waits for its thread.
 * - Changes may become visible up to `OVERLAP_MS` after later ones, so the overlap is read again from `again` on.
 *   `again` follows this reading, but stays `OVERLAP_MS` behind the `since` of the poll before and behind the time of
 *   the server: until then, a change may still become visible.
 * - `known` has the changes read from `again` on. Those that were emitted are not emitted again.
 * - A change with an unreadable thread holds back both times until its thread is read or its tries are used up.
 *
 * The clock of this host is not used: it may be wrong.
 */

/** Length of the overlap: servers set the time of a change before it becomes visible, and their clocks differ. */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A conversation in a state since a time; conversation and time identify the change. */
export interface Change {
	id: string;
	/** As the server wrote it. */
	updatedAt: string;
	/** The same in milliseconds since the epoch. */
	at: number;
}

/** A corrupted time is moved to one that a request can hold. */
const time = z.number().transform((ms) => clamp(ms, 0, Date.UTC(9999, 0)));

const knownSchema = z.object({ id: z.string(), at: z.number(), tries: z.number().optional() });

/** What one poll leaves for the next; see above. */
const memorySchema = z.object({
	/** What is watched. With another server, credential or assistant, the memory does not apply. */
	watched: z.string(),
	since: time,
	again: time,
	/** The oldest first; with `tries`, those that were not emitted yet. An unreadable one does not cost the others. */
	known: z
		.array(knownSchema.nullable().catch(null))
		.transform((known) => known.filter((one) => one !== null)),
});

export type Memory = z.infer<typeof memorySchema>;

/** The stored memory; undefined if there is none, or for something else. */
export function readMemory(stored: unknown, watched: string): Memory | undefined {
	const { data } = memorySchema.safeParse(stored);
	if (data?.watched !== watched) return undefined;
	return { ...data, again: Math.min(data.again, data.since) };
}

/** The changes that were not emitted before and are not older than the overlap, oldest first. */
export function newChanges<One extends Change>({ again, known }: Memory, changes: One[]): One[] {
	const emitted = new Set(known.filter(({ tries }) => tries === undefined).map(changeKey));
	const fresh = changes.filter((one) => one.at >= again && !emitted.has(changeKey(one)));
	return sortBy(uniqBy(fresh, changeKey), 'at', 'updatedAt', 'id');
}

/** In how many polls the thread of a change was tried. */
export function triesOf({ known }: Memory, change: Change): number {
	return known.find((one) => changeKey(one) === changeKey(change))?.tries ?? 0;
}

/** What a poll has read. */
export interface Reading<One extends Change> {
	changes: One[];
	/** No change between `since` and this time is missing. */
	upTo: number;
	/** No change between `again` and this time is missing. */
	overlapUpTo: number;
	/** The time of the server before that, if it tells. */
	serverTime?: number;
}

/**
 * The memory after a poll.
 *
 * @param memory the stored memory now, which an overlapping poll may have changed
 * @param before the memory at the start of the poll
 * @param outcome the changes that the workflow starts for, and of these the ones that were handled and those whose
 * thread could not be read
 */
export function nextMemory(
	memory: Memory,
	before: Memory,
	{ changes, upTo, overlapUpTo, serverTime = Infinity }: Reading<Change>,
	{ wanted, handled, unread }: Record<'wanted' | 'handled' | 'unread', Change[]>,
): Memory {
	const [firstLeft] = differenceBy(newChanges(memory, wanted), handled, changeKey);
	const left = firstLeft?.at ?? Infinity;
	// What is stamped with the future is emitted, but must not hide what changes until then.
	const since = Math.min(upTo, left, serverTime + OVERLAP_MS);
	const settled = Math.min(before.since, serverTime) - OVERLAP_MS;
	const again = Math.max(memory.again, Math.min(overlapUpTo, left, settled));
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

/** A change as the memory has it once it was emitted. */
export function toKnown({ id, at }: Change): Memory['known'][number] {
	return { id, at };
}

/** Identifies a change. */
export function changeKey({ id, at }: Pick<Change, 'id' | 'at'>): string {
	return `${id} ${at}`;
}

/** A page of changes to request. */
export interface ChangesQuery {
	/** Only changes from this time on, in milliseconds since the epoch; default all. */
	since?: number;
	order: 'ASC' | 'DESC';
	limit: number;
}

/** A page of changes. A change with an unreadable time has `at: NaN`. */
interface Page<One extends Change> {
	changes: One[];
	/** The time of the server, if it tells. */
	serverTime?: number;
}

/** Fetches a page of changes; throws if it fails. */
export type FetchChanges<One extends Change> = (query: ChangesQuery) => Promise<Page<One>>;

/** How far changes were read. */
interface ReadSoFar<One extends Change> extends Page<One> {
	/** No change between the start of the reading and this time is missing. */
	upTo: number;
	pages: number;
	/** What ended the reading early. */
	failure?: unknown;
}

/**
 * Reads changes from a time on, oldest first. The next page starts at the time of the last change rather than at an
 * offset: a conversation that changes meanwhile leaves its place, and an offset would skip the one that moves up. To
 * get past many changes with the same time, a page is larger than a page size and twice the number of changes known for
 * that time. Never throws; changes read before a failure are returned with it.
 *
 * @param isEnough called after each page; true ends the reading
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	isEnough: (soFar: ReadSoFar<One>) => boolean = () => false,
	pageSize = PAGE_SIZE,
): Promise<ReadSoFar<One>> {
	/** Changes by key, in the order in which they were first read. */
	const seen = new Map<string, One>();
	const read: ReadSoFar<One> = { upTo: from, changes: [], pages: 0 };
	try {
		for (let [sameTime, isOver] = [0, false]; !isOver; ) {
			const since = read.upTo;
			const limit = Math.max(pageSize, 2 * sameTime) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			for (const change of page.changes) seen.set(changeKey(change), change);
			const times = timesOf(page.changes);
			const last = times.at(-1) ?? since;
			// A short page is the last; a page longer than asked for has everything.
			const isEnd = page.changes.length !== limit || times.length === 0;
			read.upTo = last + Number(isEnd && times.length > 0);
			read.changes = [...seen.values()];
			read.pages += 1;
			read.serverTime ??= page.serverTime;
			isOver = isEnd || (isEnough(read) && last > since);
			sameTime = times.filter((at) => at === last).length;
		}
	} catch (failure) {
		read.failure = failure;
	}
	return read;
}

/** The readable times of changes. */
export function timesOf(changes: Change[]): number[] {
	return changes.map(({ at }) => at).filter((at) => !Number.isNaN(at));
}

/**
 * The time of the server, and the start of the overlap of its newest change. A server that tells no time counts as
 * being at its newest change; changes that were stamped with a later time do not count.
 */
async function readNewest(fetchChanges: FetchChanges<Change>) {
	const page = await fetchChanges({ order: 'DESC', limit: PAGE_SIZE });
	const times = timesOf(page.changes);
	const newest = max(times) ?? 0;
	const { serverTime = newest } = page;
	const plausible = times.filter((at) => at <= serverTime + OVERLAP_MS);
	return { serverTime, start: (max(plausible) ?? Math.min(newest, serverTime)) - OVERLAP_MS };
}

/** The first memory: all changes of the last overlap count as emitted. @throws if a request fails */
export async function firstMemory(fetchChanges: FetchChanges<Change>, watched: string) {
	const { start } = await readNewest(fetchChanges);
	const { upTo, changes, failure } = await readChanges(fetchChanges, start);
	if (failure !== undefined) throw failure;
	// JSON cannot hold an unreadable time.
	const known = changes.filter(({ at }) => at >= start).map(toKnown);
	return { watched, since: upTo, again: start, known };
}

/**
 * The memory without a time that is later than the server's by more than the overlap, as a wrong clock leaves it: it
 * goes on from the overlap of the newest change.
 *
 * @param found what was read with this memory
 * @returns undefined if its times are plausible @throws if a request fails
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

/** Pages of the overlap that a poll may read. */
const OVERLAP_PAGES = 3;

/**
 * Reads the overlap again for changes that became visible late, and new changes from where the last poll ended. At its
 * end the overlap meets the new changes and reads on: usually one page has all of it. Of an overlap that is longer than
 * a page, a part is drawn by lot, or none: each gets its turn, even if a poll has time for one page only. Never throws;
 * what ended the reading early is returned.
 *
 * @param isOver called after each page, with what was read of new changes; true ends the reading
 * @param lot a random number from 0 to below 1
 */
export async function readPollChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	{ since, again, known }: Memory,
	isOver: (changes?: One[]) => boolean,
	{ lot, pageSize = PAGE_SIZE }: { lot: number; pageSize?: number },
): Promise<Reading<One> & { failure?: unknown }> {
	const times = known.map(({ at }) => at);
	const old = times.filter((at) => at < since);
	const maySkip = times.length >= pageSize && again >= since - OVERLAP_MS;
	// Half of the lots are those of new changes.
	const starts = maySkip ? [again, ...old, ...old.map(() => since)] : [again];
	const start = starts[Math.floor(lot * starts.length)] ?? again;
	// Changes after `since` that are known already, as those with a time in the future, leave room for others.
	const room = pageSize + times.length - old.length;
	const isEnough = ({ upTo, changes, pages }: ReadSoFar<One>) =>
		upTo < since ? pages >= OVERLAP_PAGES || isOver() : isOver(changes);
	const first = await readChanges(fetchChanges, start, isEnough, room);
	const isAll = first.upTo >= since || first.failure !== undefined || isOver();
	const second = isAll ? undefined : await readChanges(fetchChanges, since, isEnough, room);
	return {
		changes: [...first.changes, ...(second?.changes ?? [])],
		upTo: Math.max(since, second?.upTo ?? first.upTo),
		overlapUpTo: start === again ? first.upTo : again,
		serverTime: first.serverTime,
		failure: first.failure ?? second?.failure,
	};
}
