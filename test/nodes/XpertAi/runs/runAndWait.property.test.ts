import fc from 'fast-check';

import { openConversation } from '../../../../nodes/XpertAi/runs/conversation';
import { runAndWait } from '../../../../nodes/XpertAi/runs/runAndWait';
import type { Verdict } from '../../../../nodes/XpertAi/runs/verdict';
import { virtualTime } from '../../support/virtualTime';
import { anySettings, anyTroubles, anyWorld, passingFault } from './support/arbitraries';
import { KeyServer, answerTo } from './support/keyServer';
import { ANSWER, CANCELLED, REASON, TASKS } from './support/modelServer';
import type { World } from './support/modelServer';
import { MINUTE, SECOND, run, saying } from './support/run';
import type { Course } from './support/run';

/** The proofs ask for more. A run goes through hours, so that it takes longer than one of others. */
const RUNS = Math.ceil(Number(process.env.PROPERTY_RUNS ?? 240) / 4);

const ONE_POLL_MS = 30 * SECOND;
const CERTAIN_CODES = new Set(['ECONNREFUSED']);

/** Whether the node could be certain that a request had not arrived. */
function certainlyDidNotArrive({ fault }: Course['server']['seen'][0]): boolean {
	const { status, code, retryAfterMs } = fault?.failure ?? {};
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
					.of('E4')
					.slice(0, -1)
					.filter((sent) => !certainlyDidNotArrive(sent)),
			).toEqual([]);
		});
	});

	it('is completed only with its own answer, and interrupted only by its own question', async () => {
		await inAnyCourse(({ verdict, server }, { outcome }) => {
			if (verdict.status === 'completed') {
				expect(server.arrivals).toHaveLength(1);
				expect({ answer: ANSWER, unsaid: ANSWER, empty: '' }).toHaveProperty(
					outcome ?? '',
					verdict.reply,
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

	it('gives every request a time limit that ends with the deadline', async () => {
		await inAnyCourse(({ server, deadlineMs }) => {
			for (const { at, timeoutMs } of server.seen) {
				expect(timeoutMs).toBeGreaterThan(0);
				expect(at + timeoutMs).toBeLessThanOrEqual(deadlineMs + ONE_POLL_MS);
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
	/** A run that hangs until the deadline has not time enough. */
	const worlds = readable.filter(
		({ runs }) => !runs?.some((one) => one?.failure.kind === 'timeout'),
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
			({ verdict, server }, { outcome = 'answer' }) => {
				if (server.arrivals.length === 0) return;
				expect(verdict.status).toBe(judged[outcome]);
				if (outcome === 'fail') expect(verdict.reason).toContain(REASON);
				if (outcome === 'cancel') expect(verdict.reason).toContain(CANCELLED);
			},
			// Two readings of the reason that fail leave it unknown.
			worlds.map((world) => ({ ...world, searches: [] })),
			patient,
		);
	});

	it('that did not arrive has failed', async () => {
		await inAnyCourse(
			({ verdict, server }, { kind, earlier }) => {
				if (server.arrivals.length > 0) return;
				// Of these, the server shows nothing before they have ended: that they did not arrive cannot be told.
				const hidden = kind === 'decision' || earlier === 'interrupted' || earlier === 'cancelled';
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

describe('a conversation with a key, whatever happens to its requests', () => {
	const THREAD = 'the thread of the key';
	const MESSAGES = ['one', 'two', 'three'];

	/** Says the messages under one key, each in an execution of its own. */
	async function sayAll(server: KeyServer, time: ReturnType<typeof virtualTime>) {
		const verdicts: Array<Verdict | undefined> = [];
		for (const message of MESSAGES) {
			const given = { send: server.send, clock: time, signal: time.signal };
			const opened = await openConversation(given, THREAD, { title: message }, MINUTE);
			if (!opened || 'failure' in opened) {
				verdicts.push(undefined);
				continue;
			}
			expect(opened.threadId).toBe(THREAD);
			verdicts.push(
				await runAndWait({
					...given,
					threadId: opened.threadId,
					body: saying(message),
					isNew: false,
					whenBusy: 'wait',
					deadline: time.now() + 15 * MINUTE,
				}),
			);
		}
		return verdicts;
	}

	it('is one conversation on one thread, and each message is said once', async () => {
		await fc.assert(
			fc.asyncProperty(anyTroubles, async (troubles) => {
				const time = virtualTime();
				const server = new KeyServer(troubles, time);
				const verdicts = await sayAll(server, time);
				expect([[], [THREAD]]).toContainEqual(server.conversations);
				expect(server.overlaps).toBe(0);
				for (const [index, message] of MESSAGES.entries()) {
					const times = server.runs.filter(({ text }) => text === message).length;
					expect(times).toBeLessThanOrEqual(1);
					if (verdicts[index]?.status !== 'completed') continue;
					expect(times).toBe(1);
					expect(verdicts[index].reply).toBe(answerTo(message));
				}
			}),
			{ numRuns: RUNS },
		);
	});

	it('gets every message where nothing goes wrong', async () => {
		const time = virtualTime();
		const server = new KeyServer({ runMs: SECOND }, time);
		const verdicts = await sayAll(server, time);
		expect(verdicts.map((verdict) => verdict?.reply)).toEqual(MESSAGES.map(answerTo));
		expect(server.runs.map(({ text }) => text)).toEqual(MESSAGES);
	});
});
