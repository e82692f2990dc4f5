import { randomUUID } from 'crypto';

import pull from 'lodash/pull';
import range from 'lodash/range';

import type { Failure } from '../../transport/failure';
import { keyOf } from './fingerprints';
import type { Fingerprints } from './fingerprints';
import { takeUp } from './note';
import type { MemoryNote, NoteFacts } from './note';
import type { NoteName, NotesOnServer, ReadNote } from './notesOnServer';
import { SIZES } from './sizes';

/** So many runs may leave a journal each that the memory does not hold yet. */
const LANES = 8;

/** So many notes say what of a run was carried out, in turn: more than there are batches on their way at once. */
const DONE_NOTES = 24;

/** So many requests of a run that were not carried out are told apart from those that were. */
const MOST_OPEN = 100;

/** Bytes that a page and what stands behind the documents may take in a batch: in each, and for each document. */
export const ROOM_IN_BATCH = { once: 8 * 1024, each: 30 };

/** After so many pages in a row that are not there or cannot be read, none is looked for. */
const MOST_LOST = 24;

/** A page of the journal of a lane; both count from 0. */
const pageOf = (lane: number, page: number): NoteName => ({
	name: page === 0 ? `journal ${lane}` : `journal ${lane}.${page}`,
	title: `n8n: what … is storing, ${lane + 1}.${page + 1}`,
});

const doneOf = (lane: number, at: number): NoteName => ({
	name: `journal ${lane} done ${at}`,
	title: `n8n: what … has sent, ${lane + 1}.${at + 1}`,
});

/** The first page of each lane. */
export const FIRST_PAGES: NoteName[] = range(LANES).map((lane) => pageOf(lane, 0));

/** The journal that an earlier run has left in a lane: its pages, and what says which of them were carried out. */
interface Lane {
	pages: ReadNote[];
	done: ReadNote[];
}

export type Lanes = Lane[];

/**
 * What of the journals the memory holds as well: pages as they were read, and all of runs that have written it; of
 * these, those of which a request may still be carried out.
 */
export type Included = Pick<MemoryNote, 'includes' | 'closed' | 'unsettled'>;

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

/**
 * Reads what follows the first pages. There is nothing behind one that is missing, or that is in the memory; else
 * pages of the same run, of which some may not have arrived.
 */
export async function readLanes(
	notes: NotesOnServer,
	firstPages: ReadNote[],
	{ included, witness }: { included: Included; witness?: string },
): Promise<{ lanes: Lanes } | { failure: Failure }> {
	const lanes: Lanes = [];
	for (const [lane, first] of firstPages.entries()) {
		const pages: ReadNote[] = [first];
		let done: ReadNote[] = [];
		const isOurs = (page: ReadNote) => {
			const own = pages.find((one) => typeof one === 'object');
			return typeof page === 'object' && own !== undefined && runOf(page) === runOf(own);
		};
		const hasMore = () => pages.length < MOST_LOST || pages.slice(-MOST_LOST).some(isOurs);
		const isLeft = first !== undefined && (typeof first !== 'object' || !closing(first, included));
		while (isLeft && hasMore()) {
			const names = range(SIZES.pages).map((at) => pageOf(lane, pages.length + at));
			const alsoDone = pages.length === 1 ? range(DONE_NOTES).map((at) => doneOf(lane, at)) : [];
			const read = await notes.read([...names, ...alsoDone], witness);
			if ('failure' in read) return read;
			pages.push(...read.notes.slice(0, names.length));
			done = [...done, ...read.notes.slice(names.length)];
		}
		// What lies behind them, of runs before, is in the memory.
		const ours = pages.map((page) =>
			typeof page === 'object' && !isOurs(page) ? undefined : page,
		);
		lanes.push({ pages: ours, done });
	}
	return { lanes };
}

/** What earlier runs have noted and the memory does not hold. */
export class LeftBehind {
	/** What of the journals is in the memory as soon as it is written. */
	readonly included: Required<Included> = { includes: [], closed: [], unsettled: [] };

	/** Lanes in which a run may write. */
	readonly free: number[];

	/** Pages that cannot be read. */
	readonly damaged: NoteName[] = [];

	/** Whether the pages of a run that has crashed need not be read any more once the memory is written. */
	isOver = false;

	private readonly live: Array<{ pages: MemoryNote[]; done: ReadNote[] }> = [];

	constructor(lanes: Lanes, included: Included) {
		const free: number[] = [];
		const atRest: number[] = [];
		for (const [lane, { pages, done }] of lanes.entries()) {
			const live = this.liveOf(lane, pages, included);
			if (live.length === 0) this.closeOver(pages, included);
			if (live.length > 0) this.live.push({ pages: live, done });
			else if (pages.some((page) => typeof page === 'string')) continue;
			else if (pages.some((page) => page && isUnsettled(page, included))) atRest.push(lane);
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
		pull(includes, ...taken.map(({ mark }) => mark));
		closed.push([runOf(first), Math.max(...taken.map(writingOf))]);
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

/** A page that a run writes. */
interface Page {
	at: number;
	/** The keys of its documents. */
	keys: Set<string>;
	/** Whether the server certainly has it. */
	isThere: boolean;
}

/** How the request of a batch ended: it was carried out, certainly nothing of it was, or that is not known. */
export type BatchEnd = 'done' | 'nothing' | 'unclear';

/** What goes around the documents of a batch, in the same request. */
export interface Journaled {
	/** The rows before and behind the documents, as JSON. */
	rows: string[];
	/** The ids of these rows. */
	ids: string[];
	/**
	 * To be told how the request ended.
	 *
	 * @param late whether a try of it that nobody waits for any more may still be carried out
	 */
	ended: (end: BatchEnd, late: boolean) => void;
}

/** What a page says of the run. */
type RunFacts = Pick<NoteFacts, 'after' | 'overlapped'>;

/** What a run notes while it is at work, in pages of a lane: whatever a crash leaves behind is known. */
export class Journal {
	/** Told from other runs by this. */
	readonly run = randomUUID();

	private lane = 0;

	/** How many pages there are. */
	private count = 0;

	/** Pages with room for more documents. */
	private roomy: Page[] = [];

	/** Pages that are to be written by themselves: too many that are missing would hide those behind them. */
	private missing: Page[] = [];

	/** While the first page is on its way, which leads to all others. */
	private opening?: Promise<void>;

	private writings = 0;

	/** Writings of pages whose batches are not known to be carried out. */
	private readonly open = new Set<number>();

	/** What documents were sent with in requests that may still be carried out, by key; '' where that were several. */
	private readonly late = new Map<string, string>();

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
		if (free.length === 0) this.missing.push(this.newPage(this.known.changed));
	}

	/** What of it the memory holds as soon as it is written. */
	get included(): Pick<Required<Included>, 'closed' | 'unsettled'> {
		const { run, writings } = this;
		return { closed: [[run, writings]], unsettled: this.late.size > 0 ? [run] : [] };
	}

	/** Whether a request may still be carried out that brings a document. */
	mayCome(id: string): boolean {
		return this.late.has(keyOf(id));
	}

	/** Whether a document keeps what it is sent with: no request that may still be carried out brings it otherwise. */
	isCertain(id: string, content: string): boolean {
		return (this.late.get(keyOf(id)) ?? content) === content;
	}

	/** Notes documents by themselves, with nothing of their contents. */
	async write(ids: string[], facts: RunFacts): Promise<Failure | undefined> {
		const failure = await this.writeMissing(facts);
		if (failure) return failure;
		const page = this.pageFor(ids.map(keyOf));
		for (const id of ids) this.known.expect(id);
		this.missing.push(page);
		const notWritten = await this.writeMissing(facts);
		if (!notWritten) this.keep(page);
		return notWritten;
	}

	/**
	 * Notes documents in a page that goes before them in their request, with what they are sent with. Behind them goes
	 * that the request was carried out. Each says what stays true, however late it arrives.
	 *
	 * @param contents by the ids of the documents
	 */
	async around(
		contents: Map<string, string>,
		facts: RunFacts,
	): Promise<Journaled | { failure: Failure }> {
		const failure = await this.writeMissing(facts);
		if (failure) return { failure };
		const { known, notes, lane } = this;
		const keys = [...contents.keys()].map(keyOf);
		const page = this.pageFor(keys);
		for (const [id, content] of contents)
			known.expect(id, this.isCertain(id, content) ? content : undefined);
		const { writing, done } = this.nextWriting();
		const mark = this.markOf(writing);
		const rows = [
			{ note: pageOf(lane, page.at), facts: { mark, ...facts }, keys: page.keys },
			{ note: doneOf(lane, writing % DONE_NOTES), facts: { mark, done } },
		].map((row) => notes.row(row, known));
		let opened: (() => void) | undefined;
		if (!page.isThere && page.at === 0)
			this.opening = new Promise<void>((resolve) => (opened = resolve));
		return {
			rows: rows.map((row) => JSON.stringify(row)),
			ids: rows.map(({ id }) => id),
			ended: (end, late) => {
				if (late) this.addLate(contents);
				if (end === 'done') this.open.delete(writing);
				this.end(page, keys, end, late);
				opened?.();
			},
		};
	}

	/** Begins anew, as the memory holds what was noted so far. */
	startOver(): void {
		this.count = 0;
		this.roomy = [];
		this.missing = [];
	}

	private end(page: Page, keys: string[], end: BatchEnd, late: boolean): void {
		page.isThere ||= end === 'done';
		if (end === 'nothing') for (const key of keys) page.keys.delete(key);
		// What was sent in vain may be sent again, and has its content then.
		if (end !== 'done') this.known.forgetContents(keys);
		const isUnused = end === 'nothing' && !late && !page.isThere && page.at === this.count - 1;
		if (isUnused) this.count -= 1;
		else if (!page.isThere) this.missing.push(page);
		// A row that comes late may take back what is added to a page.
		else if (end !== 'unclear' && !late) this.keep(page);
	}

	private addLate(contents: Map<string, string>): void {
		for (const [id, content] of contents)
			this.late.set(keyOf(id), this.isCertain(id, content) ? content : '');
	}

	private nextWriting(): { writing: number; done: NonNullable<NoteFacts['done']> } {
		const writing = ++this.writings;
		const but = [...this.open].slice(-MOST_OPEN);
		const from = this.open.size > MOST_OPEN ? (but[0] ?? 0) : 0;
		this.open.add(writing);
		return { writing, done: { from, to: writing, but } };
	}

	private async writeMissing(facts: RunFacts): Promise<Failure | undefined> {
		await this.opening;
		for (let page = this.missing[0]; page; page = this.missing[0]) {
			const { at, keys } = page;
			const mark = this.markOf(++this.writings);
			const row = { note: pageOf(this.lane, at), facts: { mark, ...facts }, keys };
			const written = await this.notes.write(row, this.known);
			if ('failure' in written) return written.failure;
			page.isThere = true;
			this.missing.shift();
		}
		return undefined;
	}

	/** A page for some documents. What this run has noted before comes into a new one: the last page counts. */
	private pageFor(keys: string[]): Page {
		const isNoted = keys.some((key) => this.known.changed.has(key));
		const page = (isNoted ? undefined : this.roomy.pop()) ?? this.newPage();
		for (const key of keys) page.keys.add(key);
		return page;
	}

	private newPage(keys: Iterable<string> = []): Page {
		return { at: this.count++, keys: new Set(keys), isThere: false };
	}

	private keep(page: Page): void {
		if (this.known.bytes(page.keys) < SIZES.page) this.roomy.push(page);
	}

	private markOf(writing: number): string {
		return `${this.run}:${writing}`;
	}
}
