import type { INodeParameters } from 'n8n-workflow';

import { INTERRUPTING_INPUT } from '../../sandbox';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import { again, ask, newThreads, occupy, onOthers, runsOf, saidOn, says } from './support/runs';

const fixture = useFixture();

const sent = (endpoint: string) => fixture.sandbox.requests.of(endpoint);
const message = (input: string) => ({ action: 'send', message: { input: { input } } });

interface Meeting {
	ours?: number;
	theirs?: number;
	operation?: typeof ask;
	options?: INodeParameters;
}

/** Somebody else begins a run between our look at the thread and our start. */
async function meet({ ours = 600, theirs = 300, operation = ask, options = {} }: Meeting) {
	const { faults } = fixture.sandbox;
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	await fixture.run(ask(), { items: [says(thread, 'before')] });
	const [begun, looks] = [sent('runs').length, sent('listRuns').length];
	faults.add(
		{ endpoint: 'runs', nth: 1, do: 'delay', ms: 200 },
		{ endpoint: 'runs', do: 'run', ms: ours },
		onOthers(thread, { do: 'run', ms: theirs }),
	);
	const asking = fixture.run(operation({ options }), { items: [says(thread, 'ours')] });
	await clock.until(() => sent('runs').length > begun);
	await occupy(fixture.sandbox, thread, message('theirs'));
	const { items, error } = await asking;
	const counts = { runs: sent('runs').length - begun, looks: sent('listRuns').length - looks };
	return { json: items[0]?.json, error, thread, ...counts };
}

describe('a run that was not the first', () => {
	it('gives way to one that goes on, and begins again after it: no message is lost', async () => {
		const { json, thread, runs } = await meet({});
		expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed', recovered: false });
		expect([runs, sent('cancel').length]).toEqual([2, 1]);
		const { messages, lost } = fixture.sandbox.store.threads.get(thread) ?? {};
		const said = ['before', 'theirs', 'ours'].flatMap((one) => [one, `Echo: ${one}`]);
		expect(messages?.map(({ content }) => content)).toEqual(said);
		expect(lost ?? []).toEqual([]);
		expect(saidOn(fixture.sandbox, thread)).toEqual(['before', 'theirs', 'ours', 'ours']);
	});

	it('stays where it has ended before it could give way: nothing is asked twice', async () => {
		fixture.sandbox.faults.add({ endpoint: 'cancel', do: 'delay', ms: 500 });
		const { json, runs } = await meet({ ours: 150, theirs: 250 });
		expect(json).toMatchObject({ output: 'Echo: ours', status: 'completed' });
		expect([runs, sent('cancel').length]).toEqual([1, 1]);
	});

	it.each(['before', 'after'] as const)(
		'is not mistaken for one of others where the answer to its start is lost (%s)',
		async (when) => {
			fixture.sandbox.faults.add({ endpoint: 'runs', nth: 2, do: 'drop', when });
			const { error } = await meet({ ours: 50 });
			expect(error?.message).toMatch(/^It is not known whether the message has reached/);
		},
	);

	it('is not mistaken for one of others where questions cannot be read, as it answers again', async () => {
		fixture.sandbox.faults.add(
			{ endpoint: 'runs', nth: 2, do: 'drop', when: 'before' },
			{ endpoint: 'getMessages', nth: [1, 3, 5, 7, 9, 11], do: 'status', status: 403, body: 'no' },
		);
		const { error } = await meet({ theirs: 100, operation: again });
		expect(error?.message).toMatch(/^It is not known whether the request has reached/);
	});

	it('is cancelled and reported where others are not to be waited for', async () => {
		const { error, runs } = await meet({ options: { whenBusy: 'fail' } });
		expect(error?.message).toBe('Another run is active on this thread');
		expect([runs, sent('cancel').length]).toEqual([1, 1]);
	});

	it('goes on where others do not count', async () => {
		const { json, runs } = await meet({ options: { whenBusy: 'run' } });
		expect(json?.output).toBe('Echo: ours');
		expect([runs, sent('cancel').length]).toEqual([1, 0]);
	});
});

it('nothing is begun after the deadline, though the thread was free before', async () => {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	await fixture.run(ask(), { items: [says(thread, `${INTERRUPTING_INPUT} first`)] });
	fixture.sandbox.faults.add({ endpoint: 'E5', do: 'delay', ms: 700 });
	const options = { deadlineMinutes: 0.01 };
	const { error } = await fixture.run(ask({ options }), { items: [says(thread, 'ours')] });
	expect(error?.message).toBe('The run had not begun when the deadline came');
	expect(sent('runs')).toHaveLength(1);
	expect(runsOf(fixture.sandbox.store.runs, thread)).toHaveLength(1);
});

it('a body without an assistant is answered by that of the thread, or of the server', async () => {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	const jsonBody = JSON.stringify({ input: message('ours') });
	const parameters = ask({ options: { bodyMode: 'json', jsonBody } });
	for (const known of [0, 1]) {
		const { items } = await fixture.run(parameters, { items: [says(thread, '')] });
		const before = runsOf(fixture.sandbox.store.runs, thread)[known - 1];
		expect(items[0]?.json).toMatchObject({
			...{ status: 'completed', assistantId: before?.assistantId ?? null },
		});
	}
});
