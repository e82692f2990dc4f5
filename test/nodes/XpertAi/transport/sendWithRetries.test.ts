import fc from 'fast-check';

import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import {
	OutageBudget,
	SINGLE_REQUEST_LIMITS,
	sendWithRetries,
} from '../../../../nodes/XpertAi/transport/sendWithRetries';
import type {
	RetriedOutcome,
	RetriedRequest,
} from '../../../../nodes/XpertAi/transport/sendWithRetries';
import { virtualTime } from '../../support/virtualTime';
import { answered, broken, failed, succeeded } from '../ingest/support/outcomes';

const REQUEST = { method: 'POST' as const, path: '/bulk', body: '[]', timeoutMs: 1000 };
const OK = succeeded();
const BUSY = answered(503);
const PAGE = failed({ kind: 'unreadable', status: 200 });
const TIMEOUT = failed({ kind: 'timeout' });
const CANCELLED = failed({ kind: 'cancelled' });
/** A 404 of the API for a route, and one of another server: while this API may answer, and before it ever did. */
const ROUTE = failed({ kind: 'status', status: 404, missing: 'route' });
const STRAY = failed({ kind: 'status', status: 404 });
const STRANGE = failed({ kind: 'status', status: 404, unanswered: true });

const within = (maxTries: number, seconds = 600) => ({
	limits: { maxTries, maxElapsedMs: seconds * 1000 },
});
const SINGLE = { limits: SINGLE_REQUEST_LIMITS };
const ONCE = { repeatable: false };
const KNOWS_BETTER = {
	stopRetrying: ({ status }: Failure, attempts: number) => status === 504 && attempts === 2,
};

/** Sends to a server that gives these outcomes one after another, and the last of them for ever. */
async function send(outcomes: Outcome[], changes: Partial<RetriedRequest> = {}, requestMs = 0) {
	const clock = virtualTime();
	const sent: unknown[] = [];
	const respond = async (request: unknown) => {
		clock.pass(requestMs);
		sent.push(request);
		return outcomes[sent.length - 1] ?? outcomes.at(-1) ?? OK;
	};
	const retried = { request: REQUEST, ...within(5), repeatable: true, clock, ...changes };
	const result = await sendWithRetries(respond, retried);
	return { ...result, waits: clock.waits, sent };
}

type Expected = Partial<RetriedOutcome> & { waits?: number[] };
type Row = [string, Outcome[], Expected, Partial<RetriedRequest>?, number?];

describe('sendWithRetries', () => {
	// The random number is 0.5: half of 500, 1000, 2000 and 4000 ms.
	it.each<Row>([
		['sends a success once', [OK], { attempts: 1, waits: [], mayBeDone: false }],
		[
			'retries unchanged with growing pauses',
			[BUSY, broken('ECONNRESET'), TIMEOUT, failed({ kind: 'unreadable', status: 201 }), OK],
			{ attempts: 5, waits: [250, 500, 1000, 2000], mayBeDone: true },
		],
		[
			'pauses half a minute at most',
			[BUSY],
			{ waits: [250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000] },
			within(9),
		],
		[
			'waits as long as the server asks',
			[answered(429, 7000), answered(503, 1), answered(503, 0), OK],
			{ waits: [7000, 500, 1000] },
		],
		['waits two seconds after a 429', [answered(429), OK], { waits: [2000] }],
		['waits two seconds after a 529', [answered(529), OK], { waits: [2000] }],
		['gives up after the last try', [BUSY, TIMEOUT, BUSY], { attempts: 3 }, within(3)],
		['gives up when the time is over', [BUSY], { waits: [250, 500, 1000] }, within(100, 3)],
		['counts the time of requests', [BUSY], { waits: [250] }, within(100, 3), 2000],
		['refuses a longer pause than is left', [answered(429, 3001)], { waits: [] }, within(9, 3)],
		['sends a single request three times', [BUSY], { attempts: 3 }, SINGLE],
		['waits 30 s for a single request', [answered(429, 30_000), OK], { attempts: 2 }, SINGLE],
		['waits no longer than 30 s for one', [answered(429, 30_001)], { attempts: 1 }, SINGLE],
		['does not retry a 400', [answered(400), OK], { attempts: 1, mayBeDone: false }],
		['does not retry a missing record', [answered(404), OK], { attempts: 1, mayBeDone: false }],
		['does not retry a 500', [answered(500), OK], { attempts: 1, mayBeDone: false }],
		['does not retry a cancelled request', [CANCELLED, OK], { attempts: 1 }],
		['stops when its caller says so', [answered(504)], { attempts: 2 }, KNOWS_BETTER],
		['goes on when its caller does not', [answered(504), BUSY, OK], { attempts: 3 }, KNOWS_BETTER],

		['retries a 404 of another server', [STRAY, STRAY, OK], { waits: [1000, 1000] }],
		['retries it as often as others', [STRAY], { attempts: 5 }],
		['gives up after three strange 404', [STRANGE], { attempts: 3 }, within(9)],
		['counts them in a row', [STRANGE, STRANGE, BUSY, STRANGE], { attempts: 6 }, within(9)],
		[
			'gives up after three answers that are none of this API',
			[PAGE],
			{ attempts: 3, waits: [1000, 1000], mayBeDone: true },
			within(9),
		],
		[
			'waits after a 404 as long as the server asks',
			[failed({ kind: 'status', status: 404, retryAfterMs: 7000 }), OK],
			{ waits: [7000] },
		],
		[
			'believes a missing route the second time',
			[ROUTE],
			{ attempts: 2, waits: [1000], mayBeDone: false },
		],
		['believes it twice in a row only', [ROUTE, BUSY, ROUTE, OK], { attempts: 4 }],
		['believes it after another 404', [ROUTE, STRAY, ROUTE, ROUTE], { attempts: 4 }],
		[
			'does not report a route that was missing once',
			[ROUTE],
			{ attempts: 1, outcome: STRAY, mayBeDone: false },
			within(1),
		],

		['repeats what was not done after ECONNREFUSED', [broken('ECONNREFUSED'), OK], {}, ONCE],
		['repeats what was not done after a 429', [answered(429), OK], { attempts: 2 }, ONCE],
		['repeats what was not done for want of a route', [ROUTE, OK], { attempts: 2 }, ONCE],
		['does not repeat what a 503 may have done', [BUSY], { attempts: 1, mayBeDone: true }, ONCE],
		['does not repeat what a page may hide', [PAGE], { attempts: 1, mayBeDone: true }, ONCE],
		['does not repeat after a stray 404', [STRAY], { attempts: 1, mayBeDone: true }, ONCE],
		...[answered(429), answered(400), answered(401), broken('ECONNREFUSED')].map(
			(last): Row => [
				'remembers that an earlier try may be done',
				[broken('ECONNRESET'), last],
				{ attempts: 2, mayBeDone: true },
				within(2),
			],
		),
	])('%s', async (...[, outcomes, expected, changes, requestMs]: Row) => {
		const { sent, ...result } = await send(outcomes, changes, requestMs);
		const last = outcomes[result.attempts - 1] ?? outcomes.at(-1);
		expect(result).toMatchObject({ outcome: last, ...expected });
		expect(sent).toEqual(Array.from({ length: result.attempts }, () => REQUEST));
		const { outcome, attempts } = result;
		if (!outcome.ok) expect(outcome.failure.attempts ?? 1).toBe(attempts);
		if (outcome === OK) expect(attempts).toBe(outcomes.length);
	});

	it('never goes over a limit', async () => {
		const transient = fc.constantFrom(answered(429), answered(503, 0), broken('EPIPE'));
		const asked = fc.nat({ max: 20_000 }).map((ms) => answered(429, ms));
		await fc.assert(
			fc.asyncProperty(
				fc.array(fc.oneof(transient, asked), { minLength: 1 }),
				fc.integer({ min: 1, max: 12 }),
				fc.integer({ min: 0, max: 60_000 }),
				async (outcomes, maxTries, maxElapsedMs) => {
					const { attempts, waits } = await send(outcomes, { limits: { maxTries, maxElapsedMs } });
					expect(attempts).toBeLessThanOrEqual(maxTries);
					expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(maxElapsedMs);
				},
			),
		);
	});

	it('ends a pause when the execution is stopped', async () => {
		const stop = new AbortController();
		const sleep = async (_: number, signal?: AbortSignal) => {
			stop.abort();
			expect(signal).toBe(stop.signal);
		};
		const changes = { clock: { ...virtualTime(), sleep }, signal: stop.signal };
		const { outcome, sent, mayBeDone } = await send([answered(504, 9000), OK], changes);
		expect(outcome).toMatchObject({ failure: { kind: 'cancelled', method: 'POST' } });
		expect([sent.length, mayBeDone]).toEqual([1, true]);
	});
});

describe('OutageBudget', () => {
	const AWAY = answered(502);

	it.each<[string, number[], Outcome[]]>([
		['waits for the server once', [3, 1, 1, 1], [AWAY, AWAY, AWAY, AWAY, AWAY, OK, AWAY]],
		['waits again after a success', [3, 1, 3], [AWAY, AWAY, AWAY, OK, AWAY, AWAY]],
		['waits again after a rejection', [3, 1, 3], [AWAY, AWAY, AWAY, answered(400), AWAY, AWAY]],
	])('%s', async (_, tries, answers) => {
		const budget = new OutageBudget({ maxTries: 3, maxElapsedMs: Infinity });
		const counts: number[] = [];
		for (const index of tries.keys()) {
			const respond = async () => {
				counts[index] = (counts[index] ?? 0) + 1;
				return answers.shift() ?? OK;
			};
			await budget.send(respond, { request: REQUEST, clock: virtualTime() });
		}
		expect(counts).toEqual(tries);
	});
});
