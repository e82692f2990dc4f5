import {
	OVERLAP_MS,
	beginning,
	floorOf,
	momentOf,
	newChanges,
	remembering,
} from '../../../nodes/XpertAiTrigger/memory';

const NOON = Date.UTC(2026, 0, 1, 12);
const at = (ms: number, id = 'a') => ({
	id,
	at: NOON + ms,
	updatedAt: new Date(NOON + ms).toISOString(),
});
const LONG_AFTER = NOON + 100 * OVERLAP_MS;

describe('the moment of a change', () => {
	it.each([
		['2026-01-01T12:00:00.000Z', NOON],
		['2026-01-01T13:00:00.000+01:00', NOON],
		['2026-01-01T12:00:00', NOON],
		['2026-01-01T12:00:00.000999Z', NOON],
	])('%s is read', (text, moment) => expect(momentOf(text)).toBe(moment));

	it('is none in a text that is no time', () => expect(momentOf('')).toBeNaN());
});

describe('the memory', () => {
	it('begins with all that is there', () => {
		const changes = [at(0), at(10, 'b')];
		const memory = beginning('me', { wanted: changes, upTo: NOON + 10, now: LONG_AFTER });
		expect(memory.since).toBe(NOON + 10);
		expect(newChanges(memory, [...changes, at(20)])).toEqual([at(20)]);
	});

	it('begins at the beginning of time on an empty server', () => {
		const memory = beginning('me', { wanted: [], upTo: 0, now: LONG_AFTER });
		expect(newChanges(memory, [at(0)])).toEqual([at(0)]);
	});

	it('stays where something is left for the next poll', () => {
		const memory = { watched: '', since: NOON, known: [] };
		const wanted = [at(10, 'a'), at(20, 'b'), at(30, 'c')];
		const polled = { wanted, upTo: NOON + 30, handled: wanted.slice(0, 1), now: LONG_AFTER };
		const next = remembering(memory, polled);
		expect(next.since).toBe(NOON + 20);
		expect(newChanges(next, wanted)).toEqual(wanted.slice(1));
	});

	it('forgets what lies before the overlap', () => {
		const memory = {
			watched: '',
			since: NOON,
			known: [['a', at(0).updatedAt] as [string, string]],
		};
		const upTo = NOON + OVERLAP_MS + 1;
		const next = remembering(memory, { wanted: [], upTo, handled: [], now: LONG_AFTER });
		expect(next.known).toEqual([]);
		expect(floorOf(next.since)).toBe(NOON + 1);
	});

	it('does not go ahead of our clock after a change that the server stamped with the future', () => {
		const memory = { watched: '', since: NOON, known: [] };
		const future = at(50 * OVERLAP_MS);
		const now = NOON + 60_000;
		const polled = { wanted: [future], upTo: future.at, handled: [future], now };
		const next = remembering(memory, polled);
		expect(newChanges(next, [future, at(70_000, 'b')])).toEqual([at(70_000, 'b')]);
	});
});
