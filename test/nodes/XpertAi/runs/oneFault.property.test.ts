import { faultsAt, streamFaultsAt } from './support/faults';
import { ANSWER, TASKS } from './support/modelServer';
import type { World } from './support/modelServer';
import { SECOND, run } from './support/run';
import type { Course } from './support/run';

const OUTCOMES = ['answer', 'unsaid', 'empty', 'nothing', 'fail', 'cancel', 'interrupt'] as const;

/** Runs of each kind with each outcome, on threads as earlier runs have left them. */
const WORLDS: World[] = OUTCOMES.flatMap((outcome): World[] => [
	...(['idle', 'error', 'cancelled', undefined] as const).map((earlier) => ({ outcome, earlier })),
	{ outcome, earlier: 'interrupted' },
	{ outcome, earlier: 'interrupted', kind: 'decision' },
	{ outcome, earlier: 'idle', kind: 'retry' },
]);
WORLDS.push({ kind: 'reject', earlier: 'interrupted' });

const ENDPOINTS = { E4: 'runs', stream: 'streams', E5: 'searches', E15: 'reads' } as const;

/** What a verdict may say of what became of the run. */
function expectNoFalseWord(
	{ verdict, server, heard }: Course,
	{ outcome = 'answer', kind }: World,
): void {
	const { status, output, reason = '' } = verdict;
	expect(ANSWER.startsWith(heard.join(''))).toBe(true);
	if (reason.includes('still going on')) expect(server.isUnderWay()).toBe(true);
	expect(server.arrivals.length).toBeLessThanOrEqual(1);
	expect(verdict).not.toHaveProperty('remembered');
	if (status === 'completed' || status === 'interrupted') expect(server.arrivals).toHaveLength(1);
	if (status === 'completed') {
		const replies = { answer: ANSWER, unsaid: ANSWER, empty: '', nothing: undefined };
		expect(output).toBe(
			kind === 'reject' ? '' : { fail: 0, cancel: 0, interrupt: 0, ...replies }[outcome],
		);
		expect(verdict.rejected).toBe(kind === 'reject' ? true : undefined);
	}
	if (status === 'interrupted') {
		expect(outcome).toBe('interrupt');
		expect(verdict.interrupt).toEqual(TASKS);
	}
	expect(reason).not.toContain('an older reason');
	if (reason.includes('did not reach')) expect(server.arrivals).toEqual([]);
	if (reason.startsWith('The run failed')) expect(outcome).toBe('fail');
	if (reason.startsWith('The run was cancelled')) expect(outcome).toBe('cancel');
	if (reason.includes('was carried out')) expect('never').toBe('said of a rejection that counts');
	if (status === 'failed' || status === 'timedOut')
		expect(verdict.reason ?? verdict.failure).toBeTruthy();
}

describe('a run with one fault at one of its requests', () => {
	it.each([
		[0, 'waited for', false],
		[9 * SECOND, 'waited for', false],
		[0, 'heard', true],
		[9 * SECOND, 'heard', true],
	])('says nothing false (runs of %i ms, %s)', async (runMs, _, isHeard) => {
		for (const [number, given] of WORLDS.entries()) {
			const world = { ...given, isHeard };
			const clean = await run({ ...world, runMs });
			expectNoFalseWord(clean, world);
			for (const [endpoint, kind] of Object.entries(ENDPOINTS)) {
				for (const place of clean.server.of(endpoint as keyof typeof ENDPOINTS).keys()) {
					const faultsOf = endpoint === 'stream' ? streamFaultsAt : faultsAt;
					for (const fault of faultsOf(number + place)) {
						const faults = [...Array.from({ length: place }, () => undefined), fault];
						const course = await run({ ...world, runMs, [kind]: faults });
						expectNoFalseWord(course, world);
					}
				}
			}
		}
	});
});
