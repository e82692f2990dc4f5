import { Logger } from '@n8n/backend-common';
import { Container } from '@n8n/di';
import type { INodeParameters, StructuredChunk } from 'n8n-workflow';

import { type FaultRule, INTERRUPTING_INPUT } from 'sandbox';
import { clock } from './support/clock';
import { AN_HOUR, measureWaiting, stopOnce } from './support/fixture';
import { byId } from './support/locators';
import { ask, decide, detailsOf, occupy, onOthers, saidOn, says, useRuns } from './support/runs';

const { fixture, add, newThread } = useRuns();

const sent = (endpoint: string) => fixture.sandbox.requests.of(endpoint);
const LASTS: FaultRule = { endpoint: 'runs', do: 'run', ms: AN_HOUR };
const LOST: FaultRule = { endpoint: 'runs', do: 'drop', when: 'after' };
const slow = (endpoint: string, when: 'before' | 'after' = 'before'): FaultRule => ({
	endpoint,
	do: 'delay',
	ms: AN_HOUR,
	when,
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
	const thread = await newThread();
	if (is === 'waits')
		await fixture.run(ask(), { items: [says(thread, `${INTERRUPTING_INPUT} first`)] });
	if (is === 'is busy') {
		add(onOthers(thread, { do: 'run', ms: AN_HOUR, nth: 1 }));
		const input = { action: 'send', message: { input: { input: 'theirs' } } };
		await occupy(fixture.sandbox, thread, input);
	}
	return thread;
}

const waitForBusy = (): INodeParameters => ({
	resource: 'thread',
	operation: 'waitForRun',
	threadId: byId(fixture.world.busyThreadId),
	runId: fixture.world.busyRunId,
});

interface More {
	on?: Parameters<typeof threadThat>[0];
	own?: INodeParameters | (() => INodeParameters);
	cancels?: number;
}

const ONE_REQUEST = ask({ tuning: { inOneRequest: true } });
const CANCELLING = { options: { whenGivenUp: 'cancel' } };
const SLOW_START = [LASTS, slow('runs', 'after')];
const onItsOwn = ask({ ...ON_ITS_OWN, ...CANCELLING });

it.each<[string, () => INodeParameters, number]>([
	['a run that it started', () => ask({ options: { deadlineMinutes: 1.2 } }), 1],
	['a run by its ID', () => ({ ...waitForBusy(), options: { deadlineMinutes: 0.9 } }), 0.5],
])('an execution that waits for %s logs every half minute', async (_, own, minutes) => {
	const info = jest.spyOn(Container.get(Logger), 'info');
	add(LASTS);
	const parameters = own();
	await fixture.run(parameters, { items: [says(await threadThat('is free'), 'ours')] });
	const { runId = fixture.sandbox.store.runs.at(-1)?.id } = parameters;
	const logged = info.mock.lastCall?.[0];
	expect(logged).toMatch(/: waiting for run \S+ of thread [0-9a-f-]{36}, [0-9.]+ minutes$/);
	expect(logged).toContain(`run ${String(runId)} of`);
	expect(logged).toContain(`, ${minutes} minutes`);
});

describe('an execution that is stopped', () => {
	const lookingFor = [LASTS, LOST, { ...slow('listRuns'), nth: 1 }];
	const cancelling = ask(CANCELLING);
	const withFile = ask(WITH_FILE);
	const laterE12: FaultRule = { endpoint: 'E12', ...NOT_NOW };

	it.each<[string, string, FaultRule[], More?]>([
		['a run goes on', 'join', [LASTS]],
		['a lost start is looked for', 'listRuns', [LASTS, LOST]],
		['it waits for its turn', 'listRuns', [], { on: 'is busy' }],
		['a decision is checked', 'E5', [slow('E5')], { on: 'waits', own: decide() }],
		['a run is waited for by its ID', 'run', [], { own: waitForBusy }],
		['a file is uploaded', 'E12', [slow('E12')], { own: withFile }],
		['an upload is to be sent again', 'E12', [laterE12], { own: withFile }],
		['one request has broken', 'E4', CUT, { own: ONE_REQUEST }],
		['a run to be cancelled goes on', 'join', [LASTS], { own: cancelling, cancels: 1 }],
		['a run to be cancelled starts', 'runs', SLOW_START, { own: cancelling, cancels: 1 }],
		['one in a new conversation starts', 'runs', SLOW_START, { own: onItsOwn, cancels: 1 }],
		['its lost start is looked for', 'listRuns', lookingFor, { own: onItsOwn, cancels: 1 }],
		['nothing to be cancelled has begun', 'E5', [slow('E5')], { on: 'waits', own: cancelling }],
	])('ends within a second, and sends no more, while %s', async (_, after, faults, more = {}) => {
		const { on = 'is free', own: given = ask(), cancels = 0 } = more;
		const [thread, own] = [await threadThat(on), typeof given === 'function' ? given() : given];
		add(...faults);
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

describe('the deadline', () => {
	const GOES_ON = /^The run was still going on when the deadline came$/;
	const OTHERS = /^Another run was still active on the thread \(.* when the deadline/;
	const UNKNOWN = /^It is not known whether the message/;
	const NO_ANSWER = /^The server did not answer in time$/;
	const NO_FILE = /^The file in "data" was not uploaded: the server did not answer in time$/;
	const failed = 'failed';

	it.each<[string, FaultRule[], RegExp, (More & { status?: string })?]>([
		['a run goes on', [LASTS], GOES_ON],
		['a lost start was found', [LASTS, LOST], GOES_ON],
		['a start is not answered', [slow('runs')], UNKNOWN],
		['others run', [], OTHERS, { on: 'is busy' }],
		['a run is waited for by its ID', [], GOES_ON, { own: waitForBusy }],
		['one request has broken', CUT, GOES_ON, { own: ONE_REQUEST }],
		['a conversation is made', [slow('E13')], NO_ANSWER, { own: onItsOwn, status: failed }],
		['a file is uploaded', [slow('E12')], NO_FILE, { own: ask(WITH_FILE), status: failed }],
	])('ends it in words where %s', async (_, faults, words, more = {}) => {
		const { on = 'is free', own: given = ask(), status = 'timedOut' } = more;
		const [thread, own] = [await threadThat(on), typeof given === 'function' ? given() : given];
		add(...faults);
		const waited = measureWaiting();
		const options = { ...(own.options as INodeParameters), deadlineMinutes: 0.4 };
		const items = [says(thread, 'ours')];
		const how = { items, onError: 'continueErrorOutput' } as const;
		const { outputs } = await fixture.run({ ...own, options }, how);
		const [item] = outputs[1] ?? [];
		expect(item?.json.error).toMatch(words);
		expect(detailsOf(item).status).toBe(status);
		expect(detailsOf(item)).toHaveProperty('threadId');
		expect(waited()).toBeLessThan(27_000);
		expect(sent('cancel')).toEqual([]);
	});
});
