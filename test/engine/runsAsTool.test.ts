import type { IDataObject, INodeParameters, StructuredChunk } from 'n8n-workflow';

import { BROKEN_ASSISTANT_ID, INTERRUPTING_INPUT } from '../../sandbox';
import { SAYING_ASSISTANT } from '../../sandbox/seed';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { again, ask, decide, newThreads, onThread, says } from './support/runs';

const fixture = useFixture();

const KNOWING = 'a7000000-0000-4000-8000-000000000001';

/** An assistant that cites what it finds in two documents. */
function knowing(): INodeParameters {
	const { store } = fixture.sandbox;
	const { id } = store.putKnowledgebase({ name: 'zebra' });
	for (const name of ['zebra.md', 'lion.md']) {
		const document = store.putDocument({ knowledgebaseId: id, name });
		store.putFindable(document, [`A ${name} has stripes or a mane. `.repeat(40)]);
	}
	const tools = [{ name: `retriever-${id}`, knowledgebaseId: id }];
	store.putAssistant({ ...SAYING_ASSISTANT, id: KNOWING, tools });
	return { assistantId: byId(KNOWING) };
}

/** Runs the node as a tool of AI Agent 3 does, in the workflow of a chat that streams. */
async function asTool(parameters: INodeParameters, thread = '', message = '') {
	const chunks: StructuredChunk[] = [];
	const result = await fixture.run(parameters, {
		items: [says(thread, message)],
		isTool: true,
		onChunk: (chunk) => chunks.push(chunk),
	});
	return { ...result, chunks, json: result.items[0]?.json };
}

/** An expression that gives nothing. */
const NOTHING = '={{ "" }}';

const newThread = async () => (await newThreads(fixture.sandbox, 1))[0] ?? '';

describe('the node as a tool of an agent whose chat streams', () => {
	it('shows nothing in the chat: what it gives is for the model', async () => {
		const { chunks, json } = await asTool(ask(), await newThread(), 'Hello');
		expect(chunks).toEqual([]);
		expect(json).toEqual({ output: 'Echo: Hello' });
	});

	it('gives the answer and the names of its cited sources, and so does Answer Again', async () => {
		const parameters = ask({ ...knowing(), options: { citations: 'none' } });
		const thread = await newThread();
		const { json } = await asTool(parameters, thread, 'ASK CITE zebra');
		expect(json).toEqual({ output: expect.any(String), sources: ['zebra.md'] });
		const anew = await asTool(again({ options: { citations: 'none' } }), thread);
		expect(anew.json).toEqual(json);
		expect(JSON.stringify(json).length).toBeLessThan(String(json?.output).length + 60);
	});

	it('names the sources with the numbers that the answer has', async () => {
		const { json } = await asTool(ask(knowing()), await newThread(), 'ASK CITE zebra');
		const [number] = /\[\d+\]/.exec(String(json?.output)) ?? [];
		expect(json?.sources).toEqual([`${number} zebra.md`]);
	});

	it('keeps what other tools need of a run that waits, and only until it is decided', async () => {
		const thread = await newThread();
		const asked = await asTool(ask(), thread, `${INTERRUPTING_INPUT} first`);
		expect(asked.json).toEqual({
			output: 'This waits for a person to decide: subagent.',
			status: 'interrupted',
			threadId: thread,
			runId: expect.any(String),
			interrupt: [expect.objectContaining({ call: expect.any(Object) })],
		});
		const decided = await asTool(decide(), thread);
		expect(Object.keys(decided.json ?? {})).toEqual(['output']);
	});

	it('says in words that a rejection was heard', async () => {
		const thread = await newThread();
		await asTool(ask(), thread, `${INTERRUPTING_INPUT} first`);
		const { json } = await asTool(decide({ decision: 'reject' }), thread);
		expect(json).toEqual({ output: expect.stringMatching(/\w+/), rejected: true });
	});

	it('keeps what other tools need of a run that was only started, and then gives its answer', async () => {
		const thread = await newThread();
		const { json } = await asTool({ ...ask(), operation: 'start' }, thread, 'Hello');
		const { runId } = json ?? {};
		expect(json).toEqual({ threadId: thread, runId: expect.any(String), status: 'running' });
		const named = { resource: 'thread', threadId: byId(thread), runId: String(runId) };
		const { json: ended } = await asTool({ ...named, operation: 'waitForRun' });
		expect(ended).toEqual({ output: 'Echo: Hello' });
		expect((await asTool({ ...named, operation: 'getRun' })).json).toEqual(ended);
	});

	it('is raw where Output says so, and has the steps that were asked for', async () => {
		const thread = await newThread();
		const raw = await asTool(ask({ toolOutput: 'raw' }), thread, 'Hello');
		expect(raw.json).toMatchObject({ role: 'ai', content: 'Echo: Hello', threadId: thread });
		const options = { returnIntermediateSteps: true };
		const { json } = await asTool(ask({ options }), thread, 'Hello');
		expect(json).toEqual({ output: 'Echo: Hello', intermediateSteps: [] });
	});

	it('says in words that the assistant said nothing', async () => {
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', outcome: 'empty' });
		const { json } = await asTool(ask(), await newThread(), 'Hello');
		expect(json).toEqual({ output: 'The assistant gave no answer in words.' });
	});
});

describe('a failure of the node as a tool of an agent', () => {
	const broken = { assistantId: byId(BROKEN_ASSISTANT_ID) };

	it.each<[string, INodeParameters, string]>([
		['a run that fails', broken, 'The run failed: No model for "broken"'],
		[
			'a key that is missing',
			{ threadSource: 'key', conversationKey: NOTHING },
			'"Conversation Key" is empty: its expression gave nothing for this item',
		],
	])('is the reason in words: %s', async (_, parameters, reason) => {
		const { json, error } = await asTool(ask(parameters), await newThread(), 'Hello');
		expect(error).toBeUndefined();
		expect(json).toMatchObject({ output: expect.stringContaining(reason), status: 'failed' });
	});

	it.each<[string, INodeParameters, RegExp]>([
		['Start Run', { ...ask(), operation: 'start', message: NOTHING }, /"Message"/],
		[
			'Get Run',
			{
				...{ resource: 'thread', operation: 'getRun' },
				threadId: byId('2f78e81b-096f-42ff-8ac0-8403fd81392e'),
				runId: '2f78e81b-096f-42ff-8ac0-8403fd81392d',
			},
			/404/,
		],
		[
			'a knowledgebase',
			{ resource: 'knowledgebase', operation: 'get', knowledgebaseId: byId(NOTHING) },
			/"Knowledgebase"/,
		],
		[
			'Submit',
			{
				...{ resource: 'document', operation: 'submit', knowledgebaseId: byId(NOTHING) },
				...{ name: 'A', text: 'B' },
			},
			/"Knowledgebase"/,
		],
	])('is the reason in words with every operation: %s', async (_, parameters, reason) => {
		const { json, error, items } = await asTool(parameters, await newThread());
		expect(error).toBeUndefined();
		expect(items).toHaveLength(1);
		expect(json).toMatchObject({ output: expect.stringMatching(reason), status: 'failed' });
	});

	it('is the reason in words where the credential cannot be used', async () => {
		const { items, error } = await fixture.run(ask(), {
			items: [says(await newThread(), 'Hello')],
			isTool: true,
			credential: { accessToken: '' },
		});
		expect(error).toBeUndefined();
		expect(items[0]?.json.output).toContain('Access Token');
	});

	it.each(['continueRegularOutput', 'continueErrorOutput'] as const)(
		'is the reason in words also with On Error: %s',
		async (onError) => {
			const items = [says(await newThread(), 'Hello')];
			const { outputs } = await fixture.run(ask(broken), { items, isTool: true, onError });
			expect(outputs[0]?.[0]?.json.output).toBe('The run failed: No model for "broken"');
		},
	);

	it('keeps what other tools need of a run that goes on', async () => {
		const thread = await newThread();
		fixture.sandbox.faults.add(onThread(thread, { do: 'run', ms: 60_000 }));
		const options = { deadlineMinutes: 0.02 };
		const { json } = await asTool(ask({ options }), thread, 'Hello');
		expect(json).toMatchObject({
			output: 'The run was still going on when the deadline came',
			...{ status: 'timedOut', threadId: thread, runId: expect.any(String) },
		});
	});

	it.each<IDataObject['string']>([false, '={{ false }}'])(
		'stops the tool where Failures as Replies is switched off (%s)',
		async (failuresAsReplies) => {
			const options = { failuresAsReplies } as INodeParameters;
			const { error } = await asTool(ask({ ...broken, options }), await newThread(), 'Hello');
			expect(error?.message).toBe('The run failed: No model for "broken"');
		},
	);
});
