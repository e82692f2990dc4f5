import { Settings } from 'luxon';

import {
	OVERLAP_MS,
	firstMemory,
	overlapStart,
	parseTime,
	newChanges,
	readMemory,
	nextMemory,
	triesOf,
} from '../../../nodes/XpertAiTrigger/memory';
import type { Memory } from '../../../nodes/XpertAiTrigger/memory';

const NOON = Date.UTC(2026, 0, 1, 12);
const at = (ms: number, id = 'a') => ({
	id,
	at: NOON + ms,
	updatedAt: new Date(NOON + ms).toISOString(),
});
const LONG_AFTER = NOON + 100 * OVERLAP_MS;

/** All before noon was read and given, and looked at again. */
const UP_TO_NOON: Memory = {
	watched: 'me',
	since: NOON,
	floor: overlapStart(NOON),
	final: overlapStart(NOON),
	again: overlapStart(NOON),
	ahead: false,
	known: [],
	waiting: [],
};

/** A poll that has read nothing, at a right clock. */
const NOTHING = {
	wanted: [],
	handled: [],
	unread: [],
	upTo: NOON,
	overlap: { from: UP_TO_NOON.again, upTo: UP_TO_NOON.again },
	ahead: false,
	now: LONG_AFTER,
};

type Polled = Parameters<typeof nextMemory>[2];

const after = (polled: Partial<Polled>, memory = UP_TO_NOON) =>
	nextMemory(memory, memory, { ...NOTHING, ...polled });

describe('the moment of a change', () => {
	it.each([
		['2026-01-01T12:00:00.000Z', NOON],
		['2026-01-01T13:00:00.000+01:00', NOON],
		['2026-01-01T12:00:00', NOON],
		['2026-01-01T12:00:00.000999Z', NOON],
	])('%s is read', (text, moment) => expect(parseTime(text)).toBe(moment));

	it('is none in a text that is no time', () => expect(parseTime('')).toBeNaN());

	it('is one of UTC where it names no zone, wherever n8n runs', () => {
		const { defaultZone } = Settings;
		Settings.defaultZone = 'Asia/Tokyo';
		expect(parseTime('2026-01-01T12:00:00')).toBe(NOON);
		Settings.defaultZone = defaultZone;
	});
});

describe('the first memory', () => {
	it('has all that is there as given', () => {
		const changes = [at(0), at(10, 'b')];
		const memory = firstMemory('me', { changes, upTo: NOON + 11, from: overlapStart(NOON) });
		expect(memory).toEqual({ ...UP_TO_NOON, since: NOON + 11, known: expect.any(Array) });
		expect(newChanges(memory, [...changes, at(20)])).toEqual([at(20)]);
	});

	it('knows nothing of what is not looked at again', () => {
		const memory = firstMemory('me', { changes: [at(0), at(10)], upTo: NOON + 11, from: NOON + 1 });
		expect(memory.known).toEqual([['a', NOON + 10]]);
		const both = firstMemory('me', { changes: [at(0), at(10)], upTo: NOON + 11, from: NOON });
		expect(both.known).toHaveLength(2);
	});

	it('begins at the beginning of time on an empty server', () => {
		const memory = firstMemory('me', { changes: [], upTo: 0, from: 0 });
		expect(newChanges(memory, [at(0)])).toEqual([at(0)]);
		expect(overlapStart(OVERLAP_MS - 1)).toBe(0);
	});
});

describe('the new changes', () => {
	it('are each one once, oldest first, and of one moment by their ids', () => {
		const [first, second, third] = [at(5, 'b'), at(7, 'a'), at(7, 'c')];
		expect(newChanges(UP_TO_NOON, [third, first, second, { ...third }])).toEqual([
			first,
			second,
			third,
		]);
	});

	it('are those from the floor on', () => {
		const onFloor = at(-OVERLAP_MS);
		expect(newChanges(UP_TO_NOON, [at(-OVERLAP_MS - 1), onFloor])).toEqual([onFloor]);
	});
});

describe('what was stored', () => {
	it('is recalled as it was', () => {
		const known: Memory['known'] = [['a', NOON]];
		const memory: Memory = { ...UP_TO_NOON, known, waiting: [['b', NOON, 2]] };
		const stored: unknown = JSON.parse(JSON.stringify(memory));
		expect(readMemory(stored, 'me')).toEqual(memory);
	});

	it.each([
		['nothing', {}],
		['about something else', { ...UP_TO_NOON, watched: 'others' }],
		['of another form', { watched: 'me', since: NOON, known: [] }],
	])('is no memory when it is %s', (_, stored) => expect(readMemory(stored, 'me')).toBeUndefined());
});

describe('where the next poll reads on', () => {
	it('is where this one has come', () => {
		expect(after({ upTo: NOON + 7 }).since).toBe(NOON + 7);
	});

	it('is the first change that is left', () => {
		const wanted = [at(10, 'a'), at(20, 'b'), at(30, 'c')];
		const next = after({ wanted, upTo: NOON + 31, handled: wanted.slice(0, 1) });
		expect(next.since).toBe(NOON + 20);
		expect(newChanges(next, wanted)).toEqual(wanted.slice(1));
	});

	it('is not before where it was, though something late is left', () => {
		const late = at(-10);
		const next = after({ wanted: [late], overlap: { from: UP_TO_NOON.again, upTo: NOON } });
		expect(next.since).toBe(NOON);
		expect(next.again).toBe(late.at);
	});

	it('is not before where an overlapping poll has come', () => {
		const meanwhile = { ...UP_TO_NOON, since: NOON + 100 };
		const next = nextMemory(meanwhile, UP_TO_NOON, { ...NOTHING, upTo: NOON + 50 });
		expect(next.since).toBe(NOON + 100);
	});

	it('begins with what is new when this one only looked again', () => {
		expect(after({ ahead: true }).ahead).toBe(true);
	});
});

describe('what is looked at again', () => {
	const from = UP_TO_NOON.floor;
	const LATER = { ...UP_TO_NOON, final: NOON };

	it('is forgotten once nothing of its time can come to light any more', () => {
		const memory: Memory = {
			...LATER,
			known: [
				['a', NOON - 1],
				['b', NOON],
			],
		};
		const next = after({ overlap: { from, upTo: NOON + 5 } }, memory);
		expect(next.floor).toBe(NOON);
		expect(next.known).toEqual([['b', NOON]]);
	});

	it('is forgotten no further than the look has come', () => {
		expect(after({ overlap: { from, upTo: from + 9 } }, LATER).floor).toBe(from + 9);
	});

	it('is not forgotten where the look began later', () => {
		const next = after({ overlap: { from: from + 1, upTo: from + 9 } }, LATER);
		expect(next).toMatchObject({ floor: from, again: from + 9 });
	});

	it('is not forgotten by a poll that has not looked', () => {
		expect(after({ upTo: NOON + OVERLAP_MS }, LATER).floor).toBe(from);
	});

	it('is looked at from its beginning once the look has met what is new', () => {
		expect(after({ overlap: { from, upTo: NOON } }).again).toBe(from);
	});

	it('stays, with a change in it that is left', () => {
		const wanted = [at(-OVERLAP_MS + 3)];
		const next = after({ wanted, overlap: { from, upTo: NOON } }, LATER);
		expect(next).toMatchObject({ floor: from + 3, again: from + 3 });
	});

	it('does not go ahead of our clock after a change that the server stamped with the future', () => {
		const future = at(50 * OVERLAP_MS);
		const read = { wanted: [future], handled: [future], upTo: future.at + 1, now: NOON + 60_000 };
		const first = after({ ...read, overlap: { from, upTo: NOON } });
		const second = after(
			{ now: NOON + 120_000, overlap: { from: first.floor, upTo: future.at } },
			first,
		);
		expect(second.floor).toBeLessThanOrEqual(overlapStart(NOON + 120_000));
		expect(newChanges(second, [future, at(70_000, 'b')])).toEqual([at(70_000, 'b')]);
	});

	it('may be forgotten by the next poll up to the overlap before where all was read, by our clock at most', () => {
		expect(after({ upTo: NOON + 1, now: LONG_AFTER }).final).toBe(overlapStart(NOON + 1));
		expect(after({ upTo: NOON + 9, now: NOON + 1 }).final).toBe(overlapStart(NOON + 1));
	});

	it('does not follow a clock of ours that is wrong in one poll', () => {
		const future = at(50 * OVERLAP_MS);
		const read = { wanted: [future], handled: [future], upTo: future.at + 1 };
		const first = after({ ...read, now: future.at, overlap: { from, upTo: future.at + 1 } });
		expect(first.floor).toBe(from);
		const second = after({ now: NOON + 60_000, overlap: { from, upTo: future.at } }, first);
		expect(newChanges(second, [future, at(30_000, 'b')])).toEqual([at(30_000, 'b')]);
	});
});

describe('a change whose thread could not be read', () => {
	const one = at(10);

	it('holds back where the next poll reads on, and is counted', () => {
		const polled = { wanted: [one], unread: [one], upTo: NOON + 11 };
		const first = after(polled);
		expect(first.since).toBe(one.at);
		expect(triesOf(first, one)).toBe(1);
		expect(triesOf(after(polled, first), one)).toBe(2);
		expect(triesOf(first, at(10, 'b'))).toBe(0);
		expect(triesOf(first, at(11))).toBe(0);
	});

	it('stays counted by a poll that has not come to it', () => {
		const first = after({ wanted: [one], unread: [one], upTo: NOON + 11 });
		expect(triesOf(after({}, first), one)).toBe(1);
	});

	it('is counted no more once it is given, or forgotten', () => {
		const first = after({ wanted: [one], unread: [one], upTo: NOON + 11 });
		const given = after({ wanted: [one], handled: [one], upTo: NOON + 11 }, first);
		expect(given.waiting).toEqual([]);
		const overlap = { from: first.floor, upTo: NOON + OVERLAP_MS };
		const gone = after({ overlap }, { ...first, since: NOON + OVERLAP_MS, final: NOON + 20 });
		expect(gone.waiting).toEqual([]);
	});
});
