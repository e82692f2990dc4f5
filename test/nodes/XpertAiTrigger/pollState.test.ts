import {
	unhandledChanges,
	nextPollState,
	OVERLAP_MS,
	readPollState,
	triesOf,
} from 'nodes/XpertAiTrigger/pollState';
import type { Change, ChangesReading } from 'nodes/XpertAiTrigger/readChanges';
import type { PollState } from 'nodes/XpertAiTrigger/pollState';

const NOON = Date.UTC(2026, 0, 1, 12);
const at = (ms: number, id = 'a') => ({
	id,
	at: NOON + ms,
	updatedAt: new Date(NOON + ms).toISOString(),
});

/** All before noon was read and given, and looked at again. */
const UP_TO_NOON: PollState = { watched: 'me', since: NOON, again: NOON - OVERLAP_MS, known: [] };

type Polled = Partial<
	ChangesReading<Change> & Record<'wanted' | 'handled' | 'postponed', Change[]>
>;

/** What a poll leaves that has read nothing but this. */
function after(polled: Polled, memory = UP_TO_NOON, before = memory): PollState {
	const { wanted = [], handled = [], postponed = [], ...read } = polled;
	const nothing = { changes: wanted, completeUntil: before.again };
	return nextPollState(memory, before, { ...nothing, ...read }, { wanted, handled, postponed });
}

describe('the new changes', () => {
	it('are each one once, oldest first, and of one moment by their ids', () => {
		const [first, second, third] = [at(5, 'b'), at(7, 'a'), at(7, 'c')];
		expect(unhandledChanges(UP_TO_NOON, [third, first, second, { ...third }])).toEqual([
			first,
			second,
			third,
		]);
	});

	it('are those from the overlap on that were not given', () => {
		const onStart = at(-OVERLAP_MS);
		expect(unhandledChanges(UP_TO_NOON, [at(-OVERLAP_MS - 1), onStart])).toEqual([onStart]);
		const known = [at(1), { ...at(2), tries: 0 }];
		expect(unhandledChanges({ ...UP_TO_NOON, known }, [at(1), at(2)])).toEqual([at(2)]);
	});
});

describe('what was stored', () => {
	it('is recalled as it was', () => {
		const known = [
			{ id: 'a', at: NOON },
			{ id: 'b', at: NOON, tries: 2 },
		];
		const memory: PollState = { ...UP_TO_NOON, known };
		const stored: unknown = JSON.parse(JSON.stringify(memory));
		expect(readPollState(stored, 'me')).toEqual(memory);
	});

	it('loses no more than the known change that cannot be read', () => {
		const known = [{ id: 'a', at: NOON }];
		const stored = { ...UP_TO_NOON, known: [{ id: 'b', at: null }, null, ...known] };
		expect(readPollState(stored, 'me')).toEqual({ ...UP_TO_NOON, known });
	});

	it('goes on where nothing of what is known can be read', () => {
		expect(readPollState({ ...UP_TO_NOON, known: 'a' }, 'me')).toEqual({
			...UP_TO_NOON,
			known: [],
		});
	});

	it.each([
		['where reading begins', { again: null }, [NOON, NOON - OVERLAP_MS]],
		['where reading ended', { since: undefined }, [NOON - OVERLAP_MS, NOON - OVERLAP_MS]],
		['a time far in the future', { since: 1e300 }, [Date.UTC(9999, 0), NOON - OVERLAP_MS]],
		['a time far in the past', { since: -1e300 }, [0, 0]],
		['a beginning behind the end', { again: 1e300 }, [NOON, NOON]],
	])('has times that can be asked for, whatever became of %s', (_, changed, times) => {
		const { since, again } = readPollState({ ...UP_TO_NOON, ...changed }, 'me') ?? {};
		expect([since, again]).toEqual(times);
	});

	it.each([
		['nothing', {}],
		['about something else', { ...UP_TO_NOON, watched: 'others' }],
		['of another form', { watched: 'me', from: NOON, known: [] }],
		['without any time', { ...UP_TO_NOON, since: null, again: null }],
	])('is no memory when it is %s', (_, stored) =>
		expect(readPollState(stored, 'me')).toBeUndefined(),
	);
});

/** The property test holds what becomes of each change; this is how far a poll moves the times. */
describe('where the next poll reads on', () => {
	it('is the first change that is left, at most where this one has come', () => {
		const wanted = [at(10, 'a'), at(20, 'b'), at(30, 'c')];
		const next = after({ wanted, completeUntil: NOON + 31, handled: wanted.slice(0, 1) });
		expect(next.since).toBe(NOON + 20);
		expect(unhandledChanges(next, wanted)).toEqual(wanted.slice(1));
		expect(after({ completeUntil: NOON + 7 }).since).toBe(NOON + 7);
	});

	it('is not before where it was: something late that is left is found by looking again', () => {
		const late = at(-OVERLAP_MS + 10);
		const memory = { ...UP_TO_NOON, since: NOON + 100 };
		const next = after({ wanted: [late], completeUntil: NOON }, memory);
		expect([next.since, next.again]).toEqual([NOON + 100, late.at]);
	});

	it('is not before where an overlapping poll has come', () => {
		const meanwhile = { ...UP_TO_NOON, since: NOON + 100, again: NOON };
		const next = after({ completeUntil: NOON + 50 }, meanwhile, UP_TO_NOON);
		expect([next.since, next.again]).toEqual([NOON + 100, NOON]);
	});

	it('is at most five minutes after the time of the server, whatever a change is stamped with', () => {
		const polled = { completeUntil: NOON + 100 * OVERLAP_MS, serverTime: NOON + 5 };
		expect(after(polled).since).toBe(NOON + 5 + OVERLAP_MS);
		expect(after({ completeUntil: polled.completeUntil }).since).toBe(polled.completeUntil);
	});
});

it.each([
	['where this reading has come', { completeUntil: NOON - 1 }, NOON - 1],
	['five minutes before the last poll', {}, NOON],
	['five minutes before the time of the server', { serverTime: NOON + OVERLAP_MS - 9 }, NOON - 9],
])('what is looked at again begins at most %s', (_, polled, again) => {
	const memory = { ...UP_TO_NOON, since: NOON + OVERLAP_MS };
	expect(after({ completeUntil: NOON + 1, ...polled }, memory).again).toBe(again);
});

it('what is known is what was read of that time, the oldest first', () => {
	const memory = { ...UP_TO_NOON, since: NOON + OVERLAP_MS, known: [at(-1, 'old'), at(5, 'b')] };
	const changes = [at(5, 'b'), at(9, 'unwanted'), at(3, 'given')];
	const next = after({ changes, handled: [at(3, 'given')], completeUntil: NOON }, memory);
	expect(next.known).toEqual([
		{ id: 'given', at: NOON + 3 },
		expect.objectContaining({ id: 'b', at: NOON + 5 }),
		{ id: 'unwanted', at: NOON + 9, tries: 0 },
	]);
});

it('a change whose thread could not be read is counted until it is given', () => {
	const one = at(10);
	const polled = { wanted: [one], postponed: [one], completeUntil: NOON + 11 };
	const first = after(polled);
	expect([first.since, triesOf(first, one)]).toEqual([one.at, 1]);
	const second = after(polled, after({}, first));
	expect(triesOf(second, one)).toBe(2);
	expect([at(10, 'b'), at(11)].map((other) => triesOf(second, other))).toEqual([0, 0]);
	const given = after({ wanted: [one], handled: [one], completeUntil: NOON + 11 }, second);
	expect([given.known, given.since]).toEqual([[{ id: 'a', at: one.at }], NOON + 11]);
});
