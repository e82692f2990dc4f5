import differenceBy from 'lodash/differenceBy';
import clamp from 'lodash/clamp';
import sortBy from 'lodash/sortBy';
import uniqBy from 'lodash/uniqBy';
import { z } from 'zod';

import { MINUTE_MS } from '../XpertAi/transport/clock';

/*
 * One poll leaves two times for the next, in the server's time:
 *
 *   … forgotten … | again                      since | not read yet …
 *                 |---- overlap: read again, known ----|
 *
 * - All changes before `since` were read. A poll reads on from there and moves `since` to the first change that it did
 *   not handle, or that waits for its thread.
 * - Changes may become visible up to `OVERLAP_MS` after later ones, so the overlap is read again from `again` on.
 *   `again` follows this reading, but stays `OVERLAP_MS` behind the `since` of the poll before and behind the time of
 *   the server: until then, a change may still become visible.
 * - `known` has the changes read from `again` on. Those that were emitted are not emitted again.
 * - A change with an unreadable thread holds back both times until its thread is read or its tries are used up.
 *
 * The clock of this host is not used: it may be wrong.
 */

/** Length of the overlap: servers set the time of a change before it becomes visible, and their clocks differ. */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A conversation in a state since a time; conversation and time identify the change. */
export interface Change {
	id: string;
	/** As the server wrote it. */
	updatedAt: string;
	/** The same in milliseconds since the epoch. */
	at: number;
}

/** A corrupted time is moved to one that a request can hold. */
const time = z.number().transform((ms) => clamp(ms, 0, Date.UTC(9999, 0)));

/** What one poll leaves for the next; see above. */
const memorySchema = z.object({
	/** What is watched. With another server, credential or assistant, the memory does not apply. */
	watched: z.string(),
	since: time,
	again: time,
	/** The oldest first; with `tries`, those that were not emitted yet. */
	known: z.array(z.object({ id: z.string(), at: z.number(), tries: z.number().optional() })),
});

export type Memory = z.infer<typeof memorySchema>;

/** The stored memory; undefined if there is none, or for something else. */
export function readMemory(stored: unknown, watched: string): Memory | undefined {
	const { data } = memorySchema.safeParse(stored);
	if (data?.watched !== watched) return undefined;
	return { ...data, again: Math.min(data.again, data.since) };
}

/** The changes that were not emitted before and are not older than the overlap, oldest first. */
export function newChanges<One extends Change>({ again, known }: Memory, changes: One[]): One[] {
	const emitted = new Set(known.filter(({ tries }) => tries === undefined).map(changeKey));
	const fresh = changes.filter((one) => one.at >= again && !emitted.has(changeKey(one)));
	return sortBy(uniqBy(fresh, changeKey), 'at', 'updatedAt', 'id');
}

/** In how many polls the thread of a change was tried. */
export function triesOf({ known }: Memory, change: Change): number {
	return known.find((one) => changeKey(one) === changeKey(change))?.tries ?? 0;
}

/** What a poll has read. */
export interface Reading<One extends Change> {
	changes: One[];
	/** No change between `since` and this time is missing. */
	upTo: number;
	/** No change between `again` and this time is missing. */
	overlapUpTo: number;
	/** The time of the server before that, if it tells. */
	serverTime?: number;
}

/**
 * The memory after a poll.
 *
 * @param memory the stored memory now, which an overlapping poll may have changed
 * @param before the memory at the start of the poll
 * @param outcome the changes that the workflow starts for, and of these the ones that were handled and those whose
 * thread could not be read
 */
export function nextMemory(
	memory: Memory,
	before: Memory,
	{ changes, upTo, overlapUpTo, serverTime = Infinity }: Reading<Change>,
	{ wanted, handled, unread }: Record<'wanted' | 'handled' | 'unread', Change[]>,
): Memory {
	const [firstLeft] = differenceBy(newChanges(memory, wanted), handled, changeKey);
	const left = firstLeft?.at ?? Infinity;
	// What is stamped with the future is emitted, but must not hide what changes until then.
	const since = Math.min(upTo, left, serverTime + OVERLAP_MS);
	const settled = Math.min(before.since, serverTime) - OVERLAP_MS;
	const again = Math.max(memory.again, Math.min(overlapUpTo, left, settled));
	const tried = new Set(unread.map(changeKey));
	const seen = newChanges(memory, changes).map((one) => ({
		...toKnown(one),
		tries: triesOf(memory, one) + Number(tried.has(changeKey(one))),
	}));
	const known = uniqBy([...handled.map(toKnown), ...seen, ...memory.known], changeKey);
	return {
		watched: memory.watched,
		since: Math.max(memory.since, since),
		again,
		known: sortBy(known, 'at').filter(({ at }) => at >= again),
	};
}

/** A change as the memory has it once it was emitted. */
export function toKnown({ id, at }: Change): Memory['known'][number] {
	return { id, at };
}

/** Identifies a change. */
export function changeKey({ id, at }: Pick<Change, 'id' | 'at'>): string {
	return `${id} ${at}`;
}
