import max from 'lodash/max';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { OVERLAP_MS, changeKey, toKnown } from './memory';
import type { Change, Memory, Reading } from './memory';

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
export async function firstMemory(
	fetchChanges: FetchChanges<Change>,
	watched: string,
): Promise<Memory> {
	const { start } = await readNewest(fetchChanges);
	const { upTo, changes, failure } = await readChanges(fetchChanges, start);
	if (failure !== undefined) throw failure;
	return { watched, since: upTo, again: start, known: changes.map(toKnown) };
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
