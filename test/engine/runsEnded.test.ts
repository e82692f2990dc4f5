import type { INodeParameters, StructuredChunk } from 'n8n-workflow';

import { INTERRUPTING_INPUT } from '../../sandbox';
import type { FaultRule } from '../../sandbox';
import { clock } from './support/clock';
import { AN_HOUR, measureWaiting, stopOnce, useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, decide, detailsOf, newThreads, occupy, onOthers, saidOn, says } from './support/runs';

const fixture = useFixture();

const sent = (endpoint: string) => fixture.sandbox.requests.of(endpoint);
const LASTS: FaultRule = { endpoint: 'runs', do: 'run', ms: AN_HOUR };
const LOST: FaultRule = { endpoint: 'runs', do: 'drop', when: 'after' };
const slow = (endpoint: string, when: 'before' | 'after' = 'before'): FaultRule => ({
	...{ endpoint, do: 'delay', ms: AN_HOUR, when },
});
const NOT_NOW = { do: 'status', status: 503, headers: { 'retry-after': '20' } } as const;
const WITH_FILE = { options: { attachments: 'data' } };
const ON_ITS_OWN = { threadSource: 'new' };
const CUT: FaultRule[] = [
	{ endpoint: 'E4', do: 'run', ms: AN_HOUR },
	{ endpoint: 'E4', do: 'drop', when: 'during', ms: 50 },
];

/** A thread on which nothing was said, on which a person is asked, or on which others run. */
async function threadThat(is: 'is free' | 'waits' | 'is busy') {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	if (is === 'waits')
		await fixture.run(ask(), { items: [says(thread, `${INTERRUPTING_INPUT} first`)] });
	if (is === 'is busy') {
		fixture.sandbox.faults.add(onOthers(thread, { do: 'run', ms: AN_HOUR, nth: 1 }));
		const input = { action: 'send', message: { input: { input: 'theirs' } } };
		await occupy(fixture.sandbox, thread, input);
	}
	return thread;
}

const waitForBusy = (): INodeParameters => ({
	...{ resource: 'thread', operation: 'waitForRun' },
	...{ threadId: byId(fixture.world.busyThreadId), runId: fixture.world.busyRunId },
});

interface Ending {
	at: string;
	/** The requests of which one more says that it has got so far. */
	after: string;
	faults?: FaultRule[];
	on?: Parameters<typeof threadThat>[0];
	parameters?: () => INodeParameters;
	cancels?: number;
}

const whenStopped = 'cancel';

describe('an execution that is stopped', () => {
	it.each<Ending>([
		{ at: 'a run goes on', after: 'join', faults: [LASTS] },
		{ at: 'a lost start is looked for', after: 'listRuns', faults: [LASTS, LOST] },
		{ at: 'it waits for its turn', after: 'listRuns', on: 'is busy' },
		{
			at: 'a decision is checked',
			after: 'E5',
			faults: [slow('E5')],
			on: 'waits',
			parameters: decide,
		},
		{ at: 'a run is waited for by its ID', after: 'run', parameters: waitForBusy },
		{
			at: 'a file is uploaded',
			after: 'E12',
			faults: [slow('E12')],
			parameters: () => ask(WITH_FILE),
		},
		{
			at: 'an upload is to be sent again',
			after: 'E12',
			faults: [{ endpoint: 'E12', ...NOT_NOW }],
			parameters: () => ask(WITH_FILE),
		},
		{
			at: 'one request has broken',
			after: 'E4',
			faults: CUT,
			parameters: () => ask({ options: { inOneRequest: true } }),
		},
		{
			at: 'a run goes on that is to be cancelled',
			after: 'join',
			faults: [LASTS],
			parameters: () => ask({ options: { whenStopped } }),
			cancels: 1,
		},
		{
			at: 'the run to be cancelled starts',
			after: 'runs',
			faults: [LASTS, slow('runs', 'after')],
			parameters: () => ask({ options: { whenStopped } }),
			cancels: 1,
		},
		{
			at: 'that in a new conversation starts',
			after: 'runs',
			faults: [LASTS, slow('runs', 'after')],
			parameters: () => ask({ ...ON_ITS_OWN, options: { whenStopped } }),
			cancels: 1,
		},
		{
			at: 'its lost start is looked for',
			after: 'listRuns',
			faults: [LASTS, LOST, { ...slow('listRuns'), nth: 1 }],
			parameters: () => ask({ ...ON_ITS_OWN, options: { whenStopped } }),
			cancels: 1,
		},
		{
			at: 'no run is begun that could be cancelled',
			after: 'E5',
			faults: [slow('E5')],
			on: 'waits',
			parameters: () => ask({ options: { whenStopped } }),
		},
	])('ends within a second, and sends no more, while $at', async (ending) => {
		const { after, faults = [], on = 'is free', parameters = ask, cancels = 0 } = ending;
		const [thread, own] = [await threadThat(on), parameters()];
		fixture.sandbox.faults.add(...faults);
		const [before, runsBefore] = [sent(after).length, sent('runs').length];
		const stop = stopOnce(() => sent(after).length > before);
		const chunks: StructuredChunk[] = [];
		const { run, error } = await fixture.run(own, {
			// In new conversations they would run side by side.
			items: ['ours', 'more']
				.slice(0, own.threadSource === 'new' ? 1 : 2)
				.map((one) => says(thread, one)),
			onChunk: (chunk) => chunks.push(chunk),
			onStart: stop.onStart,
		});
		expect(stop.waitedMs()).toBeLessThan(1_000);
		expect(run.status).toBe('canceled');
		expect(error?.message).toMatch(/^The execution was canceled/);
		const [requests, shown] = [fixture.sandbox.requests.all.length, chunks.length];
		await clock.advance(AN_HOUR);
		expect([fixture.sandbox.requests.all.length, chunks.length]).toEqual([requests, shown]);
		expect(sent('cancel')).toHaveLength(cancels);
		expect(sent('runs').length - runsBefore).toBeLessThanOrEqual(1);
		expect(saidOn(fixture.sandbox, thread)).not.toContain('more');
		if (cancels > 0)
			expect(fixture.sandbox.store.runs.at(-1)).toMatchObject({
				text: 'ours',
				status: 'interrupted',
			});
	});
});

interface Late extends Omit<Ending, 'at' | 'after'> {
	what: string;
	says: RegExp;
	status?: string;
}

describe('the deadline', () => {
	const GOES_ON = /^The run was still going on when the deadline came$/;
	const soon = { deadlineMinutes: 0.4 };

	it.each<Late>([
		{ what: 'a run goes on', faults: [LASTS], says: GOES_ON },
		{ what: 'a lost start was found', faults: [LASTS, LOST], says: GOES_ON },
		{
			what: 'a start is not answered',
			faults: [slow('runs')],
			says: /^It is not known whether the message/,
		},
		{
			what: 'others run',
			on: 'is busy',
			says: /^Another run was still active on the thread \(.* when the deadline/,
		},
		{ what: 'a run is waited for by its ID', parameters: waitForBusy, says: GOES_ON },
		{
			what: 'one request has broken',
			faults: CUT,
			parameters: () => ask({ options: { inOneRequest: true } }),
			says: GOES_ON,
		},
		{
			what: 'a conversation is made',
			faults: [slow('E13')],
			parameters: () => ask(ON_ITS_OWN),
			says: /^The server did not answer in time$/,
			status: 'failed',
		},
		{
			what: 'a file is uploaded',
			faults: [slow('E12')],
			parameters: () => ask(WITH_FILE),
			says: /^The file in "data" was not uploaded: the server did not answer in time$/,
			status: 'failed',
		},
	])('ends it in words where $what', async (late) => {
		const { faults = [], on = 'is free', parameters = ask, status = 'timedOut' } = late;
		const thread = await threadThat(on);
		const own = parameters();
		fixture.sandbox.faults.add(...faults);
		const waited = measureWaiting();
		const { outputs } = await fixture.run(
			{ ...own, options: { ...(own.options as INodeParameters), ...soon } },
			{ items: [says(thread, 'ours')], onError: 'continueErrorOutput' },
		);
		const [item] = outputs[1] ?? [];
		expect(item?.json.error).toMatch(late.says);
		expect(detailsOf(item).status).toBe(status);
		expect(String(detailsOf(item).description)).toContain('Thread: ');
		expect(waited()).toBeLessThan(27_000);
		expect(sent('cancel')).toEqual([]);
	});
});
