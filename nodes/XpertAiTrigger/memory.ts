import sortBy from 'lodash/sortBy';
import uniqBy from 'lodash/uniqBy';
import { DateTime } from 'luxon';
import { z } from 'zod';

import { MINUTE_MS } from '../XpertAi/transport/clock';

/**
 * How far before the last change seen a poll looks again: servers stamp a change before it can be seen,
 * and the clocks of several servers differ.
 */
export const OVERLAP_MS = 5 * MINUTE_MS;

/** A conversation as it is since a moment; the same conversation and moment are the same change. */
export interface Change {
	id: string;
	/** As the server wrote it. */
	updatedAt: string;
	/** The same in milliseconds since the epoch. */
	at: number;
}

/** What a poll has read of the server's changes. */
export interface Reading<One extends Change> {
	changes: One[];
	/** No change up to this moment is missing. */
	upTo: number;
	/** What broke the reading off, if anything did. */
	failure?: unknown;
}

/** What one poll leaves for the next. */
export const memorySchema = z.object({
	/** What it is about: with another credential or assistant it says nothing. */
	watched: z.string(),
	/** All changes up to this moment were given, but for those that come to light late. */
	since: z.number(),
	/** The changes of the overlap that were given, each as conversation and moment. */
	known: z.array(z.tuple([z.string(), z.string()])),
});

export type Memory = z.infer<typeof memorySchema>;

/** Milliseconds since the epoch of a moment as servers write it; NaN for anything else. */
export function momentOf(text: string): number {
	return DateTime.fromISO(text, { zone: 'utc' }).toMillis();
}

/** The moment from which on changes are looked at. */
export function floorOf(since: number): number {
	return Math.max(0, since - OVERLAP_MS);
}

/** The changes that were not given before, oldest first. */
export function newChanges<One extends Change>({ since, known }: Memory, changes: One[]): One[] {
	const given = new Set(known.map(nameOfKnown));
	const fresh = changes.filter((one) => one.at >= floorOf(since) && !given.has(nameOf(one)));
	return sortBy(uniqBy(fresh, nameOf), 'at', 'updatedAt', 'id');
}

/** What came of a poll. */
interface Polled {
	/** The changes read that are of interest. */
	wanted: Change[];
	/** As far as the reading went. */
	upTo: number;
	/** The changes of them that are dealt with now. */
	handled: Change[];
	/** Our own clock: a server's that was wrong for once must not hide what comes after. */
	now: number;
}

/**
 * The memory after a poll: it goes on to where everything was read and dealt with, and forgets what lies
 * before the overlap.
 */
export function remembering(memory: Memory, { wanted, upTo, handled, now }: Polled): Memory {
	const dealtWith: Memory['known'] = [...memory.known, ...handled.map(knownAs)];
	const left = newChanges({ ...memory, known: dealtWith }, wanted);
	const reached = Math.min(upTo, now, left[0]?.at ?? Infinity);
	const since = Math.max(memory.since, reached);
	const known = uniqBy(dealtWith, nameOfKnown).filter(([, at]) => momentOf(at) >= floorOf(since));
	return { ...memory, since, known };
}

/** The first memory: everything that is there already counts as given. */
export function beginning(watched: string, { wanted, upTo, now }: Omit<Polled, 'handled'>): Memory {
	const nothing: Memory = { watched, since: 0, known: [] };
	return remembering(nothing, { wanted, upTo, handled: wanted, now });
}

function knownAs({ id, updatedAt }: Change): Memory['known'][number] {
	return [id, updatedAt];
}

/** What tells a change from all others. */
export function nameOf(change: Change): string {
	return nameOfKnown(knownAs(change));
}

function nameOfKnown([id, updatedAt]: Memory['known'][number]): string {
	return `${id} ${updatedAt}`;
}
