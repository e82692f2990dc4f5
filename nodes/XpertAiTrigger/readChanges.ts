import { PAGE_SIZE } from '../XpertAi/execution/paging';

/** A change of a conversation, identified by the ID of the conversation and the time of the change. */
export interface Change {
	id: string;
	/** The time of the change, as the server wrote it. */
	updatedAt: string;
	/** `updatedAt` in milliseconds since the epoch; NaN if `updatedAt` is not a valid time. */
	at: number;
}

/** A page of changes. `serverTime` is missing if the server did not send its time. */
export interface ChangesPage<One extends Change> {
	changes: One[];
	serverTime?: number;
}

/** The changes read so far. `serverTime` comes from the first page. */
export interface ChangesReading<One extends Change> extends ChangesPage<One> {
	/** The reading is complete up to this time (exclusive). */
	completeUntil: number;
	/** The error that stopped the reading. */
	readError?: unknown;
}

export const changeKey = ({ id, at }: Pick<Change, 'id' | 'at'>): string => `${id} ${at}`;

/** A request for one page of changes. */
export interface ChangesQuery {
	/** The earliest time of the changes, in milliseconds since the epoch; default all changes. */
	since?: number;
	order: 'ASC' | 'DESC';
	limit: number;
}

/** Fetches a page of changes; throws if the request fails. */
export type FetchChanges<One extends Change> = (query: ChangesQuery) => Promise<ChangesPage<One>>;

/**
 * Reads changes page by page, oldest first. Each page starts at a timestamp. An offset would be wrong if the list
 * changes between two requests. Returns an error as `readError`.
 *
 * @param from the earliest time of the changes, in milliseconds since the epoch
 * @param isEnough returns true to end the reading; has no effect after a page that does not go beyond its start time
 */
export async function readChanges<One extends Change>(
	fetchChanges: FetchChanges<One>,
	from: number,
	isEnough: (soFar: ChangesReading<One>) => boolean = () => false,
	pageSize = PAGE_SIZE,
): Promise<ChangesReading<One>> {
	const seen = new Map<string, One>();
	const read: ChangesReading<One> = { completeUntil: from, changes: [] };
	/** Number of changes on the previous page that have the newest time of that page. */
	let sameTime = 0;
	try {
		for (;;) {
			const since = read.completeUntil;
			// The limit grows if many changes have the same time, so that a page can go beyond this time.
			const limit = Math.max(pageSize, 2 * sameTime) + 1;
			const page = await fetchChanges({ since, order: 'ASC', limit });
			const times = validTimes(page.changes);
			const newest = times.at(-1) ?? since;
			// A full page means that more changes can follow. A larger page means that the server ignored `limit`.
			const isLastPage = page.changes.length !== limit || times.length === 0;
			for (const change of page.changes) seen.set(changeKey(change), change);
			read.changes = [...seen.values()];
			read.serverTime ??= page.serverTime;
			// The next page starts at the newest time once more, because it may hold other changes with this time. After the
			// last page, all changes with this time are known, so the next reading starts after it.
			read.completeUntil = isLastPage && times.length > 0 ? newest + 1 : newest;
			if (isLastPage || (isEnough(read) && newest > since)) return read;
			sameTime = times.filter((at) => at === newest).length;
		}
	} catch (readError) {
		return { ...read, readError };
	}
}

/** Returns the times of changes, without invalid times. */
export const validTimes = (changes: Change[]): number[] =>
	changes.map(({ at }) => at).filter((at) => !Number.isNaN(at));
