import maxBy from 'lodash/maxBy';

import { PAGE_SIZE, collectPages } from '../XpertAi/execution/paging';
import { nameOf } from './memory';
import type { Change, Reading } from './memory';

/** A page of changes that is asked for. */
export interface ChangesQuery {
	/** Only changes from this moment on, in milliseconds since the epoch; all without it. */
	since?: number;
	/** Conversations that are left out. */
	without?: string[];
	order: 'ASC' | 'DESC';
	limit: number;
	offset?: number;
}

/** Fetches a page of changes; throws when it cannot. One whose moment is not readable has NaN for it. */
export type FetchChanges<One extends Change> = (query: ChangesQuery) => Promise<One[]>;

/** How changes are read. */
interface Manner<One extends Change> {
	/** Asked after each page: whether the rest may wait for the next poll. */
	isEnough?: (changes: One[]) => boolean;
	pageSize?: number;
}

/**
 * Reads the changes from a moment on, oldest first. The next page starts at the moment where the last one
 * ended and not behind so many changes: a conversation that changes meanwhile leaves its place, and the
 * one that moves up into it would be passed over. Never throws: what was read before a failure counts.
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	{ isEnough = () => false, pageSize: limit = PAGE_SIZE }: Manner<One> = {},
): Promise<Reading<One>> {
	const changes = new Map<string, One>();
	const reading = (upTo: number) => ({ changes: [...changes.values()], upTo });
	let since = from;
	try {
		for (let without: string[] = []; ; ) {
			const page = await fetchChanges({ since, without, order: 'ASC', limit });
			if (!isAsAsked(page, since)) return await readAll(fetchChanges, from);
			const before = changes.size;
			for (const change of page) changes.set(nameOf(change), change);
			const upTo = page.at(-1)?.at ?? since;
			// A short page is the last one; a longer page than asked for holds everything.
			if (page.length !== limit || isEnough([...changes.values()])) return reading(upTo);
			const ofMoment = page.filter(({ at }) => at === upTo).map(({ id }) => id);
			without = upTo === since ? [...without, ...ofMoment] : ofMoment;
			// The same page again: the server leaves nothing out, so what else is of this moment stays unseen.
			const isStuck = changes.size === before;
			since = isStuck ? upTo + 1 : upTo;
			if (isStuck) without = [];
		}
	} catch (failure) {
		return { ...reading(since), failure };
	}
}

/** Whether a server has filtered and sorted as it was asked to. */
function isAsAsked(page: Change[], since: number): boolean {
	return page.every(({ at }, index) => at >= (page[index - 1]?.at ?? since));
}

/**
 * Reads everything there is, from a server that ignores what it is asked for; newest first, so that what
 * changes meanwhile pushes nothing over the edge of a page.
 */
async function readAll<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
): Promise<Reading<One>> {
	const all: One[] = [];
	try {
		await collectPages(async (page) => {
			const changes = await fetchChanges({ since: from, order: 'DESC', ...page });
			for (const change of changes) if (!Number.isNaN(change.at)) all.push(change);
			return changes;
		});
		return { changes: all, upTo: maxBy(all, 'at')?.at ?? from };
	} catch (failure) {
		// In what order the rest comes is not known, so any of it may be as old as the oldest.
		return { changes: all, upTo: -Infinity, failure };
	}
}
