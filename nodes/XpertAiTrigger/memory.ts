import sortBy from 'lodash/sortBy';
import uniqBy from 'lodash/uniqBy';
import { DateTime } from 'luxon';
import { z } from 'zod';

import { MINUTE_MS } from '../XpertAi/transport/clock';

/*
 * One poll leaves two positions for the next, in the server's time:
 *
 *   … forgotten … | floor        again        since | not read yet …
 *                 |---- overlap: read again, known ----|
 *
 * - All changes before `since` were read. A poll reads on from there and moves `since` to the first change that it did
 *   not handle, or that waits for its thread.
 * - Changes may become visible up to `OVERLAP_MS` after later ones. So the overlap from `floor` on is read again, page
 *   by page over several polls: `again` is the next position; at `since` it starts over. The changes in `known` were
 *   emitted and are not emitted again.
 * - `floor` follows the overlap read, but not past `final`: `OVERLAP_MS` before the last `since`, by the clocks of the
 *   server and of this host. So if a wrong clock has put `since` into the future, the changes after that are found in
 *   the overlap.
 * - Each poll has time for at least one of the two. One that only read the overlap sets `ahead`, and the next starts
 *   with new changes, so that neither blocks the other.
 * - A change with an unreadable thread stays in `waiting` with its number of tries. It holds back both positions until
 *   its thread is read or the tries are used up.
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

/** A change: conversation ID and time. */
const changeTuple = [z.string(), z.number()] as const;

/** What one poll leaves for the next; see above. */
const memorySchema = z.object({
	/** What is watched. With another server, credential or assistant, the memory does not apply. */
	watched: z.string(),
	since: z.number(),
	floor: z.number(),
	final: z.number(),
	again: z.number(),
	ahead: z.boolean(),
	known: z.array(z.tuple([...changeTuple])),
	waiting: z.array(z.tuple([...changeTuple, z.number()])),
});

export type Memory = z.infer<typeof memorySchema>;

/** Milliseconds since the epoch of a server's time; NaN if unreadable. */
export function parseTime(text: string): number {
	return DateTime.fromISO(text, { zone: 'utc' }).toMillis();
}

/** From this time on, changes may still become visible after a change at `since` was read. */
export function overlapStart(since: number): number {
	return Math.max(0, since - OVERLAP_MS);
}

/** The stored memory; undefined if there is none, or for something else. */
export function readMemory(stored: unknown, watched: string): Memory | undefined {
	const { data } = memorySchema.safeParse(stored);
	return data?.watched === watched ? data : undefined;
}

/** Makes a filter for changes that were not emitted before and are not older than the overlap. */
export function freshFilter({ floor, known }: Memory): (change: Change) => boolean {
	const emitted = new Set(known.map(([id, at]) => changeKey({ id, at })));
	return (change) => change.at >= floor && !emitted.has(changeKey(change));
}

/** The changes that were not emitted before, oldest first. */
export function newChanges<One extends Change>(memory: Memory, changes: One[]): One[] {
	return sortBy(uniqBy(changes.filter(freshFilter(memory)), changeKey), 'at', 'updatedAt', 'id');
}

/** How often the thread of a change could not be read. */
export function triesOf({ waiting }: Memory, change: Change): number {
	return waiting.find(([id, at]) => id === change.id && at === change.at)?.[2] ?? 0;
}

/** The outcome of a poll, and how far it has read. */
interface PollOutcome {
	/** No change between `since` and this time is missing; equals `since` if nothing was read. */
	upTo: number;
	/** The part of the overlap that was read again. */
	overlap: { from: number; upTo: number };
	/** Whether the next poll starts with new changes. */
	ahead: boolean;
	/** The changes read that the workflow starts for. */
	wanted: Change[];
	/** Those that were handled. */
	handled: Change[];
	/** Those whose thread could not be read. */
	unread: Change[];
	/** The clock of this host. */
	now: number;
}

/**
 * The memory after a poll.
 *
 * @param memory the stored memory now
 * @param before the memory at the start of the poll
 */
export function nextMemory(memory: Memory, before: Memory, polled: PollOutcome): Memory {
	const { wanted, handled, unread, upTo, overlap, ahead, now } = polled;
	const emitted = [...memory.known, ...handled.map(toKnown)];
	const firstLeft = newChanges({ ...memory, known: emitted }, wanted)[0]?.at ?? Infinity;
	const since = Math.max(memory.since, Math.min(upTo, firstLeft));
	const again = Math.min(overlap.upTo, firstLeft);
	// If the overlap was read from the floor on, no change before this time becomes visible any more.
	const settled = Math.min(again, before.final, overlapStart(now));
	const floor = overlap.from <= memory.floor ? Math.max(memory.floor, settled) : memory.floor;
	const isKept = ([, at]: [string, number, ...unknown[]]) => at >= floor;
	return {
		watched: memory.watched,
		since,
		floor,
		final: overlapStart(Math.min(since, now)),
		again: again < since ? again : floor,
		ahead,
		known: uniqBy(emitted, ([id, at]) => changeKey({ id, at })).filter(isKept),
		waiting: stillWaiting(memory, unread, handled).filter(isKept),
	};
}

/** Counts the tries of unread changes and drops the handled ones. */
function stillWaiting(memory: Memory, unread: Change[], handled: Change[]): Memory['waiting'] {
	const keys = new Set([...unread, ...handled].map(changeKey));
	const others = memory.waiting.filter(([id, at]) => !keys.has(changeKey({ id, at })));
	const counted = unread.map((one): Memory['waiting'][number] => [
		...toKnown(one),
		triesOf(memory, one) + 1,
	]);
	return [...others, ...counted];
}

/**
 * The first memory: all existing changes count as emitted.
 *
 * @param changes none is missing between the times `from` and `upTo`
 */
export function firstMemory(
	watched: string,
	{ changes, from, upTo }: { changes: Change[]; from: number; upTo: number },
): Memory {
	const known = changes.filter(({ at }) => at >= from).map(toKnown);
	const positions = { since: upTo, floor: from, final: from, again: from };
	return { watched, ...positions, ahead: false, known, waiting: [] };
}

function toKnown({ id, at }: Change): Memory['known'][number] {
	return [id, at];
}

/** Identifies a change. */
export function changeKey({ id, at }: Pick<Change, 'id' | 'at'>): string {
	return `${id} ${at}`;
}
