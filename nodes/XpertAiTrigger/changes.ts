import max from 'lodash/max';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { overlapStart, changeKey } from './memory';
import type { Change, Memory } from './memory';

/** A page of changes to request. */
export interface ChangesQuery {
	/** Only changes from this time on, in milliseconds since the epoch; default all. */
	since?: number;
	order: 'ASC' | 'DESC';
	limit: number;
}

/** Fetches a page of changes; throws if it fails. A change with an unreadable time has `at: NaN`. */
export type FetchChanges<One extends Change> = (query: ChangesQuery) => Promise<One[]>;

/** How far changes were read. */
interface ReadSoFar {
	/** No change between the start of the reading and this time is missing. */
	upTo: number;
	/** Whether the last page was read. */
	isEnd: boolean;
	pages: number;
}

/** Limits of a reading. */
interface ReadOptions<One extends Change> {
	/** Called after each page, which may repeat changes of the page before; true ends the reading. */
	isEnough?: (soFar: ReadSoFar, page: One[]) => boolean;
	pageSize?: number;
}

/**
 * Reads changes from a time on, oldest first. The next page starts at the time of the last change rather than at an
 * offset: a conversation that changes meanwhile leaves its place, and an offset would skip the one that moves up. To
 * get past many changes with the same time, a page is larger than a page size and twice the number of changes known for
 * that time. Never throws; changes read before a failure are returned with it.
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	{ isEnough = () => false, pageSize = PAGE_SIZE }: ReadOptions<One> = {},
) {
	/** Changes by key, in the order in which they were first read. */
	const seen = new Map<string, One>();
	const soFar = { upTo: from, isEnd: false, pages: 0 };
	let failure: unknown;
	try {
		for (let sameTime = 0; ; ) {
			const since = soFar.upTo;
			const limit = Math.max(pageSize, 2 * sameTime) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			soFar.pages += 1;
			for (const change of page) seen.set(changeKey(change), change);
			const times = timesOf(page);
			const last = times.at(-1);
			// A short page is the last; a page longer than asked for has everything.
			soFar.isEnd = page.length !== limit || last === undefined;
			if (last !== undefined) soFar.upTo = soFar.isEnd ? last + 1 : last;
			if (soFar.isEnd || (isEnough(soFar, page) && soFar.upTo > since)) break;
			sameTime = times.filter((at) => at === last).length;
		}
	} catch (caught) {
		failure = caught;
	}
	return { ...soFar, changes: [...seen.values()], failure };
}

/** The readable times of changes. */
export function timesOf(changes: Change[]): number[] {
	return changes.map(({ at }) => at).filter((at) => !Number.isNaN(at));
}

/**
 * Reads the changes of the last overlap, at the activation of a workflow; if time is up before its end, none of them.
 *
 * @param now the clock of this host @throws if a request fails
 */
export async function readExisting(
	fetchChanges: FetchChanges<Change>,
	now: number,
	{ hasTime, pageSize = PAGE_SIZE }: { hasTime: () => boolean; pageSize?: number },
) {
	const newest = max(timesOf(await fetchChanges({ order: 'DESC', limit: pageSize }))) ?? 0;
	const from = overlapStart(Math.min(newest, now));
	const { changes, upTo, isEnd, failure } = await readChanges(fetchChanges, from, {
		isEnough: () => !hasTime(),
		pageSize,
	});
	if (failure !== undefined) throw failure;
	return isEnd ? { changes, upTo, from } : { changes: [], upTo: newest + 1, from: newest + 1 };
}

/** Pages of the overlap that a poll may read. */
const OVERLAP_PAGES = 3;

/** Up to which share of a poll's time its first and its second part are read. The rest is for threads. */
const FIRST_SHARE = 0.4;
const SECOND_SHARE = 0.8;

/** Limits of a poll. */
interface PollLimits<One extends Change> {
	/** Counts the new wanted changes among those it is given, each once; true once they fill the poll. */
	isEnough: (changes: One[]) => boolean;
	/** Whether less than this share (0 to 1) of the poll's time has passed. */
	hasTime: (share: number) => boolean;
	pageSize?: number;
}

/**
 * Reads the overlap again for changes that became visible late, some pages in each poll, and new changes from where the
 * last poll ended. At its end the overlap meets the new changes and reads on: usually one page has all of it. Never
 * throws; returns how far it read (`PollOutcome`), and what ended it early.
 */
export async function readPollChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	{ since, floor, final, again, ahead }: Memory,
	{ isEnough, hasTime, pageSize }: PollLimits<One>,
) {
	const from = floor < final ? floor : again;
	const readNew = async (share: number) =>
		await readChanges(fetchChanges, since, {
			isEnough: (_, page) => isEnough(page) || !hasTime(share),
			pageSize,
		});
	const readOverlap = async (share: number) =>
		await readChanges(fetchChanges, from, {
			isEnough: ({ upTo, pages }, page) => {
				const isFull = isEnough(page) || ahead;
				return !hasTime(share) || (upTo < since ? pages >= OVERLAP_PAGES : isFull);
			},
			pageSize,
		});
	const first = await (ahead ? readNew : readOverlap)(FIRST_SHARE);
	const hasMet = !ahead && (first.isEnd || first.upTo >= since);
	const isOver = hasMet || first.failure !== undefined || !hasTime(FIRST_SHARE);
	const second = isOver ? undefined : await (ahead ? readOverlap : readNew)(SECOND_SHARE);
	const [overlap, fresh] = ahead ? [second, first] : [first, second];
	// After the last page there is nothing more to read.
	const overlapUpTo = Math.max(overlap?.upTo ?? from, overlap?.isEnd ? since : from);
	const upTo = Math.max(since, overlapUpTo, fresh?.upTo ?? since);
	return {
		changes: [...first.changes, ...(second?.changes ?? [])],
		upTo,
		overlap: { from, upTo: overlapUpTo },
		ahead: fresh === undefined && !first.isEnd && upTo <= since,
		failure: first.failure ?? second?.failure,
	};
}
