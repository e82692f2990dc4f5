import chunk from 'lodash/chunk';
import difference from 'lodash/difference';
import map from 'lodash/map';
import max from 'lodash/max';
import pullAll from 'lodash/pullAll';
import range from 'lodash/range';
import uniq from 'lodash/uniq';

import { IDS_PER_ADDRESS } from '../../transport/api';
import type { Failure } from '../../transport/failure';
import type { Fingerprints } from './fingerprints';
import { DONE_NOTES, LANES, doneOf, pageOf } from './journal';
import { takeUp } from './note';
import type { MemoryNote } from './note';
import type { NoteName, NotesOnServer, ReadNote } from './notesOnServer';
import { SIZES } from './sizes';

/** After so many pages in a row that are not there or cannot be read, none is looked for. */
const MOST_LOST = 24;

/** The first page of each lane. */
export const FIRST_PAGES: NoteName[] = range(LANES).map((lane) => pageOf(lane, 0));

/** The journal that an earlier run has left in a lane: its pages, and what says which of them were carried out. */
interface Lane {
	pages: ReadNote[];
	done: ReadNote[];
	/** The numbers of pages that are not there, though their run had them on the server. */
	lost: number[];
}

export type Lanes = Lane[];

/**
 * What of the journals the memory holds as well: pages as they were read, and all of runs that have written it; of
 * these, those of which a request may still be carried out.
 */
export type Included = Pick<MemoryNote, 'includes' | 'closed' | 'unsettled'>;

interface Reading {
	included: Included;
	witness?: string;
	/** Whether a first page that is missing may have been there. */
	mayBeLost: boolean;
}

const runOf = ({ mark }: MemoryNote) => mark.split(':')[0] ?? '';

/** Which writing of its run a page is; earlier versions did not count them. */
const writingOf = ({ mark }: MemoryNote) => Number(mark.split(':')[1] ?? 0);

/** The run in whose memory all of a journal is that has this page; a later writing of it is not. */
const closing = (page: MemoryNote, { closed = [] }: Included) =>
	closed.find(([run, last]) => run === runOf(page) && writingOf(page) <= last);

/** Whether the batch was carried out that went with a page. */
const isDone = (page: MemoryNote, notes: ReadNote[]) =>
	notes.some((note) => {
		if (typeof note !== 'object' || runOf(note) !== runOf(page) || !note.done) return false;
		const { from, to, but } = note.done;
		const writing = writingOf(page);
		return writing >= from && writing <= to && !but.includes(writing);
	});

/** Of lanes without a first page, those in which a run has noted something. */
async function hidingLanes(
	notes: NotesOnServer,
	lanes: number[],
	witness?: string,
): Promise<{ lanes: Set<number> } | { failure: Failure }> {
	const hiding = new Set<number>();
	const all = lanes.flatMap((lane) =>
		range(DONE_NOTES).map((at) => ({ lane, note: doneOf(lane, at) })),
	);
	for (const part of chunk(all, IDS_PER_ADDRESS)) {
		const read = await notes.read(map(part, 'note'), witness);
		if ('failure' in read) return read;
		for (const [at, note] of read.notes.entries())
			if (typeof note === 'object') hiding.add(part[at]?.lane ?? 0);
	}
	return { lanes: hiding };
}

/** Pages that a run has had on the server and that nobody finds there any more. */
function lostPages(pages: ReadNote[], done: ReadNote[], included: Included): number[] {
	const claims = done.flatMap((note) =>
		typeof note === 'object' && note.pages && !closing(note, included) ? [note.pages] : [],
	);
	const claimed = claims.flatMap(({ to, but }) => difference(range(to), but));
	return uniq(claimed).filter((at) => pages[at] === undefined);
}

/**
 * Reads what follows the first pages. There is nothing behind one that is in the memory, or that is missing; else
 * pages of the same run, of which some may not have arrived. Where something tells of a first page that is missing, it
 * is asked for once more: a run beside this one may have written it meanwhile.
 */
export async function readLanes(
	notes: NotesOnServer,
	firstPages: ReadNote[],
	{ included, witness, mayBeLost }: Reading,
): Promise<{ lanes: Lanes } | { failure: Failure }> {
	const lanes: Lanes = [];
	const missing = mayBeLost ? [...firstPages.keys()].filter((lane) => !firstPages[lane]) : [];
	const hiding = await hidingLanes(notes, missing, witness);
	if ('failure' in hiding) return hiding;
	for (const [lane, first] of firstPages.entries()) {
		const isHiding = first === undefined && hiding.lanes.has(lane);
		const pages: ReadNote[] = isHiding ? [] : [first];
		let done: ReadNote[] = [];
		const isOurs = (page: ReadNote) => {
			const own = pages.find((one) => typeof one === 'object');
			return typeof page === 'object' && own !== undefined && runOf(page) === runOf(own);
		};
		const hasMore = () => pages.length < MOST_LOST || pages.slice(-MOST_LOST).some(isOurs);
		const isClosed = typeof first === 'object' && closing(first, included) !== undefined;
		const isLeft = isHiding || (first !== undefined && !isClosed);
		while (isLeft && hasMore()) {
			const names = range(SIZES.pages).map((at) => pageOf(lane, pages.length + at));
			const alsoDone = pages.length <= 1 ? range(DONE_NOTES).map((at) => doneOf(lane, at)) : [];
			const read = await notes.read([...names, ...alsoDone], witness);
			if ('failure' in read) return read;
			for (const page of read.notes.slice(0, names.length)) pages.push(page);
			done = [...done, ...read.notes.slice(names.length)];
		}
		// What lies behind them, of runs before, is in the memory.
		const ours = pages.map((page) =>
			typeof page === 'object' && !isOurs(page) ? undefined : page,
		);
		lanes.push({ pages: ours, done, lost: lostPages(pages, done, included) });
	}
	return { lanes };
}

/** What earlier runs have noted and the memory does not hold. */
export class LeftBehind {
	/** What of the journals is in the memory as soon as it is written. */
	readonly included: Required<Included> = { includes: [], closed: [], unsettled: [] };

	/** Lanes in which a run may write. */
	readonly free: number[];

	/** Pages that cannot be read, or are lost. */
	readonly damaged: NoteName[] = [];

	/** Whether the pages of a run that has crashed need not be read any more once the memory is written. */
	isOver = false;

	private readonly live: Array<{ pages: MemoryNote[]; done: ReadNote[] }> = [];

	constructor(lanes: Lanes, included: Included) {
		const free: number[] = [];
		const atRest: number[] = [];
		for (const [lane, { pages, done, lost }] of lanes.entries()) {
			for (const at of lost) this.damaged.push(pageOf(lane, at));
			const live = this.liveOf(lane, pages, included);
			if (live.length === 0) this.closeOver(pages, included);
			if (live.length > 0) this.live.push({ pages: live, done });
			else if (lost.length > 0 || pages.some((page) => page && isUnsettled(page, included)))
				atRest.push(lane);
			else free.push(lane);
		}
		// A request that is carried out late must not write over the page of a later run.
		this.free = free.length > 0 ? free : atRest;
	}

	/** The pages of a lane that the memory does not hold. */
	private liveOf(lane: number, pages: ReadNote[], included: Included): MemoryNote[] {
		return pages.flatMap((page, at) => {
			if (typeof page === 'string') this.damaged.push(pageOf(lane, at));
			if (typeof page !== 'object') return [];
			const closed = closing(page, included);
			const { includes, closed: runs, unsettled } = this.included;
			if (!closed) includes.push(page.mark);
			else if (!runs.some(([run]) => run === closed[0])) runs.push(closed);
			if (closed && included.unsettled?.includes(closed[0])) unsettled.push(closed[0]);
			return closed || included.includes?.includes(page.mark) ? [] : [page];
		});
	}

	/** What of a crashed run the memory has held since the run before will hardly grow: its pages may be many. */
	private closeOver(pages: ReadNote[], included: Included): void {
		const taken = pages.flatMap((page) =>
			typeof page === 'object' && !closing(page, included) ? [page] : [],
		);
		const [first] = taken;
		if (!first) return;
		const { closed, unsettled, includes } = this.included;
		pullAll(
			includes,
			taken.map(({ mark }) => mark),
		);
		closed.push([runOf(first), max(taken.map(writingOf)) ?? 0]);
		unsettled.push(runOf(first));
		this.isOver = true;
	}

	/** Whether there is anything. */
	get isEmpty(): boolean {
		return this.live.length === 0;
	}

	/** Whether no content that is remembered is certain. */
	get isUncertain(): boolean {
		const pages = this.live.flatMap((lane) => lane.pages);
		return this.damaged.length > 0 || pages.some(({ overlapped }) => overlapped);
	}

	/**
	 * Takes it up. The contents count where one run alone has left it, which began with this memory.
	 *
	 * @param memory as it was read, if it is there
	 */
	takeUp(known: Fingerprints, memory: ReadNote): void {
		const pages = this.live.flatMap((lane) => lane.pages);
		const after = typeof memory === 'object' ? memory.mark : undefined;
		const isAlone = typeof memory !== 'string' && this.live.length === 1;
		const certain = isAlone && pages.every((page) => page.after === after);
		for (const lane of this.live)
			for (const page of lane.pages)
				takeUp(page, known, { certain, done: isDone(page, lane.done) });
	}
}

/** Whether a request of the run that has left a page may still be carried out: the run has crashed, or has noted so. */
function isUnsettled(page: ReadNote, included: Included): boolean {
	if (typeof page !== 'object') return false;
	const closed = closing(page, included);
	return !closed || included.unsettled?.includes(closed[0]) === true;
}
