import fc from 'fast-check';

import {
	cutOff,
	WRONG_BODIES,
	drop,
	gateway,
	hangs,
	noRoute,
	notNow,
	refusal,
	refusedConnection,
	stray404,
	tooMany,
	wrongBody,
} from './faults';
import type { Fault } from './faults';
import type { Troubles } from './keyServer';
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

/** What may befall a reading for a while. */
const passingFault: fc.Arbitrary<Fault> = fc.constantFrom(
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

/** What may befall the requests of a conversation with a key. */
export const anyTroubles: fc.Arbitrary<Troubles> = fc.record({
	lookups: faults(readFault, 6),
	creations: faults(runFault, 6),
	reads: faults(passingFault, 8),
	runs: faults(runFault, 6),
	runMs: moment,
});
