import max from 'lodash/max';
import min from 'lodash/min';
import minBy from 'lodash/minBy';
import uniqBy from 'lodash/uniqBy';

import { PAGE_SIZE } from '../XpertAi/execution/paging';
import { floorOf, nameOf } from './memory';
import type { Change, Memory, Progress } from './memory';

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

/** How far the server's changes were read. */
interface ReadSoFar {
	/** No change before this moment is missing, from where the reading began. */
	upTo: number;
	/** Whether there was no more to read. */
	isEnd: boolean;
	pages: number;
}

/** What was read of the server's changes. */
export interface Reading<One extends Change> extends ReadSoFar {
	changes: One[];
	/** What broke the reading off, if anything did. */
	failure?: unknown;
}

/** How far changes are read. */
interface ReadOptions<One extends Change> {
	/** Asked once after each page, with what it has brought: whether the rest may wait. */
	isEnough?: (reading: ReadSoFar, brought: One[]) => boolean;
	pageSize?: number;
}

/** Changes by their names, in the order in which they were first seen. */
type Seen<One extends Change> = Map<string, One>;

/** Adds a page of changes; those that were seen before are replaced, the others given back. */
function addPage<One extends Change>(seen: Seen<One>, page: One[]): One[] {
	const brought = uniqBy(page, nameOf).filter((change) => !seen.has(nameOf(change)));
	for (const change of page) seen.set(nameOf(change), change);
	return brought;
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
	{ isEnough = () => false, pageSize = PAGE_SIZE }: ReadOptions<One> = {},
): Promise<Reading<One>> {
	const seen: Seen<One> = new Map();
	const reading = { upTo: from, isEnd: false, pages: 0 };
	let failure: unknown;
	try {
		for (let ofMoment = 0; ; ) {
			const since = reading.upTo;
			const limit = Math.max(pageSize, 2 * ofMoment) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			reading.pages += 1;
			const moments = momentsOf(page);
			if (!isAsAsked(moments, since)) return await readAll(fetchChanges, from, pageSize);
			const brought = addPage(seen, page);
			const last = moments.at(-1);
			// A short page is the last one; a longer page than asked for holds everything.
			reading.isEnd = page.length !== limit || last === undefined;
			if (last !== undefined) reading.upTo = reading.isEnd ? last + 1 : last;
			if (reading.isEnd || (isEnough(reading, brought) && reading.upTo > since)) break;
			ofMoment = moments.filter((at) => at === last).length;
		}
	} catch (caught) {
		failure = caught;
	}
	return { ...reading, changes: [...seen.values()], failure };
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
interface RecentOptions {
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
	{ now, goOn, pageSize }: RecentOptions,
): Promise<Reading<One> & { from: number }> {
	const floor = ({ upTo }: ReadSoFar) => floorOf(Math.min(upTo, now));
	let oldest = Infinity;
	let isSorted = true;
	const isEnough = (reading: ReadSoFar, brought: One[]) => {
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
	{
		since,
		isEnough = () => false,
		pageSize: limit = PAGE_SIZE,
	}: ReadOptions<One> & { since?: number },
): Promise<Reading<One>> {
	const seen: Seen<One> = new Map();
	const reading = { upTo: since ?? 0, isEnd: false, pages: 0 };
	let newest = -Infinity;
	let failure: unknown;
	try {
		while (!reading.isEnd) {
			const offset = reading.pages * limit;
			const page = await fetchChanges({ since, order: 'DESC', limit, offset });
			reading.pages += 1;
			const brought = addPage(seen, page);
			newest = max([newest, ...momentsOf(brought)]) ?? newest;
			if (newest > -Infinity) reading.upTo = newest + 1;
			reading.isEnd = page.length !== limit || brought.length === 0;
			if (isEnough(reading, brought)) break;
		}
	} catch (caught) {
		failure = caught;
	}
	const changes = [...seen.values()].filter(({ at }) => !Number.isNaN(at));
	return { ...reading, changes, failure };
}

/** Pages of a poll that may look again at what was read before, once there is nothing new any more. */
const LOOKING_PAGES = 10;

/** By when what is new has been read, and by when the rest, in parts of the time of a poll: threads need some too. */
const READING_SHARE = 0.4;
const LOOKING_SHARE = 0.8;

/** What a poll has read, and how far it has come with it. */
export interface PollChanges<One extends Change> extends Progress {
	changes: One[];
	/** What broke the reading off, if anything did. */
	failure?: unknown;
}

/** What bounds a poll. */
interface PollLimits<One extends Change> {
	/** Makes what is told changes, and says whether there are as many new ones among all of them as are to be given. */
	counting: () => (changes: One[]) => boolean;
	/** Whether less than this share of the time of a poll, from 0 to 1, has passed. */
	hasTime: (share: number) => boolean;
	pageSize?: number;
}

/**
 * Reads on from where the last poll has come, and looks again at what may have come to light late: as many
 * pages of the one as of the other, more where nothing new is left. Mostly all of it is one page. Never throws.
 */
export async function readOn<One extends Change>(
	fetchChanges: FetchChanges<One>,
	memory: Memory,
	limits: PollLimits<One>,
): Promise<PollChanges<One>> {
	const reader = new PollReader(fetchChanges, memory, limits);
	if (!memory.ahead) await reader.lookAgain(1);
	await reader.readNew();
	await reader.lookAgain();
	return reader.found();
}

/** Reads what is new, and what may have come to light late. */
class PollReader<One extends Change> {
	private readonly changes: One[] = [];

	/** How far both have come. */
	private upTo: number;

	private look: number;

	private readonly lookedFrom: number;

	private pages = { ofNew: 0, looked: 0 };

	private isEnd = false;

	private failure: unknown;

	constructor(
		private readonly fetchChanges: FetchChanges<One>,
		private readonly memory: Memory,
		private readonly limits: PollLimits<One>,
	) {
		const { since, floor, final, again } = memory;
		this.upTo = since;
		this.look = this.lookedFrom = floor < final ? floor : again;
	}

	/** Looks again, until it meets what is new: then it has read on from there. */
	async lookAgain(most = this.mostLooks()): Promise<void> {
		const { since } = this.memory;
		const left = most - this.pages.looked;
		const hasTime = () => this.limits.hasTime(LOOKING_SHARE);
		if (this.failure !== undefined || left <= 0 || this.look >= since) return;
		if (this.pages.ofNew > 0 && !hasTime()) return;
		const { upTo, pages } = await this.read(
			this.look,
			(reading) => reading.upTo >= since || reading.pages >= left || !hasTime(),
		);
		this.pages.looked += pages;
		// Behind the last page there is nothing, wherever it ends.
		this.look = Math.max(this.look, upTo, this.isEnd ? since : 0);
		this.upTo = Math.max(this.upTo, this.look);
	}

	/** Reads what is new, unless looking again has taken the time, or has met enough of it. */
	async readNew(): Promise<void> {
		const hasTime = () => this.limits.hasTime(READING_SHARE);
		const { looked } = this.pages;
		const isMet = looked > 0 && this.look >= this.memory.since;
		if (this.failure !== undefined || this.isEnd || (looked > 0 && !hasTime())) return;
		const isEnough = this.limits.counting();
		if (isEnough(this.changes) && isMet) return;
		const { upTo, pages } = await this.read(
			this.upTo,
			(_, brought) => isEnough(brought) || !hasTime(),
		);
		this.pages.ofNew += pages;
		this.upTo = Math.max(this.upTo, upTo);
	}

	found(): PollChanges<One> {
		const { changes, upTo, look, lookedFrom, failure } = this;
		const isMet = this.isEnd || upTo > this.memory.since;
		const ahead = this.pages.ofNew === 0 && !isMet;
		return { changes, upTo, look: { from: lookedFrom, upTo: look }, ahead, failure };
	}

	private mostLooks(): number {
		const { ofNew } = this.pages;
		const isLeft = !this.isEnd || this.limits.counting()(this.changes);
		return isLeft ? ofNew : Math.max(LOOKING_PAGES, ofNew);
	}

	private async read(
		from: number,
		isEnough: (reading: ReadSoFar, brought: One[]) => boolean,
	): Promise<Reading<One>> {
		const { pageSize } = this.limits;
		const reading = await readChanges(this.fetchChanges, from, { pageSize, isEnough });
		for (const change of reading.changes) this.changes.push(change);
		this.failure = reading.failure;
		this.isEnd = reading.isEnd;
		return reading;
	}
}
