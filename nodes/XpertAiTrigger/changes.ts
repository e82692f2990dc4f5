import max from 'lodash/max';
import min from 'lodash/min';
import minBy from 'lodash/minBy';
import uniqBy from 'lodash/uniqBy';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { overlapStart, changeKey } from './memory';
import type { Change, Memory, Progress } from './memory';

/** A page of changes to request. */
export interface ChangesQuery {
	/** Only changes from this time on, in milliseconds since the epoch; default all. */
	since?: number;
	order: 'ASC' | 'DESC';
	limit: number;
	offset?: number;
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

/** The changes that were read. */
export interface ReadResult<One extends Change> extends ReadSoFar {
	changes: One[];
	/** What ended the reading early. */
	failure?: unknown;
}

/** Limits of a reading. */
interface ReadOptions<One extends Change> {
	/** Called once after each page with its new changes; true ends the reading. */
	isEnough?: (reading: ReadSoFar, added: One[]) => boolean;
	pageSize?: number;
}

/** Changes by key, in the order in which they were first read. */
type Seen<One extends Change> = Map<string, One>;

/** Adds a page. Replaces changes that were read before; returns the new ones. */
function addPage<One extends Change>(seen: Seen<One>, page: One[]): One[] {
	const added = uniqBy(page, changeKey).filter((change) => !seen.has(changeKey(change)));
	for (const change of page) seen.set(changeKey(change), change);
	return added;
}

/**
 * Reads changes from a time on, oldest first. The next page starts at the time of the last change rather than at an
 * offset: a conversation that changes meanwhile leaves its place, and an offset would skip the one that moves up. To
 * get past many changes with the same time, a page is larger than a page size and twice the number of changes known for
 * that time. Never throws; changes read before a failure are returned.
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	{ isEnough = () => false, pageSize = PAGE_SIZE }: ReadOptions<One> = {},
): Promise<ReadResult<One>> {
	const seen: Seen<One> = new Map();
	const reading = { upTo: from, isEnd: false, pages: 0 };
	let failure: unknown;
	try {
		for (let sameTime = 0; ; ) {
			const since = reading.upTo;
			const limit = Math.max(pageSize, 2 * sameTime) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			reading.pages += 1;
			const times = timesOf(page);
			if (!isSortedFrom(times, since)) return await readAll(fetchChanges, from, pageSize);
			const added = addPage(seen, page);
			const last = times.at(-1);
			// A short page is the last; a page longer than asked for has everything.
			reading.isEnd = page.length !== limit || last === undefined;
			if (last !== undefined) reading.upTo = reading.isEnd ? last + 1 : last;
			if (reading.isEnd || (isEnough(reading, added) && reading.upTo > since)) break;
			sameTime = times.filter((at) => at === last).length;
		}
	} catch (caught) {
		failure = caught;
	}
	return { ...reading, changes: [...seen.values()], failure };
}

/** The readable times of changes. */
function timesOf(changes: Change[]): number[] {
	return changes.map(({ at }) => at).filter((at) => !Number.isNaN(at));
}

/** Whether the server filtered and sorted as requested. */
function isSortedFrom(times: number[], since: number): boolean {
	return times.every((at, index) => at >= (times[index - 1] ?? since));
}

/** Reads all changes from a server that ignores filter and order. */
async function readAll<One extends Change>(
	fetchChanges: FetchChanges<One>,
	since: number,
	pageSize: number,
): Promise<ReadResult<One>> {
	const reading = await readBack(fetchChanges, { since, pageSize });
	// The order of the rest is unknown, so any change may be missing.
	return reading.failure === undefined ? reading : { ...reading, upTo: -Infinity };
}

/** Limits of reading the most recent changes. */
interface RecentOptions {
	/** The clock of this host. */
	now: number;
	/** Whether there is time left. */
	goOn: () => boolean;
	pageSize?: number;
}

/**
 * Reads the most recent changes, back to the start of the overlap or until time is up; all changes if the server does
 * not sort. Never throws.
 */
export async function readRecent<One extends Change>(
	fetchChanges: FetchChanges<One>,
	{ now, goOn, pageSize }: RecentOptions,
): Promise<ReadResult<One> & { from: number }> {
	const floor = ({ upTo }: ReadSoFar) => overlapStart(Math.min(upTo, now));
	let oldest = Infinity;
	let isSorted = true;
	const isEnough = (reading: ReadSoFar, added: One[]) => {
		const times = [oldest, ...timesOf(added)];
		isSorted &&= isSortedFrom(times.reverse(), 0);
		oldest = min(times) ?? oldest;
		return isSorted && (oldest < floor(reading) || !goOn());
	};
	const reading = await readBack(fetchChanges, { isEnough, pageSize });
	// If time was up, more changes may have the same time as the oldest.
	const from = reading.isEnd ? 0 : (minBy(reading.changes, 'at')?.at ?? 0) + 1;
	return { ...reading, from: Math.max(from, floor(reading)) };
}

/**
 * Reads changes newest first, so that a page skips no conversation when another changes meanwhile. Never throws;
 * changes read before a failure are returned.
 */
async function readBack<One extends Change>(
	fetchChanges: FetchChanges<One>,
	{
		since,
		isEnough = () => false,
		pageSize: limit = PAGE_SIZE,
	}: ReadOptions<One> & { since?: number },
): Promise<ReadResult<One>> {
	const seen: Seen<One> = new Map();
	const reading = { upTo: since ?? 0, isEnd: false, pages: 0 };
	let newest = -Infinity;
	let failure: unknown;
	try {
		while (!reading.isEnd) {
			const offset = reading.pages * limit;
			const page = await fetchChanges({ since, order: 'DESC', limit, offset });
			reading.pages += 1;
			const added = addPage(seen, page);
			newest = max([newest, ...timesOf(added)]) ?? newest;
			if (newest > -Infinity) reading.upTo = newest + 1;
			reading.isEnd = page.length !== limit || added.length === 0;
			if (isEnough(reading, added)) break;
		}
	} catch (caught) {
		failure = caught;
	}
	const changes = [...seen.values()].filter(({ at }) => !Number.isNaN(at));
	return { ...reading, changes, failure };
}

/** Pages of the overlap that a poll may read if nothing is new. */
const OVERLAP_PAGES = 10;

/** Up to which share of a poll's time new changes and the overlap are read. The rest is for threads. */
const NEW_SHARE = 0.4;
const OVERLAP_SHARE = 0.8;

/** The changes of a poll and how far it read. */
export interface PollChanges<One extends Change> extends Progress {
	changes: One[];
	/** What ended the reading early. */
	failure?: unknown;
}

/** Limits of a poll. */
interface PollLimits<One extends Change> {
	/** Makes a function that counts the new wanted changes it is given, and returns true once they fill the poll. */
	makeCounter: () => (changes: One[]) => boolean;
	/** Whether less than this share (0 to 1) of the poll's time has passed. */
	hasTime: (share: number) => boolean;
	pageSize?: number;
}

/**
 * Reads new changes from where the last poll ended, and reads the overlap again for changes that became visible late:
 * as many pages of each, and more of the overlap if nothing is new. Usually one page has all of it. Never throws.
 */
export async function readPollChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	memory: Memory,
	limits: PollLimits<One>,
): Promise<PollChanges<One>> {
	const reader = new PollReader(fetchChanges, memory, limits);
	if (!memory.ahead) await reader.readOverlap(1);
	await reader.readNew();
	await reader.readOverlap();
	return reader.result();
}

/** Reads new changes and the overlap. */
class PollReader<One extends Change> {
	private readonly changes: One[] = [];

	/** How far new changes were read. */
	private upTo: number;

	/** How far the overlap was read. */
	private overlapUpTo: number;

	private readonly overlapFrom: number;

	private pages = { fresh: 0, overlap: 0 };

	private isEnd = false;

	private failure: unknown;

	constructor(
		private readonly fetchChanges: FetchChanges<One>,
		private readonly memory: Memory,
		private readonly limits: PollLimits<One>,
	) {
		const { since, floor, final, again } = memory;
		this.upTo = since;
		this.overlapUpTo = this.overlapFrom = floor < final ? floor : again;
	}

	/** Reads the overlap again. At its end it meets the new changes and reads on from there. */
	async readOverlap(maxPages = this.maxOverlapPages()): Promise<void> {
		const { since } = this.memory;
		const left = maxPages - this.pages.overlap;
		const hasTime = () => this.limits.hasTime(OVERLAP_SHARE);
		if (this.failure !== undefined || left <= 0 || this.overlapUpTo >= since) return;
		if (this.pages.fresh > 0 && !hasTime()) return;
		const { upTo, pages } = await this.read(
			this.overlapUpTo,
			(reading) => reading.upTo >= since || reading.pages >= left || !hasTime(),
		);
		this.pages.overlap += pages;
		// After the last page there is nothing more to read.
		this.overlapUpTo = Math.max(this.overlapUpTo, upTo, this.isEnd ? since : 0);
		this.upTo = Math.max(this.upTo, this.overlapUpTo);
	}

	/** Reads new changes, unless the overlap used up the time or led to enough of them. */
	async readNew(): Promise<void> {
		const hasTime = () => this.limits.hasTime(NEW_SHARE);
		const { overlap } = this.pages;
		const hasReachedNew = overlap > 0 && this.overlapUpTo >= this.memory.since;
		if (this.failure !== undefined || this.isEnd || (overlap > 0 && !hasTime())) return;
		const isEnough = this.limits.makeCounter();
		if (isEnough(this.changes) && hasReachedNew) return;
		const { upTo, pages } = await this.read(this.upTo, (_, added) => isEnough(added) || !hasTime());
		this.pages.fresh += pages;
		this.upTo = Math.max(this.upTo, upTo);
	}

	result(): PollChanges<One> {
		const { changes, upTo, overlapUpTo, overlapFrom, failure } = this;
		const overlap = { from: overlapFrom, upTo: overlapUpTo };
		const hasReachedNew = this.isEnd || upTo > this.memory.since;
		const ahead = this.pages.fresh === 0 && !hasReachedNew;
		return { changes, upTo, overlap, ahead, failure };
	}

	private maxOverlapPages(): number {
		const { fresh } = this.pages;
		const hasMore = !this.isEnd || this.limits.makeCounter()(this.changes);
		return hasMore ? fresh : Math.max(OVERLAP_PAGES, fresh);
	}

	private async read(
		from: number,
		isEnough: (reading: ReadSoFar, added: One[]) => boolean,
	): Promise<ReadResult<One>> {
		const { pageSize } = this.limits;
		const reading = await readChanges(this.fetchChanges, from, { pageSize, isEnough });
		for (const change of reading.changes) this.changes.push(change);
		this.failure = reading.failure;
		this.isEnd = reading.isEnd;
		return reading;
	}
}
