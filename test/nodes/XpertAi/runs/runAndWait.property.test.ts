import fc from 'fast-check';
import { omit } from 'lodash';

import { anySettings, anyWorld, passingFault } from './support/arbitraries';
import { ANSWER, CANCELLED, REASON, TASKS } from './support/modelServer';
import type { Fault } from './support/faults';
import type { World } from './support/modelServer';
import { MINUTE, SECOND, run } from './support/run';
import type { Course } from './support/run';
import { PROPERTY_RUNS } from '../../../support/propertyRuns';

/** The proofs ask for more. A run goes through hours, so that it takes longer than one of others. */
const RUNS = Math.ceil(PROPERTY_RUNS / 4);

const ONE_POLL_MS = 30 * SECOND;
const CERTAIN_CODES = new Set(['ECONNREFUSED']);

/** Whether the node could be certain that a request had not arrived. */
function certainlyDidNotArrive({ fault }: Course['server']['seen'][0]): boolean {
	const { status, code, retryAfterMs, missing } = fault?.failure ?? {};
	if (missing === 'route') return true;
	if (code !== undefined) return CERTAIN_CODES.has(code);
	return status === 429 || (status === 503 && retryAfterMs !== undefined);
}

/** Checks something for any world and any settings. */
async function inAnyCourse(
	check: (course: Course, world: World) => void,
	worlds: fc.Arbitrary<World> = anyWorld(),
	settings: typeof anySettings = anySettings,
): Promise<void> {
	await fc.assert(
		fc.asyncProperty(worlds, settings, async (world, how) => check(await run(world, how), world)),
		{ numRuns: RUNS },
	);
}

/** Worlds whose thread can be read, if not at every moment: only there can an older answer be told. */
const readable = anyWorld(passingFault);

describe('whatever happens, a run', () => {
	it('comes to exactly one of the five verdicts, within the deadline and one poll', async () => {
		await inAnyCourse(({ verdict, tookMs, deadlineMs }) => {
			expect(['completed', 'interrupted', 'failed', 'timedOut', 'cancelled']).toContain(
				verdict.status,
			);
			expect(tookMs).toBeLessThanOrEqual(deadlineMs + ONE_POLL_MS);
		});
	});

	it('reaches the server once at most, and is sent again only after it certainly did not', async () => {
		await inAnyCourse(({ server }) => {
			expect(server.arrivals.length).toBeLessThanOrEqual(1);
			expect(
				server
					.begun()
					.slice(0, -1)
					.filter((sent) => !certainlyDidNotArrive(sent)),
			).toEqual([]);
		});
	});

	it('is completed only with its own answer, and interrupted only by its own question', async () => {
		await inAnyCourse(({ verdict, server }, { outcome, kind }) => {
			expect(verdict.rejected === true).toBe(kind === 'reject' && verdict.status === 'completed');
			if (verdict.status === 'completed') {
				expect(server.arrivals).toHaveLength(1);
				if (kind === 'reject') expect(verdict.output).toBe('');
				else
					expect({ answer: ANSWER, unsaid: ANSWER, empty: '' }).toHaveProperty(
						outcome ?? '',
						verdict.output,
					);
			}
			if (verdict.status === 'interrupted') {
				expect(server.arrivals).toHaveLength(1);
				expect(outcome).toBe('interrupt');
				expect(verdict.interrupt).toEqual(TASKS);
			}
		}, readable);
	});

	it('says why when there is no answer, and never an older reason', async () => {
		await inAnyCourse(({ verdict }) => {
			if (verdict.status === 'completed' || verdict.status === 'interrupted') return;
			expect(verdict.reason ?? verdict.failure).toBeTruthy();
			expect(verdict.reason ?? '').not.toContain('an older reason');
		}, readable);
	});

	it('comes to the same verdict whether it is heard or not', async () => {
		/** Nothing goes wrong on the way, and nobody else runs on the thread: there, hearing a run tells more. */
		const calm = anyWorld().map(
			(world): World => ({
				...world,
				runs: [],
				streams: [],
				reads: [],
				searches: [],
				bert: undefined,
			}),
		);
		const settings = { deadlineMs: 120 * MINUTE };
		await fc.assert(
			fc.asyncProperty(calm, async (world) => {
				const [silent, heard] = await Promise.all(
					[false, true].map(async (isHeard) => await run({ ...world, isHeard }, settings)),
				);
				// The request that it is about is another one.
				const verdicts = [silent, heard].map((course) => omit(course?.verdict, 'failure'));
				expect(verdicts[1]).toEqual(verdicts[0]);
			}),
			{ numRuns: RUNS },
		);
	});

	it('is heard once and in order, however often its stream breaks', async () => {
		await inAnyCourse(({ verdict, server, heard }, { outcome = 'answer' }) => {
			expect(ANSWER.startsWith(heard.join(''))).toBe(true);
			const { status, recovered } = verdict;
			const isHeard = server.of('stream').length > 0 && server.of('E4').length === 0;
			if (isHeard && status === 'completed' && !recovered && outcome === 'answer')
				expect(heard.join('')).toBe(ANSWER);
		});
	});

	it('gives every request a time limit that ends with the deadline', async () => {
		await inAnyCourse(({ server, deadlineMs }) => {
			for (const { at, timeoutMs, wholeMs = timeoutMs } of server.seen) {
				expect(timeoutMs).toBeGreaterThan(0);
				expect(at + wholeMs).toBeLessThanOrEqual(deadlineMs + ONE_POLL_MS);
			}
		});
	});

	it('is cancelled at once when the execution is stopped, and sends nothing more', async () => {
		const stopped = anySettings.filter(({ stopAfterMs }) => stopAfterMs < Infinity);
		await inAnyCourse(
			({ verdict, server, time, tookMs }) => {
				expect(server.sentAfterStop).toBe(0);
				if (!time.signal.aborted) return;
				expect(verdict.status).toBe('cancelled');
				expect(tookMs).toBe(time.elapsed());
			},
			anyWorld(),
			stopped,
		);
	});

	it('does not begin beside another run on the thread', async () => {
		await inAnyCourse(({ server }) => expect(server.overlaps).toBe(0), readable);
	});
});

describe('with time enough and readings that fail only for a while, a run', () => {
	/** A run that hangs until the deadline has not time enough, unless it is heard and nothing comes at all. */
	const hangs = (fault?: Fault) =>
		fault?.failure.kind === 'timeout' && (fault.heard === undefined || fault.afterMs !== undefined);
	const worlds = readable.filter(
		({ runs = [], streams = [] }) => !runs.some(hangs) && !streams.some(hangs),
	);
	const patient = fc.record({
		whenBusy: fc.constant('wait' as const),
		deadlineMs: fc.constant(600 * MINUTE),
		stopAfterMs: fc.constant(Infinity),
	});

	it('that arrived is judged by what became of it', async () => {
		const judged = {
			answer: 'completed',
			unsaid: 'completed',
			empty: 'completed',
			fail: 'failed',
			interrupt: 'interrupted',
			nothing: 'failed',
			cancel: 'failed',
		};
		await inAnyCourse(
			({ verdict, server }, { outcome = 'answer', kind }) => {
				if (server.arrivals.length === 0) return;
				expect(verdict.status).toBe(kind === 'reject' ? 'completed' : judged[outcome]);
				if (kind === 'reject') return;
				if (outcome === 'fail') expect(verdict.reason).toContain(REASON);
				if (outcome === 'cancel') expect(verdict.reason).toContain(CANCELLED);
			},
			// Two readings of the reason that fail leave it unknown, and so does somebody else's run.
			worlds.map((world) => ({ ...world, searches: [], bert: undefined })),
			patient,
		);
	});

	it('that did not arrive has failed', async () => {
		await inAnyCourse(
			({ verdict, server }, { kind, earlier, bert }) => {
				if (server.arrivals.length > 0) return;
				// Of these, the server shows nothing before they have ended: that they did not arrive cannot be told.
				const waits = [earlier, bert?.outcome].some((one) => one?.startsWith('interrupt'));
				const hidden = kind !== 'message' || waits || earlier === 'cancelled';
				expect(hidden ? ['failed', 'timedOut'] : ['failed']).toContain(verdict.status);
			},
			worlds,
			patient,
		);
	});

	it('is said not to have reached the assistant only if it has not', async () => {
		await inAnyCourse(
			({ verdict, server }) => {
				if (!verdict.reason?.includes('did not reach')) return;
				expect(server.arrivals).toEqual([]);
			},
			worlds,
			patient,
		);
	});
});
