import fc from 'fast-check';

import { SAYING_ASSISTANT } from '../../sandbox';
import type { FaultRule } from '../../sandbox';
import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { systemClock } from '../../nodes/XpertAi/transport/clock';
import { PROPERTY_RUNS } from '../support/propertyRuns';
import { useFixture } from './support/fixture';
import { post, runsOf } from './support/runs';
import { worker } from './support/workers';

const fixture = useFixture();

const RUNS = Math.ceil(PROPERTY_RUNS / 10);

const ASSISTANT = SAYING_ASSISTANT.id;

beforeEach(() => fixture.sandbox.store.putAssistant(SAYING_ASSISTANT));

const pause = async (ms: number) => await new Promise((resolve) => setTimeout(resolve, ms));

/** Several workers say something under one key, at these moments. */
async function sayAll(key: string, atMs: number[]) {
	const asking = atMs.map(async (ms, index) => {
		const say = await worker(fixture.sandbox);
		await pause(ms);
		return await say(key, ASSISTANT, `w${index}`);
	});
	return await Promise.all(asking);
}

/** What was said on the thread of a key, as the assistant remembers it. */
const remembered = (key: string) =>
	(fixture.sandbox.store.threads.get(derivedId(ASSISTANT, key))?.messages ?? []).map(
		({ content }) => String(content),
	);

/** What lasts for a while, or meets a request now and then. */
const mishap = fc.constantFrom<FaultRule>(
	{ endpoint: 'listRuns', do: 'status', status: 503, body: 'down', times: 3 },
	{ endpoint: 'listRuns', do: 'status', status: 504, body: 'late', nth: [2, 4, 6] },
	{ endpoint: 'runs', do: 'drop', when: 'after', nth: [1, 3] },
	{ endpoint: 'runs', do: 'status', when: 'after', status: 520, body: 'unknown', nth: 2 },
	{ endpoint: 'join', do: 'drop', when: 'during', ms: 10, nth: [1, 2] },
	{ endpoint: 'join', do: 'status', status: 502, body: 'down', nth: [1, 3] },
	{ endpoint: 'cancel', do: 'drop', when: 'after', nth: 1 },
	{ endpoint: 'E15', do: 'status', status: 503, body: 'down', nth: [1, 2] },
);

let count = 0;

it.each([
	['of the last run', false, 0],
	['of a run that goes on after a later one was cancelled', true, 0],
	['of a server whose clock is a little ahead', false, 500],
])(
	'a message begins once the answer %s is stored, which the list of runs says earlier',
	async (_which, isLaterCancelled, behindMs) => {
		const { faults, store } = fixture.sandbox;
		const key = `key ${++count}`;
		const thread = derivedId(ASSISTANT, key);
		const say = await worker(fixture.sandbox);
		await say(key, ASSISTANT, 'first');
		faults.add({ endpoint: 'runs', do: 'run', ms: isLaterCancelled ? 1_500 : 400 });
		const asking = (await worker(fixture.sandbox))(key, ASSISTANT, 'theirs');
		const theirs = () => runsOf(store.runs, thread).find(({ text }) => text === 'theirs');
		while (theirs() === undefined) await pause(5);
		if (isLaterCancelled) {
			const input = { action: 'send', message: { input: { input: 'later' } } };
			const path = `threads/${thread}/runs`;
			const body = { assistant_id: ASSISTANT, input };
			const { run_id: later } = await post(fixture.sandbox, path, body);
			await post(fixture.sandbox, `${path}/${later}/cancel`);
		}
		while (theirs()?.status === 'running') await pause(5);
		expect(theirs()?.endedAt).toBeUndefined();
		const clock = { ...systemClock, now: () => Date.now() - behindMs };
		await Promise.all([asking, say(key, ASSISTANT, 'next', { clock })]);
		const next = runsOf(store.runs, thread).at(-1);
		expect(next?.text).toBe('next');
		expect(next?.startedAt).toBeGreaterThanOrEqual(theirs()?.endedAt ?? Infinity);
	},
);

describe('two to four workers on a thread', () => {
	it('keep every pair, or say which is lost or not known; nothing is asked twice', async () => {
		const history = fc.record({
			atMs: fc.array(fc.nat(200), { minLength: 2, maxLength: 4 }),
			ms: fc.constantFrom(0, 50, 200),
			mishaps: fc.uniqueArray(mishap, { maxLength: 2 }),
		});
		await fc.assert(
			fc.asyncProperty(history, async ({ atMs, ms, mishaps }) => {
				const { faults, store } = fixture.sandbox;
				faults.clear();
				const key = `key ${++count}`;
				const say = await worker(fixture.sandbox);
				await say(key, ASSISTANT, 'first');
				faults.add({ endpoint: 'runs', do: 'run', ms }, ...mishaps);
				const isLost = mishaps.some(({ endpoint }) => endpoint === 'runs');
				const results = await sayAll(key, atMs);
				faults.clear();
				const runs = runsOf(store.runs, derivedId(ASSISTANT, key));
				while (runs.some(({ status }) => status === 'running')) await pause(10);
				for (const [index, { status, output, remembered: isKept, reason }] of results.entries()) {
					const own = runs.filter(({ text }) => text === `w${index}`);
					// Those that gave way were cancelled before they were answered.
					const answered = own.filter((run) => run.status === 'success');
					expect(answered.length).toBeLessThanOrEqual(1);
					if (status !== 'completed') {
						expect(reason).toMatch(/not known|still going on/);
						continue;
					}
					expect(answered).toHaveLength(1);
					expect(output).toMatch(new RegExp(`^You said: w${index} \\[`));
					// Who has to look for its run looks at the others late: what it overwrites then is told to nobody.
					if (isKept !== false && !isLost) expect(remembered(key)).toContain(output);
				}
			}),
			{ numRuns: RUNS },
		);
	});
});

describe('twelve fresh keys, each asked by two workers', () => {
	const GAPS = [0, 5, 20, 50, 100, 200, 300, 400, 500, 650, 800, 1_000];

	it('keep both pairs and can be used, 0 to 1,000 ms apart', async () => {
		// No model has answered by the time that the younger of two gives way.
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 800 });
		const asking = GAPS.map(async (gap) => {
			const key = `fresh ${gap}`;
			const results = await sayAll(key, [0, gap]);
			const isKept = results.map(
				({ status, output = '' }) => status === 'completed' && remembered(key).includes(output),
			);
			const next = await (await worker(fixture.sandbox))(key, ASSISTANT, 'next');
			return { gap, isKept, next: next.output };
		});
		const next = 'You said: next [users seen: 3]';
		expect(await Promise.all(asking)).toEqual(
			GAPS.map((gap) => ({ gap, isKept: [true, true], next })),
		);
	});
});

describe('many messages under few keys, from two workers', () => {
	it('are all answered, and every pair is kept', async () => {
		// On a busy machine requests take long, and runs that are shorter than these meet.
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 800 });
		const says = await Promise.all([worker(fixture.sandbox), worker(fixture.sandbox)]);
		// Each worker keeps its own executions under one key in order, as n8n's process does.
		const all = says.flatMap((say, of) =>
			['a', 'b', 'c', 'd', 'e'].map(async (key) => {
				const results = [];
				for (const nth of [1, 2]) results.push(await say(key, ASSISTANT, `${key}${of}${nth}`));
				return { key, results };
			}),
		);
		for (const { key, results } of await Promise.all(all))
			for (const { status, output = '' } of results) {
				expect(status).toBe('completed');
				expect(remembered(key)).toContain(output);
			}
	});
});
