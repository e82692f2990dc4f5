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

/** The property test holds what becomes of each change; this is how far a poll moves the positions. */
describe('where the next poll reads on', () => {
	it('is the first change that is left, at most where this one has come', () => {
		const wanted = [at(10, 'a'), at(20, 'b'), at(30, 'c')];
		const next = after({ wanted, upTo: NOON + 31, handled: wanted.slice(0, 1) });
		expect(next.since).toBe(NOON + 20);
		expect(newChanges(next, wanted)).toEqual(wanted.slice(1));
		expect(after({ upTo: NOON + 7 }).since).toBe(NOON + 7);
	});

	it('is not before where it was: something late that is left is found by looking again', () => {
		const late = at(-10);
		const next = after({ wanted: [late], overlap: { from: UP_TO_NOON.again, upTo: NOON } });
		expect([next.since, next.again]).toEqual([NOON, late.at]);
	});

	it('is not before where an overlapping poll has come', () => {
		const meanwhile = { ...UP_TO_NOON, since: NOON + 100 };
		const next = nextMemory(meanwhile, UP_TO_NOON, { ...NOTHING, upTo: NOON + 50 });
		expect(next.since).toBe(NOON + 100);
	});
});

describe('a clock of the host that goes back', () => {
	const reread = { from: UP_TO_NOON.floor, upTo: NOON };

	it('does not take the floor back, below which changes are forgotten', () => {
		const { floor, since } = after({ overlap: reread, now: NOON - 100 * OVERLAP_MS });
		expect([floor, since]).toEqual([UP_TO_NOON.floor, NOON]);
	});

	it('keeps the floor at the overlap before it, though it was later once', () => {
		const memory = { ...UP_TO_NOON, final: NOON };
		expect(after({ overlap: reread, now: NOON }, memory).floor).toBe(overlapStart(NOON));
	});

	it('settles nothing after it, though the server has stamped a change with the future', () => {
		const next = after({ upTo: NOON + 100 * OVERLAP_MS, now: NOON });
		expect(next.final).toBe(overlapStart(NOON));
	});
});

it('a change whose thread could not be read is counted until it is given or forgotten', () => {
	const one = at(10);
	const polled = { wanted: [one], unread: [one], upTo: NOON + 11 };
	const first = after(polled);
	expect([first.since, triesOf(first, one)]).toEqual([one.at, 1]);
	const second = after(polled, after({}, first));
	expect(triesOf(second, one)).toBe(2);
	expect([at(10, 'b'), at(11)].map((other) => triesOf(second, other))).toEqual([0, 0]);
	expect(after({ wanted: [one], handled: [one], upTo: NOON + 11 }, second).waiting).toEqual([]);
	const overlap = { from: second.floor, upTo: NOON + OVERLAP_MS };
	const later = { ...second, since: NOON + OVERLAP_MS, final: NOON + 20 };
	expect(after({ overlap }, later).waiting).toEqual([]);
});
