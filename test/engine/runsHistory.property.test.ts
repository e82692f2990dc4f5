import fc from 'fast-check';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { derivedId } from 'nodes/XpertAi/payloads/ids';
import { ECHO_ASSISTANT_ID, type FaultRule, INTERRUPTING_INPUT, SAYING_ASSISTANT } from 'sandbox';
import { OWNER } from 'sandbox/entities';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, decide, detailsOf, runsOf, says } from './support/runs';
import { worker } from './support/workers';
import { PROPERTY_RUNS } from '../support/propertyRuns';

const fixture = useFixture();

/** Each is a handful of requests over HTTP. */
const RUNS = Math.ceil(PROPERTY_RUNS / 5);

/** Where nothing tells what became of a request, it is looked for until the deadline. */
const SOON = { options: { deadlineMinutes: 0.1 } };

/** How a run is asked for: on a thread, under a key, in a conversation of its own, or begun and then waited for. */
type Way = 'run' | 'key' | 'new' | 'start';

const mishap = fc.constantFrom<FaultRule>(
	{ do: 'drop', when: 'before' },
	{ do: 'drop', when: 'after' },
	{ do: 'drop', when: 'during', ms: 20 },
	{ do: 'status', status: 502, when: 'before', body: 'down' },
	{ do: 'status', status: 504, when: 'during', ms: 20, body: '<h1>Gateway</h1>' },
	{ do: 'status', status: 520, when: 'after', body: 'web server returned an unknown error' },
	{ do: 'status', status: 503, when: 'after', body: 'down' },
	{ do: 'status', status: 429, body: 'slow', headers: { 'retry-after': '0' } },
	{ do: 'truncate', bytes: 9 },
);

/** Which requests meet it; those that follow a run meet it now and then. */
const mishaps = fc.uniqueArray(
	fc.record({
		endpoint: fc.constantFrom('runs', 'run', 'listRuns', 'join', 'getMessages', 'E15'),
		nth: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }),
		fault: mishap,
	}),
	{ selector: ({ endpoint }) => endpoint, maxLength: 3 },
);

/** What only a stranger would answer: somebody else's 404, and successes that show nothing. */
const strange = fc.constantFrom<FaultRule>(
	{ do: 'status', status: 404, body: '<h1>Nothing here</h1>' },
	{ do: 'status', status: 403, body: 'no' },
	{ do: 'status', status: 200, body: {} },
	{ do: 'status', status: 200, body: [], when: 'after' },
);

/** What goes wrong while the conversation is looked for, and made. */
const openings = fc.uniqueArray(
	fc.record({
		endpoint: fc.constantFrom('E5', 'E13'),
		nth: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }),
		fault: fc.oneof(mishap, strange),
	}),
	{ selector: ({ endpoint }) => endpoint, maxLength: 2 },
);

/** What becomes of the server or of the stream meanwhile: it dies, or the stream is lost, in whole or at its beginning. */
type Happening = 'nothing' | 'killed' | 'expired' | 'cut';

const goes = fc.record({
	ms: fc.constantFrom(0, 60, 250),
	outcome: fc.constantFrom('answer' as const, 'fail' as const, 'empty' as const),
	happening: fc.constantFrom<Happening>(
		'nothing',
		'nothing',
		'nothing',
		'killed',
		'expired',
		'cut',
	),
});

const history = fc.record({
	way: fc.constantFrom<Way>('run', 'key', 'new', 'start'),
	goes,
	mishaps: fc.tuple(mishaps, openings).map(([one, other]) => [...one, ...other]),
});

interface Came {
	json?: IDataObject;
	failed?: INodeExecutionData;
}

async function call(parameters: INodeParameters, item: INodeExecutionData): Promise<Came> {
	const options = { items: [item], onError: 'continueErrorOutput' as const };
	const { items, outputs } = await fixture.run(parameters, options);
	return { json: items[0]?.json, failed: outputs[1]?.[0] };
}

/** Asks in one way or the other; what was begun is waited for by its ID. */
async function said(way: Way, message: string): Promise<Came> {
	const threadId = fixture.sandbox.store.putConversation({}).threadId;
	const where = {
		key: { threadSource: 'key', conversationKey: message },
		new: { threadSource: 'new' },
		run: { threadId: byId(threadId) },
		start: { operation: 'start', threadId: byId(threadId) },
	}[way];
	const came = await call(ask({ ...where, ...SOON }), says('', message));
	if (way !== 'start' || !came.json) return came;
	const named = { threadId: byId(threadId), runId: String(came.json.runId) };
	return await call(
		{ resource: 'thread', operation: 'waitForRun', ...named, ...SOON },
		{ json: {} },
	);
}

const threadOf = (assistant: string, key: string) =>
	derivedId(derivedId(assistant, key), OWNER.userId);

function conversationOf(threadId: string): string | undefined {
	const all = [...fixture.sandbox.store.conversations.values()];
	const [made, ...others] = all.filter((one) => one.threadId === threadId);
	expect(others).toEqual([]);
	return made?.id;
}

/** The next message under a key is answered in the one conversation there is, whatever befell the first. */
async function expectGoesOn(key: string) {
	const where = { threadSource: 'key', conversationKey: key };
	const { json } = await call(ask({ ...where, ...SOON }), says('', 'next'));
	expect(json).toMatchObject({ status: 'completed', output: 'Echo: next' });
	expect(json?.conversationId).toBe(conversationOf(threadOf(ECHO_ASSISTANT_ID, key)));
}

const NOT_ARRIVED = /did not reach the assistant/;
const NOT_KNOWN =
	/It is not known whether|still going on|may be going on|cannot be read|could not be/;

const begunOn = (threadId: string) =>
	runsOf(fixture.sandbox.store.runs, threadId).filter(({ assistantId }) => assistantId);

/** Resolves once nothing runs on a thread, but for what has died. */
async function settled(threadId: string, isKilled: boolean) {
	const isRunning = () => begunOn(threadId).some(({ status }) => status === 'running');
	await clock.until(() => isKilled || !isRunning());
	return begunOn(threadId);
}

/** Lets it happen, once the run has begun. */
async function happen(happening: Happening, message: string, isOver: () => boolean) {
	const { sandbox } = fixture;
	const run = () => sandbox.store.runs.find(({ text }) => text === message);
	await clock.until(() => happening === 'nothing' || run() !== undefined || isOver());
	const { id = '' } = run() ?? {};
	if (happening === 'killed') sandbox.killRuns();
	if (happening === 'expired') sandbox.expireStream(id);
	if (happening === 'cut') sandbox.cutStream(id);
}

/** What came out is what the server did, or says that it is not known. */
async function expectTrue({ json, failed }: Came, message: string, happening: Happening) {
	const threadId = String(json?.threadId ?? detailsOf(failed).threadId);
	const runs = await settled(threadId, happening === 'killed');
	expect(runs.length).toBeLessThanOrEqual(1);
	const [run] = runs;
	if (json) {
		expect([run?.status, json.status]).toEqual(['success', 'completed']);
		expect(json.runId).toBe(run?.id);
		expect([`Echo: ${message}`, '']).toContain(json.output);
		return;
	}
	const error = String(failed?.json.error);
	if (NOT_ARRIVED.test(error)) expect(run).toBeUndefined();
	else if (!NOT_KNOWN.test(error)) expect([undefined, 'error']).toContain(run?.status);
}

describe('a run, whatever is lost on the way', () => {
	it('is begun once at most, and comes out as the server has it', async () => {
		const { faults } = fixture.sandbox;
		let count = 0;
		await fc.assert(
			fc.asyncProperty(history, async ({ way, goes: { ms, outcome, happening }, mishaps: all }) => {
				faults.clear();
				faults.add({ endpoint: 'runs', do: 'run', ms, outcome, error: 'too much' });
				for (const { endpoint, nth, fault } of all) faults.add({ endpoint, nth, ...fault });
				const message = `question ${++count}`;
				let isOver = false;
				const asking = said(way, message).finally(() => (isOver = true));
				await happen(happening, message, () => isOver);
				const came = await asking;
				faults.clear();
				await expectTrue(came, message, happening);
				if (way === 'key' && happening === 'nothing') await expectGoesOn(message);
			}),
			{ numRuns: RUNS },
		);
	});

	it('is decided once at most, also a day later, and leaves no run that never ends', async () => {
		const { faults, store } = fixture.sandbox;
		const decision = fc.constantFrom('confirm', 'reject');
		await fc.assert(
			fc.asyncProperty(decision, goes, mishaps, async (way, { ms, happening }, all) => {
				faults.clear();
				const asked = await call(ask({ threadSource: 'new' }), says('', INTERRUPTING_INPUT));
				const { threadId: thread, runId } = asked.json ?? {};
				if (happening === 'expired') fixture.sandbox.expireStream(String(runId));
				faults.add({ endpoint: 'runs', do: 'run', ms });
				for (const { endpoint, nth, fault } of all) faults.add({ endpoint, nth, ...fault });
				const came = await call(decide({ decision: way, ...SOON }), { json: { thread } });
				faults.clear();
				const [run, ...others] = await settled(String(thread), false);
				expect(others).toEqual([]);
				expect(runsOf(store.runs, String(thread))).toHaveLength(1);
				const error = String(came.failed?.json.error ?? '');
				if (came.json) expect([came.json.status, run?.status]).toEqual(['completed', 'success']);
				else if (NOT_ARRIVED.test(error)) expect(run?.status).toBe('interrupted');
				else expect(error).toMatch(NOT_KNOWN);
			}),
			{ numRuns: RUNS },
		);
	});
});

describe('workers of n8n on the thread of one key', () => {
	const ASSISTANT = SAYING_ASSISTANT.id;

	beforeEach(() => fixture.sandbox.store.putAssistant(SAYING_ASSISTANT));

	const remembered = (key: string) =>
		fixture.sandbox.store.threads.get(threadOf(ASSISTANT, key))?.messages ?? [];

	/** Several of them say something, each at its moment. */
	async function sayAll(key: string, atMs: number[], word = 'w') {
		const asking = atMs.map(async (ms, index) => {
			const say = await worker(fixture.sandbox);
			await clock.sleep(ms);
			return await say(key, ASSISTANT, `${word}${index}`);
		});
		return await clock.during(Promise.all(asking));
	}

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
		{ endpoint: 'me', do: 'status', status: 502, body: '<h1>down</h1>', times: 5 },
		{ endpoint: 'E5', do: 'status', status: 503, body: 'down', nth: [1, 2] },
		{ endpoint: 'E5', do: 'status', status: 200, body: { items: [], total: 0 }, nth: 1 },
		{ endpoint: 'E13', do: 'drop', when: 'after', nth: [1, 2] },
		{ endpoint: 'E13', do: 'status', status: 400, body: { code: '23505' }, when: 'after', nth: 1 },
		{ endpoint: 'E13', do: 'delay', ms: 100, when: 'after', nth: 1 },
	);

	const meeting = fc.record({
		isFresh: fc.boolean(),
		atMs: fc.array(fc.constantFrom(0, 1, 2, 5, 20, 400), { minLength: 2, maxLength: 4 }),
		ms: fc.constantFrom(0, 50, 200, 800),
		all: fc.uniqueArray(mishap, { maxLength: 2 }),
	});

	it('keep every pair, or say which is lost or not known; nothing is asked twice', async () => {
		const { faults } = fixture.sandbox;
		let count = 0;
		await fc.assert(
			fc.asyncProperty(meeting, async ({ isFresh, atMs, ms, all }) => {
				const key = `key ${++count}`;
				if (!isFresh) await sayAll(key, [0], 'before');
				faults.add({ endpoint: 'runs', do: 'run', ms }, ...all);
				const isLost = all.some(({ endpoint }) => endpoint === 'runs');
				const results = await sayAll(key, atMs);
				faults.clear();
				const runs = await settled(threadOf(ASSISTANT, key), false);
				expect(conversationOf(threadOf(ASSISTANT, key))).toBeDefined();
				const kept = remembered(key).map(({ content }) => content);
				for (const [index, result] of results.entries()) {
					const own = runs.filter((run) => run.text === `w${index}`);
					expect(own.length).toBeLessThanOrEqual(1);
					if (result.status !== 'completed') {
						expect(all).not.toEqual([]);
						expect(result).toMatchObject({ reason: expect.stringMatching(NOT_KNOWN) as string });
						continue;
					}
					const { output, remembered: isKept } = result;
					expect(own).toHaveLength(1);
					expect(output).toMatch(new RegExp(`^You said: w${index} \\[`));
					// Who has to look for its run looks at the others late: what it overwrites then is told to nobody.
					if (isKept !== false && !isLost) expect(kept).toContain(output);
				}
				const [next] = await sayAll(key, [0], 'after');
				expect(next).toMatchObject({ status: 'completed' });
			}),
			{ numRuns: RUNS },
		);
	});
});
