import fc from 'fast-check';
import { get } from 'lodash';

import { systemClock } from '../../../nodes/XpertAi/transport/clock';
import { errorFlaw, idFlaw, namesFor, requestFlaw } from '../../engine/support/hostileJudge';
import { call } from '../../engine/support/hostileRun';
import type { CallOutcome } from '../../engine/support/hostileRun';
import { TARGETS_BY_OPERATION, placed } from '../../engine/support/hostileTargets';
import type { Target } from '../../engine/support/hostileTargets';
import { builtIns, deepFreeze, everyKind, hostileValue } from '../../engine/support/hostileValues';

const ORIGIN = 'https://api.example.com';
const LONGEST_MS = 2000;
const COMBINATIONS = 100;

/** Frozen, so that the calls can share them. */
const KINDS = deepFreeze(everyKind());

/** Why a call did not end as it must, if it did not. */
function flawOf(targets: Target[], all: Target[], value: unknown, outcome: CallOutcome) {
	if (outcome.milliseconds > LONGEST_MS) return `it took ${Math.round(outcome.milliseconds)} ms`;
	const [target] = targets;
	for (const request of outcome.requests) {
		const flaw =
			(target && requestFlaw(request, target.operation, ORIGIN)) ??
			(target && targets.length === 1 ? idFlaw(request, target.operation, value) : undefined);
		if (flaw) return flaw;
	}
	if (outcome.error === undefined) {
		// A body of no documents is nothing to send, and a refusal may come out as a reply.
		const mayBeEmpty = targets.some(
			({ path }) => path[0] === 'jsonBody' || path.at(-1) === 'failuresAsReplies',
		);
		return outcome.requests.length > 0 || mayBeEmpty ? undefined : 'neither a request nor an error';
	}
	// Which calls wait for a person only the server knows.
	const isCall = targets.some(({ path }) => path.at(-1) === 'changedArguments');
	if (isCall && /a call that does not wait$/.test(String(get(outcome.error, 'message'))))
		return undefined;
	if (outcome.requests.length > 0) return `an error after a request: ${String(outcome.error)}`;
	return errorFlaw(outcome.error, namesFor(targets, all));
}

/** Half of the kinds for one place, the other half for the next: every parameter type gets all. */
function inTurn<Kind>(kinds: Kind[], turn: number): Kind[] {
	return kinds.filter((_, index) => (index + turn) % 2 === 0);
}

let cases = 0;
const before = builtIns();

// Nothing here is about waiting.
beforeAll(() => void jest.spyOn(systemClock, 'sleep').mockResolvedValue());
afterAll(() => {
	jest.restoreAllMocks();
	if (process.env.HOSTILE_REPORT) console.log(cases);
	expect(cases).toBeGreaterThan(10_000);
});

describe.each(TARGETS_BY_OPERATION)('$title', ({ targets }) => {
	it('takes every kind of value in every place for what it is, or says which place does not', async () => {
		const flaws: string[] = [];
		for (const [index, target] of targets.entries()) {
			for (const { kind, value } of inTurn(KINDS, index)) {
				const outcome = await call(placed(target, value));
				const flaw = flawOf([target], targets, value, outcome);
				if (flaw) flaws.push(`${target.title} = ${kind}: ${flaw}`);
				cases += 1;
			}
		}
		expect(flaws).toEqual([]);
	});

	it('holds any values in any two places at once', async () => {
		const place = fc.constantFrom(...targets);
		await fc.assert(
			fc.asyncProperty(
				place,
				place,
				hostileValue,
				hostileValue,
				async (one, other, value, second) => {
					const first = placed(one, value);
					const { parameters } = placed(
						{ ...other, good: () => first.parameters, column: false },
						other.column ? undefined : second,
					);
					const outcome = await call({ parameters, json: first.json });
					cases += 1;
					expect(flawOf([one, other], targets, value, outcome)).toBeUndefined();
				},
			),
			{ numRuns: COMBINATIONS },
		);
	});
});

it('leaves the prototypes of the language as they were', () => {
	expect(builtIns()).toEqual(before);
	expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
});
