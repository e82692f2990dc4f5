import { randomUUID } from 'crypto';

import range from 'lodash/range';

import type { Failure } from '../../transport/failure';
import { keyOf } from './fingerprints';
import type { Fingerprints } from './fingerprints';
import { takeUp } from './note';
import type { MemoryNote } from './note';
import type { NoteName, NotesOnServer, ReadNote } from './notesOnServer';
import { SIZES } from './sizes';

/** So many runs may leave a journal each that the memory does not hold yet. */
const LANES = 8;

/** A page of the journal of a lane; both count from 0. */
const pageOf = (lane: number, page: number): NoteName => ({
	name: page === 0 ? `journal ${lane}` : `journal ${lane}.${page}`,
	title: `n8n: what … is storing, ${lane + 1}.${page + 1}`,
});

/** The first page of each lane. */
export const FIRST_PAGES: NoteName[] = range(LANES).map((lane) => pageOf(lane, 0));

/** The journals that earlier runs have left, a list of pages for each lane. */
export type Lanes = ReadNote[][];

/** What of the journals the memory holds as well: pages as they were read, and all of runs that have written it. */
export type Included = Pick<MemoryNote, 'includes' | 'closed'>;

const isFull = (page: MemoryNote) => page.body.length >= SIZES.page;

const isNote = (page: ReadNote) => typeof page === 'object';

/** After so many pages in a row that cannot be read, none is looked for. */
const MOST_LOST = 4;

const runOf = ({ mark }: MemoryNote) => mark.split(':')[0] ?? '';

/** The run in whose memory all of a journal is that has this page; a later writing of it is not. */
const closing = (page: MemoryNote, { closed = [] }: Included) =>
	closed.find(([run, last]) => run === runOf(page) && Number(page.mark.split(':')[1]) <= last);

/**
 * Reads the pages that follow the first ones. There is a further one only behind one that is full, or that cannot
 * be read; and a page is of the same run as those before it, or was left by an earlier one.
 */
export async function readLanes(
	notes: NotesOnServer,
	firstPages: ReadNote[],
	{ included, witness }: { included: Included; witness?: string },
): Promise<{ lanes: Lanes } | { failure: Failure }> {
	const lanes: Lanes = [];
	for (const [lane, first] of firstPages.entries()) {
		const pages: ReadNote[] = [first];
		let run: string | undefined;
		const goesOn = () => {
			const last = pages.at(-1);
			if (typeof last === 'string')
				return pages.length < MOST_LOST || pages.slice(-MOST_LOST).some(isNote);
			if (last === undefined) return false;
			run ??= runOf(last);
			return runOf(last) === run && isFull(last) && !closing(last, included);
		};
		while (goesOn()) {
			const names = range(SIZES.pages).map((at) => pageOf(lane, pages.length + at));
			const read = await notes.read(names, witness);
			if ('failure' in read) return read;
			for (const page of read.notes) if (goesOn()) pages.push(page);
		}
		lanes.push(
			pages.filter((page) => typeof page !== 'object' || run === undefined || runOf(page) === run),
		);
	}
	return { lanes };
}

/** What earlier runs have noted and the memory does not hold. */
export class LeftBehind {
	/** What of the journals is in the memory as soon as it is written. */
	readonly included: Required<Included> = { includes: [], closed: [] };

	/** Lanes in which a run may write. */
	readonly free: number[] = [];

	/** Pages that cannot be read. */
	readonly damaged: NoteName[] = [];

	private readonly live: MemoryNote[][] = [];

	constructor(lanes: Lanes, included: Included) {
		for (const [lane, pages] of lanes.entries()) {
			const live: MemoryNote[] = [];
			for (const [at, page] of pages.entries()) {
				if (typeof page === 'string') this.damaged.push(pageOf(lane, at));
				if (typeof page !== 'object') continue;
				const closed = closing(page, included);
				if (closed) this.included.closed.push(closed);
				else this.included.includes.push(page.mark);
				if (!closed && !included.includes?.includes(page.mark)) live.push(page);
			}
			if (live.length > 0) this.live.push(live);
			else if (pages.every((page) => typeof page !== 'string')) this.free.push(lane);
		}
	}

	/** Whether there is anything. */
	get isEmpty(): boolean {
		return this.live.length === 0;
	}

	/** Whether no content that is remembered is certain. */
	get isUncertain(): boolean {
		return this.damaged.length > 0 || this.live.flat().some(({ overlapped }) => overlapped);
	}

	/**
	 * Takes it up. The contents count where one run alone has left it, which began with this memory.
	 *
	 * @param after the mark of the memory
	 */
	takeUp(known: Fingerprints, after?: string): void {
		const certain =
			this.live.length === 1 && this.live.flat().every((page) => page.after === after);
		for (const page of this.live.flat()) takeUp(page, known, certain);
	}
}

/** What a run notes while it is at work, in pages of a lane: whatever a crash leaves behind is known. */
export class Journal {
	/** Told from other runs by this. */
	readonly run = randomUUID();

	private lane = 0;

	private page = 0;

	/** The keys of the documents of this page. */
	private keys = new Set<string>();

	/** Those of them that are not written yet. */
	private fresh = new Set<string>();

	private writings = 0;

	/** Whether the page is full as it was written. */
	private full = false;

	constructor(
		private readonly notes: NotesOnServer,
		private readonly known: Fingerprints,
	) {}

	/**
	 * Chooses the lane: runs that begin one after the other, or at once, have different ones.
	 *
	 * @param version tells this run from others that chose from the same lanes
	 */
	begin({ free }: LeftBehind, version: number): void {
		this.lane = free[version % free.length] ?? version % LANES;
		// Where no lane is free, what was left in this one is noted once more.
		if (free.length === 0) for (const key of this.known.changed) this.touch(key);
	}

	/** The state of a document is to be noted. */
	note(id: string): void {
		this.touch(keyOf(id));
	}

	/** Whether anything is to be noted. */
	get isDue(): boolean {
		return this.fresh.size > 0;
	}

	/** What of it the memory holds as soon as it is written. */
	get closed(): [string, number] {
		return [this.run, this.writings];
	}

	/** Writes the page, with the states that its documents have by now. */
	async write(facts: { after?: string; overlapped?: boolean }): Promise<Failure | undefined> {
		if (this.full) this.turnTo(this.page + 1, this.fresh);
		const { fresh, keys } = this;
		this.fresh = new Set();
		const mark = `${this.run}:${++this.writings}`;
		const note = pageOf(this.lane, this.page);
		const full = this.known.bytes(keys) >= SIZES.page;
		const written = await this.notes.write({ note, facts: { mark, ...facts }, keys }, this.known);
		if ('failure' in written) {
			for (const key of fresh) this.fresh.add(key);
			return written.failure;
		}
		this.full = full;
		return undefined;
	}

	/** Begins anew, as the memory holds what was noted so far. */
	startOver(): void {
		this.turnTo(0, this.fresh);
	}

	private turnTo(page: number, keys: Set<string>): void {
		this.page = page;
		this.keys = new Set(keys);
		this.full = false;
	}

	private touch(key: string): void {
		this.keys.add(key);
		this.fresh.add(key);
	}
}
