import { isEqual, pickBy } from 'lodash';

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

/** What a verdict may not say of what became of the run: whether it says so. */
function falseWords(
	{ verdict, server, heard }: Course,
	{ outcome = 'answer', kind }: World,
): Record<string, boolean> {
	const { status, output, reason = '' } = verdict;
	const arrived = server.arrivals.length;
	const replies = { answer: ANSWER, unsaid: ANSWER, empty: '', nothing: undefined };
	const reply = kind === 'reject' ? '' : { fail: 0, cancel: 0, interrupt: 0, ...replies }[outcome];
	const isRejected = kind === 'reject' ? true : undefined;
	const isCompleted = status === 'completed';
	const isInterrupted = status === 'interrupted';
	return {
		'pieces that are not of the answer': !ANSWER.startsWith(heard.join('')),
		'going on, when it was over': reason.includes('still going on') && !server.isUnderWay(),
		'begun twice': arrived > 1,
		'something remembered': 'remembered' in verdict,
		'over, when it never began': (isCompleted || isInterrupted) && arrived !== 1,
		'another reply': isCompleted && output !== reply,
		'rejected, or not': isCompleted && verdict.rejected !== isRejected,
		'interrupted, when it was not': isInterrupted && outcome !== 'interrupt',
		'other tasks': isInterrupted && !isEqual(verdict.interrupt, TASKS),
		'the reason of an older run': reason.includes('an older reason'),
		'not reached, when it was': reason.includes('did not reach') && arrived > 0,
		'failed, when it did not': reason.startsWith('The run failed') && outcome !== 'fail',
		'cancelled, when it was not':
			reason.startsWith('The run was cancelled') && outcome !== 'cancel',
		'a rejection that counts': reason.includes('was carried out'),
		'no reason':
			(status === 'failed' || status === 'timedOut') && !(verdict.reason ?? verdict.failure),
	};
}

/** Asks jest only of what is false: asked of each word of a hundred thousand runs, it would take half of the time. */
function expectNoFalseWord(course: Course, world: World): void {
	const said = Object.keys(pickBy(falseWords(course, world)));
	if (said.length > 0) expect({ world, verdict: course.verdict, said }).toMatchObject({ said: [] });
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
