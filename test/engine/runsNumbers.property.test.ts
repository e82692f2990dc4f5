import fc from 'fast-check';
import type { IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';

import { INTERRUPTING_INPUT } from '../../sandbox';
import type { FaultRule } from '../../sandbox';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, decide, detailsOf, runsOf, says } from './support/runs';
import { useShortSleeps } from './support/shortSleeps';
import { PROPERTY_RUNS } from '../support/propertyRuns';

const fixture = useFixture();
useShortSleeps();

/** Each is a handful of requests over HTTP, and takes a part of a second. */
const RUNS = Math.ceil(PROPERTY_RUNS / 9);

/** Where nothing tells what became of a decision, it is looked for until the deadline. */
const SOON = { options: { deadlineMinutes: 0.1 } };

/** How a run is asked for: at one go, in turn under a key, or begun and then waited for. */
type Way = 'run' | 'key' | 'start';

/** What goes wrong with a request on the way. */
const mishap = fc.constantFrom<FaultRule>(
	{ do: 'drop', when: 'before' },
	{ do: 'drop', when: 'after' },
	{ do: 'drop', when: 'during', ms: 20 },
	{ do: 'status', status: 502, when: 'before', body: 'down' },
	{ do: 'status', status: 504, when: 'during', ms: 20, body: '<h1>Gateway</h1>' },
	{ do: 'status', status: 503, when: 'after', body: 'down' },
	{ do: 'status', status: 429, body: 'slow', headers: { 'retry-after': '0' } },
	{ do: 'truncate', bytes: 9 },
);

/** Which requests meet it; those that follow a run meet it now and then. */
const mishaps = fc.uniqueArray(
	fc.record({
		endpoint: fc.constantFrom('E4', 'runs', 'run', 'listRuns', 'join', 'messages', 'E15'),
		nth: fc.uniqueArray(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 2 }),
		fault: mishap,
	}),
	{ selector: ({ endpoint }) => endpoint, maxLength: 3 },
);

const goes = fc.record({
	ms: fc.constantFrom(0, 60, 250),
	outcome: fc.constantFrom('answer' as const, 'fail' as const, 'empty' as const),
});

const history = fc.record({ way: fc.constantFrom<Way>('run', 'key', 'start'), goes, mishaps });

interface Came {
	json?: IDataObject;
	failed?: INodeExecutionData;
}

async function call(parameters: INodeParameters, item: INodeExecutionData): Promise<Came> {
	const options = { items: [item], onError: 'continueErrorOutput' as const };
	const { items, outputs } = await fixture.run(parameters, options);
	return { json: items[0]?.json, failed: outputs[1]?.[0] };
}

/** Asks in one way or the other; what was begun is waited for by its number. */
async function said(way: Way, message: string): Promise<Came> {
	const threadId = fixture.sandbox.store.putConversation({}).threadId;
	const where =
		way === 'key'
			? { threadSource: 'key', conversationKey: message }
			: { operation: way, threadId: byId(threadId) };
	const came = await call(ask({ ...where, ...SOON }), says('', message));
	if (way !== 'start' || !came.json) return came;
	const { runId } = came.json;
	return await call(
		{
			resource: 'thread',
			operation: 'waitForRun',
			threadId: byId(threadId),
			runId: String(runId),
			...SOON,
		},
		{ json: {} },
	);
}

const NOT_BEGUN = /did not reach the assistant/;
const NOT_KNOWN = /may have (begun|reached)|may be going on|cannot be read/;

/** Resolves once nothing runs on a thread. */
async function settled(threadId: string) {
	const { store } = fixture.sandbox;
	// Without an assistant it is left over, and never ends.
	const begun = () => runsOf(store.runs, threadId).filter(({ assistantId }) => assistantId);
	while (begun().some(({ status }) => status === 'running'))
		await new Promise((resolve) => setTimeout(resolve, 10));
	return begun();
}

/** What came out is what the server did, or says that it is not known. */
async function expectTrue({ json, failed }: Came, message: string): Promise<void> {
	const threadId = String(json?.threadId ?? detailsOf(failed).threadId);
	const runs = await settled(threadId);
	expect(runs.length).toBeLessThanOrEqual(1);
	const [run] = runs;
	if (json) {
		expect(run?.status).toBe('success');
		expect(json.status).toBe('completed');
		// It is left out where it could not be had.
		expect([run?.id, undefined]).toContain(json.runId);
		expect([`Echo: ${message}`, '']).toContain(json.output);
		return;
	}
	const error = String(failed?.json.error);
	if (NOT_BEGUN.test(error)) expect(run).toBeUndefined();
	else if (!NOT_KNOWN.test(error)) expect([undefined, 'error']).toContain(run?.status);
}

describe('a run, whatever is lost on the way', () => {
	it('is begun once at most, and comes out as the server has it', async () => {
		const { faults } = fixture.sandbox;
		let count = 0;
		await fc.assert(
			fc.asyncProperty(history, async ({ way, goes: { ms, outcome }, mishaps: all }) => {
				faults.clear();
				const endpoint = way === 'run' ? 'E4' : 'runs';
				faults.add({ endpoint, do: 'run', ms, outcome, error: 'too much' });
				for (const { endpoint: where, nth, fault } of all)
					faults.add({ endpoint: where, nth, ...fault });
				const message = `question ${++count}`;
				const came = await said(way, message);
				faults.clear();
				await expectTrue(came, message);
			}),
			{ numRuns: RUNS },
		);
	});

	it('is decided once at most, and leaves no run that never ends', async () => {
		const { faults, store } = fixture.sandbox;
		const decision = fc.constantFrom('confirm', 'reject');
		await fc.assert(
			fc.asyncProperty(decision, goes, mishaps, async (way, { ms }, all) => {
				faults.clear();
				const asked = await call(ask({ threadSource: 'new' }), says('', INTERRUPTING_INPUT));
				const threadId = String(asked.json?.threadId);
				faults.add({ endpoint: 'E4', do: 'run', ms });
				for (const { endpoint, nth, fault } of all) faults.add({ endpoint, nth, ...fault });
				const came = await call(decide({ decision: way, ...SOON }), { json: { thread: threadId } });
				faults.clear();
				const [run, ...others] = await settled(threadId);
				const error = String(came.failed?.json.error ?? '');
				// Where the number could not be had, the decision names none, and the server leaves a run (recorded).
				const isNamed = all.every(({ endpoint }) => endpoint !== 'listRuns');
				if (isNamed) expect(runsOf(store.runs, threadId)).toHaveLength(1);
				expect(others).toEqual([]);
				if (came.json) expect([came.json.status, run?.status]).toEqual(['completed', 'success']);
				else if (NOT_BEGUN.test(error)) expect(run?.status).toBe('interrupted');
				else expect(error).toMatch(NOT_KNOWN);
			}),
			{ numRuns: RUNS },
		);
	});
});
