import { CHAT_TRIGGER_NODE_TYPE, type INodeParameters } from 'n8n-workflow';

import type { AssistantSeed } from 'sandbox';
import { KNOWING, ask, decide, says, useRuns, putKnowing } from './support/runs';

const { fixture, add, newThread } = useRuns();

const knowing = (seed: Partial<AssistantSeed> = {}) => putKnowing(fixture.sandbox, seed);

async function say(message: string, parameters = {}) {
	const thread = await newThread();
	const { items } = await fixture.run(ask({ ...KNOWING, ...parameters }), {
		items: [says(thread, message)],
	});
	return { thread, json: items[0]?.json };
}

const zebra = {
	number: 1,
	documentId: expect.any(String) as string,
	documentName: 'zebra.md',
};

const passage = {
	...zebra,
	knowledgebaseId: expect.any(String) as string,
	score: expect.any(Number) as number,
	snippet: 'A zebra is like no other. It lives far away.',
	chunkId: expect.any(String) as string,
	cited: true,
};

describe('an answer out of a knowledgebase', () => {
	it('names the documents it cites, and has their numbers in place of links', async () => {
		knowing();
		const { json } = await say('ASK CITE zebra');
		expect(json?.sources).toEqual([zebra]);
		expect(json?.output).toMatch(/^Here is what I found: A zebra is\nlike no other \[1\]\.$/);
	});

	it('names those of an earlier question that it repeats', async () => {
		knowing();
		const { thread, json } = await say('ASK CITE zebra', { options: { citations: 'asWritten' } });
		const link = /\[⟦1⟧\]\(xpert:[^)]*\)/.exec(String(json?.output))?.[0];
		const parameters = ask(KNOWING);
		const items = [says(thread, `as you said ${link}`)];
		const { items: out } = await fixture.run(parameters, { items });
		expect(out[0]?.json.sources).toEqual([zebra]);
	});

	it('has none of an earlier question on the thread', async () => {
		knowing();
		const { thread } = await say('ASK CITE zebra');
		const { items } = await fixture.run(ask(KNOWING), {
			items: [says(thread, 'Hello')],
		});
		expect(items[0]?.json.sources).toEqual([]);
	});

	it('has them also where the wait broke', async () => {
		knowing();
		add({ endpoint: 'runs', do: 'drop', when: 'after' });
		const { json } = await say('ASK CITE zebra');
		expect(json).toMatchObject({ sources: [zebra] });
		expect(json?.output).not.toContain('xpert://');
	});

	it('has those that a step of its workflow found', async () => {
		const { store } = fixture.sandbox;
		knowing();
		const [knowledgebase] = [...store.knowledgebases.values()].slice(-2);
		knowing({
			tools: null,
			looksFirst: {
				agentKey: 'Knowledge_step',
				title: 'Look up',
				knowledgebaseId: knowledgebase?.id ?? '',
			},
		});
		expect((await say('zebra')).json?.sources).toEqual([]);
		const { json } = await say('zebra', { options: { include: ['passages'] } });
		expect(json?.sources).toMatchObject([{ number: 1, documentName: 'zebra.md', cited: false }]);
	});

	it('lists what it cites under it, where that is wanted', async () => {
		knowing();
		const { json } = await say('ASK CITE zebra', { options: { include: ['sources'] } });
		expect(json?.output).toMatch(/ \[1\]\.\n\nSources:\n- \[1\] zebra\.md$/);
		const without = await say('Hello', { options: { include: ['sources'] } });
		expect(without.json?.output).not.toContain('Sources');
	});

	it.each<[string, INodeParameters, boolean]>([
		['numbers', {}, true],
		['no numbers', { citations: 'none' }, false],
		['numbers that nobody reads', { showInChat: 'hidden' }, false],
	])(
		'has below it what its %s mean in a chat that does not stream',
		async (_, options, isListed) => {
			knowing();
			const parameters = { threadSource: 'auto', ...KNOWING, options };
			const { items } = await fixture.run(ask({ ...parameters, message: 'ASK CITE zebra' }), {
				items: [{ json: { sessionId: 'ann' } }],
				trigger: CHAT_TRIGGER_NODE_TYPE,
			});
			expect(String(items[0]?.json.output).includes('\n- [1] zebra.md')).toBe(isListed);
		},
	);

	it('is as the server says it without Simplify', async () => {
		knowing();
		const { json } = await say('ASK CITE zebra', { simplify: false });
		expect(json?.content).toContain('xpert://');
		expect(json?.sources).toEqual([passage]);
	});
});

describe('what a run has used', () => {
	it('is told where the model counts it', async () => {
		knowing({ counts: [40, 2] });
		const { json } = await say('ASK CITE zebra');
		// Of several calls, the server tells input and output of the last one only.
		expect(json?.usage).toEqual({ totalTokens: 84 });
		const { json: once } = await say('Hello');
		expect(once?.usage).toEqual({ inputTokens: 40, outputTokens: 2, totalTokens: 42 });
	});

	it('is told as a sum where it does not say what went in and out', async () => {
		knowing();
		const { json } = await say('Hello');
		expect(json?.usage).toEqual({ totalTokens: expect.any(Number) });
	});
});

describe('the steps of a run', () => {
	const decided = 'are told where they are wanted, with those before a decision';
	it.each([
		['by its stream', false],
		['without its stream', true],
	])(`${decided}, %s`, async (_, isGone) => {
		const helper = { name: 'helper', title: 'Helper', description: 'Helps', waits: true };
		knowing({ tools: [helper], counts: [3, 1] });
		const options = { include: ['steps'] };
		const { thread, json } = await say('USETOOL(helper) hello', { options });
		const call = { tool: 'helper', toolInput: { input: 'hello', query: 'hello' } };
		expect(json).toMatchObject({ status: 'interrupted', intermediateSteps: [{ action: call }] });
		const [asked] = json?.intermediateSteps as object[];
		if (isGone) fixture.sandbox.expireStream(String(json?.runId));
		const { items } = await fixture.run(decide({ options }), { items: [says(thread, '')] });
		expect(items[0]?.json).toMatchObject({
			status: 'completed',
			usage: { totalTokens: 8 },
			intermediateSteps: [{ ...asked, observation: expect.stringContaining('hello') }],
		});
	});
});
