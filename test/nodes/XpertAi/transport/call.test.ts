import fc from 'fast-check';
import { z } from 'zod';

import type { Failure } from 'nodes/XpertAi/transport/failure';
import type { ApiRequest, RequestOutcome } from 'nodes/XpertAi/transport/request';
import { anySuccessfulAnswer } from 'nodes/XpertAi/transport/answerSchemas';
import { call, OutageBudget } from 'nodes/XpertAi/transport/call';
import type { ApiClient, RetryableRequest, CallResult } from 'nodes/XpertAi/transport/call';

import { parsing } from '../../support/send';
import { virtualTime } from '../../support/virtualTime';
import { answered, broken, failed, succeeded } from '../ingest/support/outcomes';

const REQUEST = { method: 'POST', path: '/bulk', body: '[]', schema: anySuccessfulAnswer } as const;
const OK = succeeded();
const BUSY = answered(503);
const PAGE = failed({ kind: 'unreadable', status: 200 });
const TIMEOUT = failed({ kind: 'timeout' });
const CANCELLED = failed({ kind: 'cancelled' });
/** A 404 of the API for a route, and one of another server: while this API may answer, and before it ever did. */
const ROUTE = failed({ kind: 'status', status: 404, missing: 'route' });
const STRAY = failed({ kind: 'status', status: 404 });
const STRANGE = failed({ kind: 'status', status: 404, hasServerNeverAnswered: true });

type Changes = Partial<Omit<ApiClient & RetryableRequest<unknown>, 'send' | 'clock'>>;

/** Limits other than those of a single request, which are 3 tries in 30 s. */
const within = (maxTries: number, seconds = 600) => ({
	outageBudget: new OutageBudget({ maxTries, maxElapsedMs: seconds * 1000 }),
});
const ONCE = { ...within(5), repeatable: false };
const BY_THEN = { ...within(5, 1), deadline: 40_000 };
const KNOWS_BETTER = {
	...within(5),
	shouldStopRetrying: ({ status }: Failure, attempts: number) => status === 504 && attempts === 2,
};

/** Calls a server that gives these outcomes one after another, and the last of them for ever. */
async function send(
	outcomes: RequestOutcome[],
	{ deadline, signal, outageBudget, ...request }: Changes = {},
	{ requestMs = 0, clock = virtualTime() } = {},
) {
	const sent: unknown[] = [];
	const respond = parsing((one) => {
		clock.pass(requestMs);
		sent.push(one);
		return outcomes[sent.length - 1] ?? outcomes.at(-1) ?? OK;
	});
	const inMs = deadline === undefined ? undefined : clock.now() + deadline;
	const client = { send: respond, clock, signal, deadline: inMs, outageBudget };
	const result = await call(client, { ...REQUEST, repeatable: true, ...request });
	return { ...result, waits: clock.waits, sent };
}

type Expected = Partial<CallResult<unknown>> & { waits?: number[] };
type Row = [string, RequestOutcome[], Expected, Changes?, number?];

describe('call', () => {
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
		['sends a single request three times', [BUSY], { attempts: 3 }, {}],
		['sends it as often as it is to be', [BUSY], { attempts: 5 }, { maxTries: 5 }],
		['waits 30 s for a single request', [answered(429, 30_000), OK], { attempts: 2 }, {}],
		['waits no longer than 30 s for one', [answered(429, 30_001)], { attempts: 1 }, {}],
		['waits until the deadline', [answered(429, 40_000), OK], { attempts: 2 }, BY_THEN],
		['waits no longer', [answered(429, 40_001)], { attempts: 1 }, BY_THEN],
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
			{ attempts: 1, mayBeDone: false, failure: { missing: undefined, attempts: 1 } as Failure },
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
	])('%s', async (...[, outcomes, expected, changes = within(5), requestMs]: Row) => {
		const { sent, ...result } = await send(outcomes, changes, { requestMs });
		const last = outcomes[result.attempts - 1] ?? outcomes.at(-1);
		expect(result).toMatchObject({ ...last, ...expected });
		const request = { ...REQUEST, timeoutMs: 30_000 };
		expect(sent).toEqual(Array.from({ length: result.attempts }, () => request));
		if (!result.ok) expect(result.failure.attempts ?? 1).toBe(result.attempts);
		else expect(result.attempts).toBe(outcomes.length);
	});

	it('parses the answer, and retries one that is not what it should be', async () => {
		const schema = z.object({ id: z.string() });
		const answers = [succeeded({ id: 1 }), succeeded({ id: 'a', more: true })];
		expect(await send(answers, { schema })).toMatchObject({ attempts: 2, answer: { id: 'a' } });
		const reason = 'it holds no id';
		const flawed = { ok: false, failure: { kind: 'unreadable', reason }, mayBeDone: true };
		expect(await send([succeeded({})], { schema })).toMatchObject(flawed);
	});

	it('makes the body anew for each attempt, as sending consumes it', async () => {
		const { sent } = await send([BUSY, OK], { body: () => new FormData(), timeoutMs: 5 });
		const [first, second] = sent as ApiRequest[];
		expect([first?.body, second?.body]).toEqual([expect.any(FormData), expect.any(FormData)]);
		expect(first?.body).not.toBe(second?.body);
		expect(first?.timeoutMs).toBe(5);
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
					const outageBudget = new OutageBudget({ maxTries, maxElapsedMs });
					const { attempts, waits } = await send(outcomes, { outageBudget });
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
		const clock = { ...virtualTime(), sleep };
		const result = await send([answered(504, 9000), OK], { signal: stop.signal }, { clock });
		const failure = { kind: 'cancelled', method: 'POST', path: expect.any(String) as string };
		expect(result).toMatchObject({ failure, mayBeDone: true });
		expect(result.sent).toHaveLength(1);
	});
});

describe('OutageBudget', () => {
	const AWAY = answered(502);

	type BudgetRow = [string, number[], RequestOutcome[], boolean?];

	it.each<BudgetRow>([
		['waits for the server once', [3, 1, 1, 1], [AWAY, AWAY, AWAY, AWAY, AWAY, OK, AWAY]],
		['waits again after a success', [3, 1, 3], [AWAY, AWAY, AWAY, OK, AWAY, AWAY]],
		['waits again after a rejection', [3, 1, 3], [AWAY, AWAY, AWAY, answered(400), AWAY, AWAY]],
		['waits again after a stop', [2, 3, 1], [AWAY, AWAY, AWAY, AWAY, AWAY], true],
	])('%s', async (...[, tries, answers, stops]: BudgetRow) => {
		const outageBudget = new OutageBudget({ maxTries: 3, maxElapsedMs: Infinity });
		const counts: number[] = [];
		for (const index of tries.keys()) {
			const respond = () => answers.shift() ?? AWAY;
			const isStopped = (_: Failure, attempts: number) => index === 0 && attempts === 2;
			const { attempts } = await call(
				{ send: parsing(respond), clock: virtualTime(), outageBudget },
				{ ...REQUEST, repeatable: true, shouldStopRetrying: stops ? isStopped : undefined },
			);
			counts.push(attempts);
		}
		expect(counts).toEqual(tries);
	});
});
