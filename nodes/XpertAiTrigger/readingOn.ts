import type { Change, Memory, Progress } from './memory';
import { readChanges } from './reading';
import type { FetchChanges, Reading } from './reading';

/** Pages of a poll that may look again at what was read before, once there is nothing new any more. */
const LOOKING_PAGES = 10;

/** By when what is new has been read, and by when the rest, in parts of the time of a poll: threads need some too. */
const READING_SHARE = 0.4;
const LOOKING_SHARE = 0.8;

/** What a poll has read, and how far it has come with it. */
export interface Found<One extends Change> extends Progress {
	changes: One[];
	/** What broke the reading off, if anything did. */
	failure?: unknown;
}

/** What bounds a poll. */
interface Bounds<One extends Change> {
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
	bounds: Bounds<One>,
): Promise<Found<One>> {
	const readers = new Readers(fetchChanges, memory, bounds);
	if (!memory.ahead) await readers.lookAgain(1);
	await readers.readNew();
	await readers.lookAgain();
	return readers.found();
}

/** The two that read: one what is new, one what may have come to light late. */
class Readers<One extends Change> {
	private readonly changes: One[] = [];

	/** Where each of them has come. */
	private upTo: number;

	private look: number;

	private readonly lookedFrom: number;

	private pages = { ofNew: 0, looked: 0 };

	private isEnd = false;

	private failure: unknown;

	constructor(
		private readonly fetchChanges: FetchChanges<One>,
		private readonly memory: Memory,
		private readonly bounds: Bounds<One>,
	) {
		const { since, floor, final, again } = memory;
		this.upTo = since;
		this.look = this.lookedFrom = floor < final ? floor : again;
	}

	/** Looks again, until it meets what is new: then it has read on from there. */
	async lookAgain(most = this.mostLooks()): Promise<void> {
		const { since } = this.memory;
		const left = most - this.pages.looked;
		const hasTime = () => this.bounds.hasTime(LOOKING_SHARE);
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
		const hasTime = () => this.bounds.hasTime(READING_SHARE);
		const { looked } = this.pages;
		const isMet = looked > 0 && this.look >= this.memory.since;
		if (this.failure !== undefined || this.isEnd || (looked > 0 && !hasTime())) return;
		const isEnough = this.bounds.counting();
		if (isEnough(this.changes) && isMet) return;
		const { upTo, pages } = await this.read(
			this.upTo,
			(_, brought) => isEnough(brought) || !hasTime(),
		);
		this.pages.ofNew += pages;
		this.upTo = Math.max(this.upTo, upTo);
	}

	found(): Found<One> {
		const { changes, upTo, look, lookedFrom, failure } = this;
		const isMet = this.isEnd || upTo > this.memory.since;
		const ahead = this.pages.ofNew === 0 && !isMet;
		return { changes, upTo, look: { from: lookedFrom, upTo: look }, ahead, failure };
	}

	private mostLooks(): number {
		const { ofNew } = this.pages;
		const isLeft = !this.isEnd || this.bounds.counting()(this.changes);
		return isLeft ? ofNew : Math.max(LOOKING_PAGES, ofNew);
	}

	private async read(
		from: number,
		isEnough: (reading: Reading<One>, brought: One[]) => boolean,
	): Promise<Reading<One>> {
		const { pageSize } = this.bounds;
		const reading = await readChanges(this.fetchChanges, from, { pageSize, isEnough });
		for (const change of reading.changes) this.changes.push(change);
		this.failure = reading.failure;
		this.isEnd = reading.isEnd;
		return reading;
	}
}
