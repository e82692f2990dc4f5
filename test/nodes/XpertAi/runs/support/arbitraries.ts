import fc from 'fast-check';

import {
	brokenStream,
	cutOff,
	WRONG_BODIES,
	drop,
	endedStream,
	endlessStream,
	gateway,
	hangs,
	noRoute,
	notNow,
	refusal,
	refusedConnection,
	silentStream,
	stray404,
	tooMany,
	wrongBody,
} from './faults';
import type { Fault } from './faults';
import type { Troubles } from './keyServer';
import type { OtherRun, World } from './modelServer';
import { MINUTE, SECOND } from './run';

const moment = fc.constantFrom(0, 1, SECOND, 30 * SECOND, MINUTE, 5 * MINUTE, 20 * MINUTE);
const arrives = fc.boolean();
const askedToWait = fc.constantFrom(0, SECOND, 40 * SECOND, 10 * MINUTE);

/** What may befall a run's request. */
const runFault: fc.Arbitrary<Fault> = fc.oneof(
	fc.constantFrom(refusedConnection, cutOff, tooMany()),
	askedToWait.map(tooMany),
	askedToWait.map(notNow),
	fc.tuple(arrives, moment).map(([there, afterMs]) => drop(there, afterMs)),
	fc
		.tuple(fc.constantFrom(408, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530), arrives, moment)
		.map(([status, there, afterMs]) => gateway(status, there, afterMs)),
	arrives.map(hangs),
	arrives.map(stray404),
	fc.constant(noRoute),
	fc
		.tuple(fc.constantFrom(...WRONG_BODIES), arrives)
		.map(([answer, there]) => wrongBody(answer, there)),
	fc.constantFrom(400, 401, 403, 404, 413, 422, 500).map(refusal),
);

/** What may befall a run that is heard, before its first event, in its middle or at its end. */
const streamFault: fc.Arbitrary<Fault> = fc.oneof(
	runFault,
	fc
		.tuple(fc.constantFrom(brokenStream, endedStream, silentStream, endlessStream), fc.nat(8))
		.map(([kind, heard]) => kind(heard)),
);

/** What may befall a reading for a while. */
export const passingFault: fc.Arbitrary<Fault> = fc.constantFrom(
	drop(false),
	gateway(502, false, SECOND),
	gateway(503, false, 0),
	gateway(504, false, 20 * SECOND),
	gateway(522, false, SECOND),
	tooMany(SECOND),
	refusedConnection,
	cutOff,
	hangs(false),
	stray404(),
	...WRONG_BODIES.map((answer) => wrongBody(answer, false)),
);

/** What may befall a reading for good. */
const readFault: fc.Arbitrary<Fault> = fc.oneof(
	passingFault,
	fc.constantFrom(401, 403, 404, 500).map(refusal),
);

const faults = (fault: fc.Arbitrary<Fault>, maxLength: number) =>
	fc.array(fc.option(fault, { nil: undefined, freq: 3 }), { maxLength });

/** A run of somebody else at any moment; in the very same words, it could not be told from ours. */
const anyOther: fc.Arbitrary<OtherRun> = fc.record({
	text: fc.constant('a question of Bert'),
	fromMs: fc.nat(10 * MINUTE),
	runMs: moment,
	outcome: fc.constantFrom('answer' as const, 'fail' as const, 'interrupt' as const),
});

/** Any world; `reading` says what may befall readings. */
export function anyWorld(reading: fc.Arbitrary<Fault> = readFault): fc.Arbitrary<World> {
	const world = fc.record({
		kind: fc.constantFrom(
			...(['message', 'message', 'message', 'decision', 'reject', 'retry'] as const),
		),
		outcome: fc.constantFrom(
			'answer' as const,
			'unsaid' as const,
			'empty' as const,
			'nothing' as const,
			'cancel' as const,
			'fail' as const,
			'interrupt' as const,
		),
		runMs: fc.oneof(moment, fc.nat(40 * MINUTE)),
		earlier: fc.option(
			fc.constantFrom(
				'idle' as const,
				'error' as const,
				'interrupted' as const,
				'cancelled' as const,
			),
			{ nil: undefined },
		),
		otherUntilMs: fc.constantFrom(0, 0, 1, 12 * SECOND, 7 * MINUTE),
		nextMs: fc.constantFrom(0, 0, 20 * SECOND, 3 * MINUTE),
		firstStepMs: fc.constantFrom(0, 0, 2 * SECOND, 20 * SECOND),
		bert: fc.option(anyOther, { nil: undefined, freq: 2 }),
		runs: faults(runFault, 7),
		isHeard: fc.boolean(),
		streams: faults(streamFault, 7),
		reads: faults(reading, 10),
		searches: faults(passingFault, 2),
	});
	return world.map((one) => ({
		...one,
		// The next run hides what became of ours, unless it is an answer, which stays.
		nextMs: one.outcome === 'answer' ? one.nextMs : 0,
		// A decision is for a thread that waits, and which nobody else runs on meanwhile.
		...(one.kind === 'decision' || one.kind === 'reject'
			? { earlier: 'interrupted' as const, otherUntilMs: 0, bert: undefined }
			: {}),
		// After a rejection the thread ends with the call, which the next question hides.
		...(one.kind === 'reject' ? { nextMs: 0 } : {}),
		// What becomes of answering again is recorded for a thread that is idle.
		...(one.kind === 'retry' ? { earlier: 'idle' as const, otherUntilMs: 0 } : {}),
	}));
}

/** What may befall the requests of a conversation with a key. */
export const anyTroubles: fc.Arbitrary<Troubles> = fc.record({
	lookups: faults(readFault, 6),
	creations: faults(runFault, 6),
	reads: faults(passingFault, 8),
	runs: faults(runFault, 6),
	runMs: moment,
});

/** Any way the node is asked to run. */
export const anySettings = fc.record({
	whenBusy: fc.constantFrom('wait' as const, 'fail' as const),
	deadlineMs: fc.constantFrom(1, 600, 90 * SECOND, 15 * MINUTE, 120 * MINUTE),
	stopAfterMs: fc.option(fc.nat(20 * MINUTE), { nil: Infinity, freq: 2 }),
});
