import fc from 'fast-check';

import type { Failure } from '../../../../nodes/XpertAi/transport/failure';
import type { Outcome } from '../../../../nodes/XpertAi/transport/request';
import {
	OutageBudget,
	SINGLE_REQUEST_LIMITS,
	sendWithRetries,
} from '../../../../nodes/XpertAi/transport/sendWithRetries';
import type { RetriedRequest } from '../../../../nodes/XpertAi/transport/sendWithRetries';
import { virtualTime } from '../../support/virtualTime';
import { answered, broken, failed, succeeded } from '../ingest/support/outcomes';

const REQUEST = { method: 'POST' as const, path: '/bulk', body: '[]', timeoutMs: 1000 };
const SECOND = 1000;

/** Sends to a server that gives these outcomes one after another, and the last of them for ever. */
async function send(
	outcomes: Outcome[],
	changes: Partial<RetriedRequest> = {},
	requestMs = 0,
): Promise<Awaited<ReturnType<typeof sendWithRetries>> & { waits: number[]; sent: unknown[] }> {
	const clock = virtualTime();
	const sent: unknown[] = [];
	const respond = async (request: unknown) => {
		clock.pass(requestMs);
		sent.push(request);
		return outcomes[sent.length - 1] ?? outcomes[outcomes.length - 1] ?? succeeded();
	};
	const result = await sendWithRetries(respond, {
		request: REQUEST,
		limits: { maxTries: 5, maxElapsedMs: 600 * SECOND },
		repeatable: true,
		clock,
		...changes,
	});
	return { ...result, waits: clock.waits, sent };
}

describe('a request that may be repeated', () => {
	it('is sent once when it succeeds', async () => {
		const { outcome, attempts, waits } = await send([succeeded('x')]);
		expect({ outcome, attempts, waits }).toEqual({
			outcome: succeeded('x'),
			attempts: 1,
			waits: [],
		});
	});

	it('is sent again, unchanged, until it succeeds, waiting longer each time', async () => {
		const { outcome, attempts, waits, sent, mayBeDone } = await send([
			answered(503),
			broken('ECONNRESET'),
			failed({ kind: 'timeout' }),
			failed({ kind: 'unreadable', status: 201 }),
			succeeded(),
		]);
		expect(outcome).toEqual(succeeded());
		// A try that broke off may be carried out as well.
		expect({ attempts, mayBeDone }).toEqual({ attempts: 5, mayBeDone: true });
		// Half of 500, 1000, 2000 and 4000 ms: the random number is 0.5.
		expect(waits).toEqual([250, 500, SECOND, 2 * SECOND]);
		expect(sent).toEqual(Array.from({ length: 5 }, () => REQUEST));
	});

	it('waits as long as the server asks', async () => {
		const { waits } = await send([
			answered(429, 7 * SECOND),
			answered(503, 1),
			answered(503, 0),
			succeeded(),
		]);
		expect(waits).toEqual([7 * SECOND, 500, SECOND]);
	});

	it.each([429, 529])('waits for seconds where the server limits requests: %i', async (status) => {
		const { waits, outcome } = await send([answered(status), answered(status), succeeded()], {
			limits: SINGLE_REQUEST_LIMITS,
		});
		expect({ waits, outcome }).toEqual({ waits: [2 * SECOND, 2 * SECOND], outcome: succeeded() });
	});

	it('waits up to the doubled delay, but no longer than half a minute', async () => {
		const limits = { maxTries: 9, maxElapsedMs: 600 * SECOND };
		const { waits } = await send([answered(503)], { limits });
		expect(waits).toEqual([250, 500, 1_000, 2_000, 4_000, 8_000, 15_000, 15_000]);
	});

	it('is given up after the last try, with the last reason', async () => {
		const limits = { maxTries: 3, maxElapsedMs: 600 * SECOND };
		const result = await send([answered(503), answered(504), answered(502), succeeded()], {
			limits,
		});
		expect(result).toMatchObject({ outcome: answered(502), attempts: 3, mayBeDone: true });
		expect(result.waits).toEqual([250, 500]);
	});

	it('says in its failure how often it was sent', async () => {
		const { outcome } = await send([answered(503), answered(404)]);
		expect(outcome).toMatchObject({ ok: false, failure: { status: 404, attempts: 2 } });
	});

	it('is given up rather than tried after the time is over', async () => {
		const limits = { maxTries: 100, maxElapsedMs: 3 * SECOND };
		const { attempts, waits } = await send([answered(503)], { limits });
		expect(waits).toEqual([250, 500, SECOND]);
		expect(attempts).toBe(4);
	});

	it('counts the time requests take, too', async () => {
		const limits = { maxTries: 100, maxElapsedMs: 3 * SECOND };
		const { attempts, waits } = await send([answered(503)], { limits }, 2 * SECOND);
		expect({ attempts, waits }).toEqual({ attempts: 2, waits: [250] });
	});

	it('does not wait at all when the server asks for more time than there is', async () => {
		const limits = { maxTries: 100, maxElapsedMs: 3 * SECOND };
		const { attempts, waits } = await send([answered(429, 3 * SECOND + 1)], { limits });
		expect({ attempts, waits }).toEqual({ attempts: 1, waits: [] });
	});

	it.each([400, 404, 500])('is not sent again after %i', async (status) => {
		const { outcome, attempts, mayBeDone } = await send([answered(status), succeeded()]);
		expect({ outcome, attempts, mayBeDone }).toEqual({
			outcome: answered(status),
			attempts: 1,
			mayBeDone: false,
		});
	});

	it('is not sent again once its sender knows better', async () => {
		const stopRetrying = (failure: Failure, attempts: number) =>
			failure.status === 504 && attempts === 2;
		const { attempts } = await send([answered(504), answered(504), succeeded()], { stopRetrying });
		expect(attempts).toBe(2);
		expect(
			(await send([answered(504), answered(503), succeeded()], { stopRetrying })).attempts,
		).toBe(3);
	});

	it('never goes over either limit, whatever the server does', async () => {
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
					expect(waits).toHaveLength(attempts - 1);
				},
			),
		);
	});
});

describe('a request that stands alone', () => {
	const limits = SINGLE_REQUEST_LIMITS;

	it('is sent three times', async () => {
		expect((await send([answered(503)], { limits })).attempts).toBe(3);
	});

	it('is not sent again once half a minute would be over', async () => {
		expect((await send([answered(429, 30 * SECOND)], { limits })).waits).toEqual([30 * SECOND]);
		expect((await send([answered(429, 30 * SECOND + 1)], { limits })).waits).toEqual([]);
	});
});

describe('a 404', () => {
	const stray = failed({ kind: 'status', status: 404 });
	const strayUnanswered = failed({ kind: 'status', status: 404, unanswered: true });
	const route = failed({ kind: 'status', status: 404, missing: 'route' });
	const once = { limits: { maxTries: 1, maxElapsedMs: 600 * SECOND } };

	it('that is not of the API passes', async () => {
		const { outcome, attempts, waits } = await send([stray, stray, succeeded()]);
		expect({ outcome, attempts }).toEqual({ outcome: succeeded(), attempts: 3 });
		// A container that restarts takes longer than a connection that broke.
		expect(waits).toEqual([SECOND, SECOND]);
	});

	it('that is not of the API is given up after three in a row, where nothing has answered yet', async () => {
		const limits = { maxTries: 100, maxElapsedMs: 600 * SECOND };
		const { outcome, attempts } = await send([strayUnanswered], { limits });
		expect(attempts).toBe(3);
		expect(outcome).toMatchObject({ failure: { status: 404, attempts: 3 } });
		const { attempts: more } = await send(
			[strayUnanswered, strayUnanswered, answered(503), strayUnanswered],
			{ limits },
		);
		expect(more).toBe(6);
	});

	it('that is not of the API is otherwise sent again as long as others are', async () => {
		expect((await send([stray])).attempts).toBe(5);
	});

	it('for a route is believed when it is said twice in a row', async () => {
		const { outcome, attempts, waits, mayBeDone } = await send([route]);
		expect({ attempts, waits, mayBeDone }).toEqual({
			attempts: 2,
			waits: [SECOND],
			mayBeDone: false,
		});
		expect(outcome).toMatchObject({ failure: { missing: 'route', attempts: 2 } });
		expect((await send([route, answered(503), route, succeeded()])).outcome).toEqual(succeeded());
		expect((await send([route, stray, route, route])).attempts).toBe(4);
	});

	it('for a route, said once, is no word on the route', async () => {
		const { outcome, attempts, mayBeDone } = await send([route, succeeded()], once);
		expect({ outcome, attempts, mayBeDone }).toEqual({
			outcome: stray,
			attempts: 1,
			mayBeDone: false,
		});
	});

	it('for a route has done nothing, so that every request goes again', async () => {
		const may = { repeatable: false };
		expect((await send([route, succeeded()], may)).outcome).toEqual(succeeded());
		expect(await send([route], may)).toMatchObject({ attempts: 2, mayBeDone: false });
	});

	it('of somebody else says nothing of what was done', async () => {
		const { attempts, mayBeDone } = await send([stray, succeeded()], { repeatable: false });
		expect({ attempts, mayBeDone }).toEqual({ attempts: 1, mayBeDone: true });
	});

	it('waits no shorter than the server asks', async () => {
		const asked = failed({ kind: 'status', status: 404, retryAfterMs: 7 * SECOND });
		expect((await send([asked, succeeded()])).waits).toEqual([7 * SECOND]);
	});
});

it('ends after three successes in a row that are none of this API', async () => {
	const page = failed({ kind: 'unreadable', status: 200 });
	const limits = { maxTries: 100, maxElapsedMs: 600 * SECOND };
	const { attempts, waits, mayBeDone } = await send([page], { limits });
	expect({ attempts, waits, mayBeDone }).toEqual({
		attempts: 3,
		waits: [SECOND, SECOND],
		mayBeDone: true,
	});
});

describe('a request that may not be repeated', () => {
	it.each([
		['a connection never made', broken('ECONNREFUSED')],
		['429', answered(429)],
	])('is sent again after %s: nothing was done', async (_, first) => {
		const { outcome, attempts } = await send([first, succeeded()], { repeatable: false });
		expect(outcome).toEqual(succeeded());
		expect(attempts).toBe(2);
	});

	it.each([
		['a bare 503', answered(503)],
		['an answer cut off', failed({ kind: 'unreadable', status: 201 })],
	])('is not sent again after %s: it may be done', async (_, first) => {
		const { outcome, attempts, mayBeDone } = await send([first, succeeded()], {
			repeatable: false,
		});
		expect(outcome).toEqual(first);
		expect({ attempts, mayBeDone }).toEqual({ attempts: 1, mayBeDone: true });
	});
});

it('may be done if an earlier try may be, whatever the last one says', async () => {
	for (const last of [answered(429), answered(400), answered(401), broken('ECONNREFUSED')]) {
		const limits = { maxTries: 2, maxElapsedMs: 60 * SECOND };
		expect(await send([broken('ECONNRESET'), last], { limits })).toMatchObject({
			outcome: last,
			mayBeDone: true,
		});
	}
});

describe('an execution that is stopped', () => {
	it('ends a wait at once and sends nothing more', async () => {
		const stop = new AbortController();
		const clock = {
			...virtualTime(),
			sleep: async (_ms: number, signal?: AbortSignal) => {
				stop.abort();
				expect(signal?.aborted).toBe(true);
			},
		};
		const { outcome, sent } = await send([answered(429, 9 * SECOND), succeeded()], {
			clock,
			signal: stop.signal,
		});
		expect(outcome).toMatchObject({
			ok: false,
			failure: { kind: 'cancelled', method: 'POST', path: expect.stringMatching('/bulk') },
		});
		expect(sent).toHaveLength(1);
	});

	it('does not forget that an earlier try may be done', async () => {
		const stop = AbortSignal.abort();
		const { mayBeDone } = await send([answered(504), succeeded()], { signal: stop });
		expect(mayBeDone).toBe(true);
	});

	it('leaves a request it stopped as it is', async () => {
		const cancelled = failed({ kind: 'cancelled' });
		const { outcome, attempts } = await send([cancelled, succeeded()]);
		expect({ outcome, attempts }).toEqual({ outcome: cancelled, attempts: 1 });
	});
});

describe('a server that stays away', () => {
	const AWAY = answered(502);

	/** How often each of so many requests is sent, one after another, where these are the answers in turn. */
	async function tries(requests: number, answers: Outcome[]): Promise<number[]> {
		const waiting = [...answers];
		let sent = 0;
		const respond = async () => {
			sent += 1;
			return waiting.shift() ?? succeeded();
		};
		const budget = new OutageBudget({ maxTries: 3, maxElapsedMs: Infinity });
		const counts: number[] = [];
		for (let left = requests; left > 0; left -= 1) {
			const before = sent;
			await budget.send(respond, { request: REQUEST, clock: virtualTime() });
			counts.push(sent - before);
		}
		return counts;
	}

	it('is waited for once: until it answers, each further request is sent once', async () => {
		const away = Array.from({ length: 5 }, () => AWAY);
		expect(await tries(4, [...away, succeeded(), AWAY])).toEqual([3, 1, 1, 1]);
	});

	it.each([
		['answers', succeeded()],
		['says no, which is an answer', answered(400)],
	])('is waited for again when it %s', async (_, answer) => {
		expect(await tries(3, [AWAY, AWAY, AWAY, answer, AWAY, AWAY])).toEqual([3, 1, 3]);
	});
});
