import sortBy from 'lodash/sortBy';
import uniqBy from 'lodash/uniqBy';
import { DateTime } from 'luxon';
import { z } from 'zod';

import { MINUTE_MS } from '../XpertAi/transport/clock';

/*
 * What one poll leaves for the next is two positions among the changes, in the server's time:
 *
 *   … forgotten … | floor        again        since | not read yet …
 *                 |--- looked at again, known -----|
 *
 * - All before `since` was read. A poll reads on from there, and it moves to where all was dealt with: to the
 *   first change that is left for the next poll, or that waits for its thread.
 * - Changes come to light late, up to `OVERLAP_MS` after later ones. So all from `floor` on is looked at again,
 *   page by page over as many polls as that takes: `again` is where it goes on, and once it has come to `since`
 *   it starts over. What stands in `known` was given and is not given again.
 * - `floor` follows to where a look has come, but not past `final`: `OVERLAP_MS` before where the last poll left
 *   `since`, by its clock and by ours now. So where `since` lies in the future, as the server's clock was wrong for
 *   once, what comes after is found by looking again; also when our own clock was wrong in one poll.
 * - Each poll has time for one of the two at least. One that only looked again says so (`ahead`), and the next
 *   begins with what is new: neither can stop the other, whatever there is to read.
 * - A change whose thread could not be read stands in `waiting` with how often that was; it holds back both
 *   positions until it can, or until it has been tried often enough.
 */

/** How far before the last change seen is looked at again: servers stamp a change before it can be seen, and their clocks differ. */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A conversation as it is since a moment; the same conversation and moment are the same change. */
export interface Change {
	id: string;
	/** As the server wrote it. */
	updatedAt: string;
	/** The same in milliseconds since the epoch. */
	at: number;
}

/** A change by its conversation and moment. */
const named = [z.string(), z.number()] as const;

/** What one poll leaves for the next; see above. */
const memorySchema = z.object({
	/** What it is about: with another server, credential or assistant it says nothing. */
	watched: z.string(),
	since: z.number(),
	floor: z.number(),
	final: z.number(),
	again: z.number(),
	ahead: z.boolean(),
	known: z.array(z.tuple([...named])),
	waiting: z.array(z.tuple([...named, z.number()])),
});

export type Memory = z.infer<typeof memorySchema>;

type Known = Memory['known'][number];

/** Milliseconds since the epoch of a moment as servers write it; NaN for anything else. */
export function momentOf(text: string): number {
	return DateTime.fromISO(text, { zone: 'utc' }).toMillis();
}

/** The moment from which on changes may still come to light when one of this moment was seen. */
export function floorOf(since: number): number {
	return Math.max(0, since - OVERLAP_MS);
}

/** What the polls before have left; undefined when that is nothing, or nothing about what is watched. */
export function readMemory(stored: unknown, watched: string): Memory | undefined {
	const { data } = memorySchema.safeParse(stored);
	return data?.watched === watched ? data : undefined;
}

/** Tells which changes were not given before and are not forgotten. */
export function freshTo({ floor, known }: Memory): (change: Change) => boolean {
	const given = new Set(known.map(nameOfKnown));
	return (change) => change.at >= floor && !given.has(nameOf(change));
}

/** The changes that were not given before, oldest first. */
export function newChanges<One extends Change>(memory: Memory, changes: One[]): One[] {
	return sortBy(uniqBy(changes.filter(freshTo(memory)), nameOf), 'at', 'updatedAt', 'id');
}

/** How often the thread of a change could not be read. */
export function triesOf({ waiting }: Memory, change: Change): number {
	return waiting.find(([id, at]) => id === change.id && at === change.at)?.[2] ?? 0;
}

/** How far a poll has read. */
export interface Progress {
	/** No change from `since` of the memory up to this moment is missing; the same where nothing was read. */
	upTo: number;
	/** The part that was looked at again. */
	look: { from: number; upTo: number };
	/** Whether the next poll is to begin with what is new. */
	ahead: boolean;
}

/** What came of a poll. */
interface Polled extends Progress {
	/** The changes read that are of interest. */
	wanted: Change[];
	/** The changes of them that are dealt with now. */
	handled: Change[];
	/** Those whose thread could not be read. */
	unread: Change[];
	/** Our own clock. */
	now: number;
}

/**
 * The memory after a poll.
 *
 * @param memory as it is by now
 * @param before as the poll has begun with
 */
export function remembering(memory: Memory, before: Memory, polled: Polled): Memory {
	const { wanted, handled, unread, upTo, look, ahead, now } = polled;
	const dealtWith = [...memory.known, ...handled.map(knownAs)];
	const left = newChanges({ ...memory, known: dealtWith }, wanted)[0]?.at ?? Infinity;
	const since = Math.max(memory.since, Math.min(upTo, left));
	const again = Math.min(look.upTo, left);
	// What is before this moment comes to light no more, if all from the floor on was looked at.
	const settled = Math.min(again, before.final, floorOf(now));
	const floor = look.from <= memory.floor ? Math.max(memory.floor, settled) : memory.floor;
	const isKept = ([, at]: [string, number, ...unknown[]]) => at >= floor;
	return {
		watched: memory.watched,
		since,
		floor,
		final: floorOf(Math.min(since, now)),
		again: again < since ? again : floor,
		ahead,
		known: uniqBy(dealtWith, nameOfKnown).filter(isKept),
		waiting: stillWaiting(memory, unread, handled).filter(isKept),
	};
}

/** Counts those that could not be read; what is dealt with counts no more. */
function stillWaiting(memory: Memory, unread: Change[], handled: Change[]): Memory['waiting'] {
	const names = new Set([...unread, ...handled].map(nameOf));
	const others = memory.waiting.filter(([id, at]) => !names.has(nameOfKnown([id, at])));
	const counted = unread.map((one): Memory['waiting'][number] => [
		...knownAs(one),
		triesOf(memory, one) + 1,
	]);
	return [...others, ...counted];
}

/** What is there when a workflow is activated. */
interface There {
	changes: Change[];
	/** No change after this moment was read. */
	upTo: number;
	/** No change from this moment on is missing. */
	from: number;
}

/** The first memory: everything that is there already counts as given. */
export function beginning(watched: string, { changes, upTo, from }: There): Memory {
	const known = changes.filter(({ at }) => at >= from).map(knownAs);
	const positions = { since: upTo, floor: from, final: from, again: from };
	return { watched, ...positions, ahead: false, known, waiting: [] };
}

function knownAs({ id, at }: Change): Known {
	return [id, at];
}

/** What tells a change from all others. */
export function nameOf(change: Change): string {
	return nameOfKnown(knownAs(change));
}

function nameOfKnown([id, at]: Known): string {
	return `${id} ${at}`;
}
