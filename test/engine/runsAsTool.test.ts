import type { INodeParameters, StructuredChunk } from 'n8n-workflow';

import { BROKEN_ASSISTANT_ID, type FaultRule, INTERRUPTING_INPUT } from 'sandbox';
import { byId } from './support/locators';
import { ID } from './support/records';
import { again, ask, decide, lasting, putKnowing, says, useRuns } from './support/runs';

const { fixture, add, newThread } = useRuns();

/** Runs the node as a tool of AI Agent 3 does, in the workflow of a chat that streams. */
async function asTool(
	parameters: INodeParameters,
	words = 'Hello',
	thread?: string,
	how: Parameters<typeof fixture.run>[1] = {},
) {
	const chunks: StructuredChunk[] = [];
	const { outputs, error } = await fixture.run(parameters, {
		items: [says(thread ?? (await newThread()), words)],
		isTool: true,
		onChunk: (chunk) => chunks.push(chunk),
		...how,
	});
	return { chunks, error, json: outputs[0]?.[0]?.json };
}

/** An expression that gives nothing. */
const NOTHING = '={{ "" }}';
const QUESTION = `${INTERRUPTING_INPUT} first`;

describe('the node as a tool of an agent whose chat streams', () => {
	const steps = { options: { include: ['steps'] } };
	const silent: FaultRule[] = [{ endpoint: 'runs', do: 'run', outcome: 'empty' }];
	const ANSWER = { output: 'Echo: Hello' };
	const STEPS = { ...ANSWER, intermediateSteps: [] };
	const EMPTY = { output: 'The assistant gave no answer in words.' };
	const raw = expect.objectContaining({ role: 'ai', content: 'Echo: Hello' }) as object;

	it.each<[string, INodeParameters, FaultRule[], object]>([
		['the answer', {}, [], ANSWER],
		['the steps that were asked for', steps, [], STEPS],
		['the raw answer where Output says so', { toolOutput: 'raw' }, [], raw],
		['words where the assistant said nothing', {}, silent, EMPTY],
	])(
		'gives the model %s, and shows nothing in the chat',
		async (_, parameters, faults, expected) => {
			add(...faults);
			const { chunks, json } = await asTool(ask(parameters));
			expect(chunks).toEqual([]);
			expect(json).toEqual(expected);
		},
	);

	it.each([
		['none', 'zebra.md'],
		['numbers', '[1] zebra.md'],
	])('gives the names of cited sources, as Answer Again does (%s)', async (citations, name) => {
		const parameters = { ...putKnowing(fixture.sandbox), options: { citations } };
		const thread = await newThread();
		const { json } = await asTool(ask(parameters), 'ASK CITE zebra', thread);
		expect(json).toEqual({ output: expect.any(String), sources: [name] });
		const anew = await asTool(again({ options: { citations } }), '', thread);
		expect(anew.json).toEqual(json);
	});

	it.each([
		['confirm', { output: expect.stringContaining('Confirmed') }],
		['reject', { output: expect.stringMatching(/\w+/), rejected: true }],
	])('keeps what other tools need of a run until it is decided: %s', async (decision, decided) => {
		const thread = await newThread();
		expect((await asTool(ask(), QUESTION, thread)).json).toEqual({
			output: 'This waits for a person to decide: SubAgent (May I answer this?).',
			status: 'interrupted',
			threadId: thread,
			runId: expect.any(String),
			interrupt: [expect.objectContaining({ tool: 'subagent' })],
		});
		expect((await asTool(decide({ decision }), '', thread)).json).toEqual(decided);
	});

	it('keeps what other tools need of a run that was only started, and then gives its answer', async () => {
		const thread = await newThread();
		const { json } = await asTool(ask({ operation: 'start' }), 'Hello', thread);
		const runId = expect.any(String) as string;
		expect(json).toEqual({ threadId: thread, runId, status: 'running' });
		const named = { resource: 'thread', threadId: byId(thread), runId: String(json?.runId) };
		for (const operation of ['waitForRun', 'getRun'])
			expect((await asTool({ ...named, operation })).json).toEqual(ANSWER);
	});
});

describe('a failure of the node as a tool of an agent', () => {
	const broken = { assistantId: byId(BROKEN_ASSISTANT_ID) };
	const FAILED = /^The run failed: No model for "broken"$/;
	const EMPTY = /^"Conversation Key" is empty: its expression gave nothing for this item/;
	const ALONE = new RegExp(`${EMPTY.source}.*\\. A tool that is tested alone has no chat: `);
	const NO_SESSION = new RegExp(`${EMPTY.source}(?!.*A tool that is tested alone)`);
	const KNOWLEDGEBASE = /"Knowledgebase"/;
	const noKey = ask({ threadSource: 'key', conversationKey: NOTHING });
	const noMessage = ask({ operation: 'start', message: NOTHING });
	const nobodys = { resource: 'thread', operation: 'getRun', threadId: byId(ID), runId: ID };
	const none = { knowledgebaseId: byId(NOTHING) };
	const noneToGet = { resource: 'knowledgebase', operation: 'get', ...none };
	const text = { name: 'A', text: 'B' };
	const noneToFill = { resource: 'document', operation: 'submit', ...none, ...text };

	it.each<[string, INodeParameters, RegExp, Parameters<typeof asTool>[3]?]>([
		['Ask and Wait', ask(broken), FAILED],
		['On Error: Continue', ask(broken), FAILED, { onError: 'continueRegularOutput' }],
		['an error output', ask(broken), FAILED, { onError: 'continueErrorOutput' }],
		['a key that is missing', noKey, EMPTY],
		['a key of no session', { ...noKey, conversationKey: '={{ $json.none }}' }, NO_SESSION],
		['the session of no chat', { ...noKey, conversationKey: '={{ $json.sessionId }}' }, ALONE],
		['Start Run', noMessage, /"Message"/],
		['Get Run', nobodys, /was not found$/],
		['a knowledgebase', noneToGet, KNOWLEDGEBASE],
		['Submit', noneToFill, KNOWLEDGEBASE],
		['an unusable credential', ask(), /Access Token/, { credential: { accessToken: '' } }],
	])('is the reason in words with %s', async (...row) => {
		const [, parameters, reason, how] = row;
		const { json, error } = await asTool(parameters, 'Hello', undefined, how);
		expect(error).toBeUndefined();
		expect(json).toMatchObject({ output: expect.stringMatching(reason), status: 'failed' });
	});

	it('keeps what other tools need of a run that goes on', async () => {
		const thread = await newThread();
		add(lasting(60_000));
		const { json } = await asTool(ask({ options: { deadlineMinutes: 0.02 } }), 'Hello', thread);
		expect(json).toMatchObject({
			output: 'The run was still going on when the deadline came',
			status: 'timedOut',
			threadId: thread,
			runId: expect.any(String),
		});
	});

	it.each([
		['', false],
		[' by an expression', '={{ false }}'],
	])('stops the tool where Failures as Replies is switched off%s', async (_, failuresAsReplies) => {
		const { error } = await asTool(ask({ ...broken, options: { failuresAsReplies } }));
		expect(error?.message).toMatch(FAILED);
	});
});
