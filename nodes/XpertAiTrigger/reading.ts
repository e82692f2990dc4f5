import max from 'lodash/max';
import min from 'lodash/min';
import minBy from 'lodash/minBy';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { floorOf, nameOf } from './memory';
import type { Change } from './memory';

/** A page of changes that is asked for. */
export interface ChangesQuery {
	/** Only changes from this moment on, in milliseconds since the epoch; all without it. */
	since?: number;
	order: 'ASC' | 'DESC';
	limit: number;
	offset?: number;
}

/** Fetches a page of changes; throws when it cannot. One whose moment is not readable has NaN for it. */
export type FetchChanges<One extends Change> = (query: ChangesQuery) => Promise<One[]>;

/** What was read of the server's changes. */
export interface Reading<One extends Change> {
	changes: One[];
	/** No change before this moment is missing, from where the reading began. */
	upTo: number;
	/** Whether there was no more to read. */
	isEnd: boolean;
	pages: number;
	/** What broke the reading off, if anything did. */
	failure?: unknown;
}

/** How changes are read. */
interface Manner<One extends Change> {
	/** Asked once after each page, with what it has brought: whether the rest may wait. */
	isEnough?: (reading: Reading<One>, brought: One[]) => boolean;
	pageSize?: number;
}

/** Changes in the order they were first seen in, each once. */
class Seen<One extends Change> {
	readonly all: One[] = [];

	private readonly places = new Map<string, number>();

	/** Adds changes; those that were seen before are replaced, the others given back. */
	add(changes: One[]): One[] {
		const before = this.all.length;
		for (const change of changes) {
			const name = nameOf(change);
			const place = this.places.get(name) ?? this.all.length;
			this.places.set(name, place);
			this.all[place] = change;
		}
		return this.all.slice(before);
	}
}

/**
 * Reads the changes from a moment on, oldest first. The next page starts at the moment where the last one
 * ended and not behind so many changes: a conversation that changes meanwhile leaves its place, and the
 * one that moves up into it would be passed over. It is twice as large as all that is known of this moment,
 * and by one larger than a page: so it gets past it, however many changes are of one moment. Never throws: what
 * was read before a failure counts.
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	{ isEnough = () => false, pageSize = PAGE_SIZE }: Manner<One> = {},
): Promise<Reading<One>> {
	const seen = new Seen<One>();
	const reading: Reading<One> = { changes: seen.all, upTo: from, isEnd: false, pages: 0 };
	try {
		for (let ofMoment = 0; ; ) {
			const since = reading.upTo;
			const limit = Math.max(pageSize, 2 * ofMoment) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			reading.pages += 1;
			const moments = momentsOf(page);
			if (!isAsAsked(moments, since)) return await readAll(fetchChanges, from, pageSize);
			const brought = seen.add(page);
			const last = moments.at(-1);
			// A short page is the last one; a longer page than asked for holds everything.
			reading.isEnd = page.length !== limit || last === undefined;
			if (last !== undefined) reading.upTo = reading.isEnd ? last + 1 : last;
			if (reading.isEnd || (isEnough(reading, brought) && reading.upTo > since)) return reading;
			ofMoment = moments.filter((at) => at === last).length;
		}
	} catch (failure) {
		return { ...reading, failure };
	}
}

/** The moments of changes that have a readable one. */
function momentsOf(changes: Change[]): number[] {
	return changes.map(({ at }) => at).filter((at) => !Number.isNaN(at));
}

/** Whether a server has filtered and sorted as it was asked to. */
function isAsAsked(moments: number[], since: number): boolean {
	return moments.every((at, index) => at >= (moments[index - 1] ?? since));
}

/** Reads everything there is, from a server that ignores what it is asked for. */
async function readAll<One extends Change>(
	fetchChanges: FetchChanges<One>,
	since: number,
	pageSize: number,
): Promise<Reading<One>> {
	const reading = await readBack(fetchChanges, { since, pageSize });
	// In what order the rest comes is not known, so any of it may be as old as the oldest.
	return reading.failure === undefined ? reading : { ...reading, upTo: -Infinity };
}

/** What bounds a look at what changed last. */
interface Recently {
	/** Our own clock. */
	now: number;
	/** Whether there is time for more. */
	goOn: () => boolean;
	pageSize?: number;
}

/**
 * Reads what has changed last, as far back as changes may still come to light beside it, or as time allows;
 * all there is from a server that does not sort. Never throws.
 */
export async function readRecent<One extends Change>(
	fetchChanges: FetchChanges<One>,
	{ now, goOn, pageSize }: Recently,
): Promise<Reading<One> & { from: number }> {
	const floor = ({ upTo }: Reading<One>) => floorOf(Math.min(upTo, now));
	let oldest = Infinity;
	let isSorted = true;
	const isEnough = (reading: Reading<One>, brought: One[]) => {
		const moments = [oldest, ...momentsOf(brought)];
		isSorted &&= isAsAsked(moments.reverse(), 0);
		oldest = min(moments) ?? oldest;
		return isSorted && (oldest < floor(reading) || !goOn());
	};
	const reading = await readBack(fetchChanges, { isEnough, pageSize });
	// Where time was up, there may be more of the last moment.
	const from = reading.isEnd ? 0 : (minBy(reading.changes, 'at')?.at ?? 0) + 1;
	return { ...reading, from: Math.max(from, floor(reading)) };
}

/**
 * Reads changes newest first, so that what changes meanwhile pushes nothing over the edge of a page. Never
 * throws: what was read before a failure counts.
 */
async function readBack<One extends Change>(
	fetchChanges: FetchChanges<One>,
	{ since, isEnough = () => false, pageSize: limit = PAGE_SIZE }: Manner<One> & { since?: number },
): Promise<Reading<One>> {
	const seen = new Seen<One>();
	const dated = new Seen<One>();
	const reading: Reading<One> = { changes: dated.all, upTo: since ?? 0, isEnd: false, pages: 0 };
	let newest = -Infinity;
	try {
		while (!reading.isEnd) {
			const offset = reading.pages * limit;
			const page = await fetchChanges({ since, order: 'DESC', limit, offset });
			reading.pages += 1;
			const brought = seen.add(page);
			dated.add(page.filter(({ at }) => !Number.isNaN(at)));
			newest = max([newest, ...momentsOf(brought)]) ?? newest;
			if (dated.all.length > 0) reading.upTo = newest + 1;
			reading.isEnd = page.length !== limit || brought.length === 0;
			if (isEnough(reading, brought)) break;
		}
		return reading;
	} catch (failure) {
		return { ...reading, failure };
	}
}
