import type { INodeParameters } from 'n8n-workflow';

import { INTERRUPTING_INPUT } from 'sandbox';
import { hintsOf } from './support/ingest';
import { ask, decide, newThreads, says, useRuns } from './support/runs';

const { fixture, add } = useRuns();

const BEHIND_FORM =
	'Behind a form, $json is the answer of the person, so "Thread" of Decide takes {{ $("Xpert AI").item.json.threadId }}.';

const ASKS = `${INTERRUPTING_INPUT} first`;

/** Says the same on new threads, and gives the threads and the hints. */
async function said(words: string, count: number, parameters: INodeParameters = {}) {
	const threads = await newThreads(fixture.sandbox, count);
	const items = threads.map((thread) => says(thread, words));
	const result = await fixture.run(ask(parameters), { items });
	return { threads, hints: hintsOf(result) };
}

describe.each([
	[1, true],
	[2, false],
])('%i runs, with Simplify: %s', (count, simplify) => {
	it('say that they wait for a person, and that a message ended the wait', async () => {
		const { threads, hints } = await said(ASKS, count, { simplify });
		expect(hints).toEqual([
			`${count === 1 ? '1 run waits' : `${count} runs wait`} for a person. Branch on "status" (interrupted), show the person {{ $json.interrupt.toJsonString() }}, and go on with Thread: Decide.`,
			BEHIND_FORM,
		]);
		const items = threads.map((thread) => says(thread, 'Hello'));
		const result = await fixture.run(ask({ simplify }), { items });
		expect(hintsOf(result)).toEqual([
			`Messages that ended a wait for a person: ${count}. What was asked is in "discarded".`,
		]);
	});

	it('say that they ended without words, unless a person said no', async () => {
		const { threads } = await said(ASKS, count, { simplify });
		const rejected = await fixture.run(decide({ decision: 'reject', simplify }), {
			items: threads.map((thread) => says(thread, '')),
		});
		expect(hintsOf(rejected)).toEqual([]);
		add({ endpoint: 'runs', do: 'run', outcome: 'empty' });
		const { hints } = await said('Hello', count, { simplify });
		expect(hints).toEqual([`Answers without words: ${count}.`]);
	});
});

it.each(['getRun', 'waitForRun'])('say the same read by their ID: %s', async (operation) => {
	const readAgain = async (words: string) => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		const { items } = await fixture.run(ask(), { items: [says(thread, words)] });
		return hintsOf(await fixture.run({ resource: 'thread', operation }, { items }));
	};
	expect(await readAgain(ASKS)).toEqual([
		'1 run waits for a person. Branch on "status" (interrupted), show the person {{ $json.interrupt.toJsonString() }}, and go on with Thread: Decide.',
		BEHIND_FORM,
	]);
	expect(await readAgain('Hello')).toEqual([]);
	add({ endpoint: 'runs', do: 'run', outcome: 'empty' });
	expect(await readAgain('Hello')).toEqual(['Answers without words: 1.']);
});

it('say nothing of a run that was to be cancelled', async () => {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	const { items } = await fixture.run(ask(), { items: [says(thread, ASKS)] });
	const result = await fixture.run({ resource: 'thread', operation: 'cancelRun' }, { items });
	expect(result.items[0]?.json.status).toBe('interrupted');
	expect(hintsOf(result)).toEqual([]);
});

it('say nothing as the tool of an agent, whose answer says it', async () => {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	const { hints, items } = await fixture.run(ask(), {
		items: [says(thread, ASKS)],
		isTool: true,
	});
	expect(items[0]?.json.status).toBe('interrupted');
	expect(hints).toEqual([]);
});
