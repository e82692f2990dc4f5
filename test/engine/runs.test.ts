import { BROKEN_ASSISTANT_ID, ECHO_ASSISTANT_ID, INTERRUPTING_INPUT } from '../../sandbox';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import {
	again,
	ask,
	bodiesSent,
	decide,
	detailsOf,
	idRows,
	newThreads,
	occupy,
	onOthers,
	onThread,
	post,
	says,
} from './support/runs';

const fixture = useFixture();

/** Runs a message on a thread of its own. */
async function say(message: string, parameters = {}) {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	const result = await fixture.run(ask(parameters), { items: [says(thread, message)] });
	return { ...result, thread, json: result.items[0]?.json };
}

const bodies = () => bodiesSent(fixture.sandbox);

describe('what is said to the assistant', () => {
	it('is a message, with files under the name their kind of ID needs', async () => {
		const { storageFileId, fileContextId } = fixture.world;
		const options = { ids: idRows({ storageFile: storageFileId, fileContext: fileContextId }) };
		const { json } = await say('Hello', { options });
		expect(json?.output).toBe('Echo: Hello');
		const files = [{ fileId: fileContextId }, { id: storageFileId }];
		expect(bodies()).toEqual([
			{
				assistant_id: ECHO_ASSISTANT_ID,
				input: { action: 'send', message: { input: { input: 'Hello', files } } },
			},
		]);
	});

	it('is that the last message is to be answered again, which adds none', async () => {
		const { thread } = await say('Hello');
		const { items } = await fixture.run(again(), { items: [says(thread, '')] });
		expect(items[0]?.json).toMatchObject({ output: 'Echo: Hello', status: 'completed' });
		expect(fixture.sandbox.store.threads.get(thread)?.messages).toHaveLength(2);
	});

	it('is a JSON body, sent as it is', async () => {
		const body = { assistant_id: ECHO_ASSISTANT_ID, input: { input: { input: 'old form' } } };
		const { json } = await say('', {
			options: { bodyMode: 'json', jsonBody: JSON.stringify(body) },
		});
		expect(bodies()).toEqual([body]);
		expect(json).toMatchObject({ output: 'Echo: old form', assistantId: ECHO_ASSISTANT_ID });
	});
});

describe('a run that asks a person', () => {
	it('is interrupted, and goes on when the decision is to confirm, with what goes along', async () => {
		const question = `${INTERRUPTING_INPUT} first`;
		const asked = await say(question);
		expect(asked.json).toMatchObject({
			status: 'interrupted',
			output: 'This waits for a person to decide: subagent.',
			recovered: false,
			interrupt: [{ call: { name: 'subagent', args: { input: question } } }],
		});

		const options = { payload: '{"only":1}' };
		const decided = await fixture.run(decide({ options }), {
			items: [says(asked.thread, '')],
		});
		const said = `Confirmed: ${question} {"only":1}`;
		expect(decided.items[0]?.json).toMatchObject({
			// What was said before the tool was called is not the answer.
			output: `Tool said: ${said}`,
			status: 'completed',
		});
	});

	it('is ended by a rejection, and nothing is carried out', async () => {
		const { thread } = await say(`${INTERRUPTING_INPUT} first`);
		const { items } = await fixture.run(decide({ decision: 'reject' }), {
			items: [says(thread, '')],
		});
		expect(items[0]?.json).toMatchObject({ output: '', status: 'completed', rejected: true });
		const messages = fixture.sandbox.store.threads.get(thread)?.messages ?? [];
		expect(messages.map(({ from }) => from)).toEqual(['person', 'assistant']);
	});

	it('is carried out with the arguments that a person has changed', async () => {
		const asked = await say(`${INTERRUPTING_INPUT} first`);
		const [task] = asked.json?.interrupt as Array<{ call: { id: string } }>;
		const changedArguments = { [task?.call.id ?? '']: { input: 'what a person wrote' } };
		const options = { changedArguments: JSON.stringify(changedArguments) };
		// Joined from its beginning, the run tells of both its waits while it goes on.
		fixture.sandbox.faults.add({ ...onThread(asked.thread, { do: 'run', ms: 400 }), nth: 2 });
		const { items } = await fixture.run(decide({ options }), { items: [says(asked.thread, '')] });
		expect(items[0]?.json).toMatchObject({ status: 'completed', recovered: false });
		expect(items[0]?.json.output).toContain('Confirmed: what a person wrote');
	});

	it('says so where changed arguments have arrived and are not carried out', async () => {
		const asked = await say(`${INTERRUPTING_INPUT} first`);
		const [task] = asked.json?.interrupt as Array<{ call: { id: string } }>;
		const change = async (id: string) => {
			const options = { changedArguments: JSON.stringify({ [id]: { input: 'another' } }) };
			return await fixture.run(decide({ options }), { items: [says(asked.thread, '')] });
		};
		const unknown = await change('another call');
		expect(unknown.error?.message).toBe('"Changed Arguments" names a call that does not wait');
		expect(unknown.error?.description).toContain(`Waiting: ${task?.call.id}.`);
		fixture.sandbox.faults.add(
			{ ...onThread(asked.thread, { do: 'drop', when: 'after' }), nth: 1 },
			{ ...onThread(asked.thread, { do: 'status', status: 403, body: 'no' }), nth: 2 },
			{ endpoint: 'run', nth: 1, do: 'delay', ms: 200 },
		);
		const { error } = await change(task?.call.id ?? '');
		expect(error?.message).toBe('The server answered 403: no');
		expect(error?.description).toMatch(/The changed arguments have arrived\. .* left empty\./);
		const again = await change(task?.call.id ?? '');
		expect(again.error?.message).toBe('The waiting run lists no calls');
	});

	it.each([
		[
			'What was rejected was carried out',
			{ action: 'resume', target: {}, decision: { type: 'confirm' } },
		],
		[
			'the thread has gone on without a decision',
			{ action: 'send', message: { input: { input: 'theirs' } } },
		],
	])(
		'that somebody else has decided or left before its rejection says: %s',
		async (said, input) => {
			const { thread } = await say(`${INTERRUPTING_INPUT} first`);
			const { faults, requests } = fixture.sandbox;
			faults.add({ ...onThread(thread, { do: 'delay', ms: 200 }), nth: 1 });
			const before = requests.of('runs').length;
			const rejecting = fixture.run(decide({ decision: 'reject' }), { items: [says(thread, '')] });
			await clock.until(() => requests.of('runs').length > before);
			const others = { assistant_id: ECHO_ASSISTANT_ID, input };
			await post(fixture.sandbox, `threads/${thread}/runs/wait`, others);
			const { error } = await rejecting;
			expect(error?.message).toContain(said);
		},
	);

	it('says that a rejection was heard also without Simplify', async () => {
		const { thread } = await say(`${INTERRUPTING_INPUT} first`);
		// What was carried out before is not what is rejected.
		await fixture.run(decide(), { items: [says(thread, '')] });
		await fixture.run(ask(), { items: [says(thread, `${INTERRUPTING_INPUT} second`)] });
		const parameters = { decision: 'reject', simplify: false };
		const { items } = await fixture.run(decide(parameters), { items: [says(thread, '')] });
		expect(items[0]?.json).toMatchObject({ role: 'ai', content: '', rejected: true });
	});
});

describe("a body of the user's own", () => {
	const rejection = (payload: unknown) =>
		JSON.stringify({
			assistant_id: ECHO_ASSISTANT_ID,
			input: { action: 'resume', target: {}, decision: { type: 'reject', payload } },
		});

	it.each([decide, (own: object) => ask({ ...own, operation: 'start' })])(
		'never rejects with a payload, whatever sends it: the server would carry out what was rejected',
		async (parameters) => {
			const { thread } = await say(`${INTERRUPTING_INPUT} first`);
			for (const payload of [{}, null, false, 'no']) {
				const own = { options: { bodyMode: 'json', jsonBody: rejection(payload) } };
				const { error } = await fixture.run(parameters(own), { items: [says(thread, '')] });
				expect(error?.message).toContain('"JSON Body" must not give a rejection a "payload"');
			}
			const messages = fixture.sandbox.store.threads.get(thread)?.messages ?? [];
			expect(messages.map(({ from }) => from)).toEqual(['person', 'assistant']);
		},
	);

	it('rejects without one, and nothing is carried out', async () => {
		const { thread } = await say(`${INTERRUPTING_INPUT} first`);
		const own = { options: { bodyMode: 'json', jsonBody: rejection(undefined) } };
		const { items } = await fixture.run(decide(own), { items: [says(thread, '')] });
		expect(items[0]?.json).toMatchObject({ status: 'completed', rejected: true });
	});
});

describe('a message, a decision or another answer, on a thread', () => {
	const operations = [ask, decide, again];

	it.each(operations)('that nobody knows: it is said that there is none', async (parameters) => {
		const unknown = '11111111-1111-4111-8111-111111111111';
		const { error } = await fixture.run(parameters(), { items: [says(unknown, 'Hello')] });
		expect(error?.message).toBe('There is no conversation with this thread');
		expect(error?.description).toContain('Check "Thread": it takes the threadId');
	});

	it.each(operations)('by the ID of its conversation: the mix-up is named', async (parameters) => {
		const { json } = await say(`${INTERRUPTING_INPUT} first`);
		const mixedUp = [says(String(json?.conversationId), 'Hello')];
		const { error } = await fixture.run(parameters(), { items: mixedUp });
		expect(error?.message).toBe('"Thread" holds the ID of a conversation, not that of its thread');
	});

	it('whose assistant is gone: it names no field that there is not', async () => {
		const { thread } = await say(`${INTERRUPTING_INPUT} first`);
		const body = {
			message: 'The requested record was not found',
			...{ error: 'Not Found', statusCode: 404 },
		};
		fixture.sandbox.faults.add(onThread(thread, { do: 'status', status: 404, body }));
		const { error } = await fixture.run(decide(), { items: [says(thread, '')] });
		expect(error?.description).toContain('The assistant of this thread is not there any more');
		expect(error?.description).not.toContain('"Assistant"');
	});

	it('whose conversation has never run says so as before', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		const { error } = await fixture.run(decide(), { items: [says(thread, '')] });
		expect(error?.message).toBe('Nothing on this thread waits for a decision');
		fixture.sandbox.faults.add({ endpoint: 'E5', do: 'status', status: 403, body: 'no' });
		const unread = await fixture.run(decide(), { items: [says(thread, '')] });
		expect(unread.error?.message).toBe('The server answered 403: no');
	});
});

describe('a decision that nothing waits for', () => {
	it('is not sent, and said to be one', async () => {
		const { thread } = await say('Hello');
		const sent = bodies().length;
		const { error } = await fixture.run(decide(), { items: [says(thread, '')] });
		expect(error?.message).toBe('Nothing on this thread waits for a decision');
		expect(bodies()).toHaveLength(sent);
	});

	it('because it names another run than the one that waits, is said to be one', async () => {
		const { thread } = await say(`${INTERRUPTING_INPUT} first`);
		const target = JSON.stringify({ executionId: fixture.world.busyRunId });
		const items = [says(thread, '')];
		const { error } = await fixture.run(decide({ options: { target } }), { items });
		expect(error?.message).toBe('Nothing on this thread waits for a decision');
	});

	it('because the run was cancelled, is said to be one', async () => {
		const thread = await cancelledThread();
		const { error } = await fixture.run(decide(), { items: [says(thread, '')] });
		expect(error?.message).toBe('Nothing on this thread waits for a decision');
	});
});

/** A thread whose run somebody has cancelled, seen by the node or not. */
async function cancelledThread(): Promise<string> {
	const [thread = ''] = await newThreads(fixture.sandbox, 1);
	fixture.sandbox.faults.add(onOthers(thread, { do: 'run', ms: 60_000, nth: 1 }));
	await occupy(fixture.sandbox, thread, { action: 'send', message: { input: { input: 'Hi' } } });
	fixture.sandbox.cancelRuns(thread);
	await clock.until(() => fixture.sandbox.store.threads.get(thread)?.status !== 'busy');
	return thread;
}

describe('what comes out', () => {
	it('is the reply, how it came about and where to go on, with Simplify', async () => {
		// So long that its record is read, as its stream is silent.
		fixture.sandbox.faults.add({ endpoint: 'runs', do: 'run', ms: 1_800 });
		const { json, items, thread } = await say('Hello');
		expect(json).toEqual({
			output: 'Echo: Hello',
			status: 'completed',
			sources: [],
			threadId: thread,
			conversationId: fixture.sandbox.store.conversationOf(thread)?.id,
			runId: fixture.sandbox.store.runs.at(-1)?.id,
			assistantId: ECHO_ASSISTANT_ID,
			usage: { totalTokens: expect.any(Number) },
			seconds: expect.any(Number),
			recovered: false,
		});
		expect(json?.seconds).toBeGreaterThanOrEqual(1.8);
		expect(items[0]?.pairedItem).toEqual({ item: 0 });
	});

	it('is the answer of the server with the thread and its conversation, without', async () => {
		const { json, thread } = await say('Hello', { simplify: false });
		const conversationId = fixture.sandbox.store.conversationOf(thread)?.id;
		const runId = fixture.sandbox.store.runs.at(-1)?.id;
		const ids = { threadId: thread, conversationId, runId };
		expect(json).toEqual({ role: 'ai', content: 'Echo: Hello', ...ids });
	});
});

describe('a new conversation', () => {
	it('is made first, and its ids are given back to go on with', async () => {
		const options = { title: 'About the device' };
		const first = await fixture.run(ask({ threadSource: 'new', options }), {
			items: [says('', 'Hello')],
		});
		const [made] = fixture.sandbox.requests.of('E13');
		const { threadId, conversationId } = first.items[0]?.json ?? {};
		expect(made?.body).toEqual({ title: 'About the device', threadId });
		const conversation = fixture.sandbox.store.conversations.get(String(conversationId));
		expect(conversation).toMatchObject({ threadId, title: 'About the device' });
		expect(fixture.sandbox.requests.all.map(({ endpoint }) => endpoint).slice(0, 2)).toEqual([
			'E13',
			'runs',
		]);

		const second = await fixture.run(ask(), { items: [says(String(threadId), 'Again')] });
		expect(second.items[0]?.json.output).toBe('Echo: Again');
		expect(fixture.sandbox.store.threads.get(String(threadId))?.messages).toHaveLength(4);
	});

	it('is made for each item, and called by the start of its message', async () => {
		const items = [says('', 'One'), says('', `Two ${'x'.repeat(200)}`)];
		const { items: out } = await fixture.run(ask({ threadSource: 'new' }), { items });
		expect(new Set(out.map(({ json }) => json.threadId)).size).toBe(2);
		const titles = fixture.sandbox.requests
			.of('E13')
			.map(({ body }) => (body as { title: string }).title);
		expect(titles.sort()).toEqual(['One', expect.stringMatching(/^Two x{40,}.*$/)]);
		for (const title of titles) expect(title.length).toBeLessThanOrEqual(80);
	});

	it('that cannot be made fails the item, and no run is sent', async () => {
		fixture.sandbox.faults.add({ endpoint: 'E13', do: 'status', status: 403, body: 'not yours' });
		const { error } = await fixture.run(ask({ threadSource: 'new' }), { items: [says('', 'Hi')] });
		expect(error?.message).toBe('The server answered 403: not yours');
		expect(fixture.sandbox.requests.of('runs')).toEqual([]);
	});
});

describe('a run that somebody cancels', () => {
	it('has failed with the reason of the server, and waits for nobody', async () => {
		const [thread = ''] = await newThreads(fixture.sandbox, 1);
		fixture.sandbox.faults.add(onThread(thread, { do: 'run', ms: 60_000 }));
		const running = fixture.run(ask(), { items: [says(thread, 'Hello')] });
		await clock.until(() => fixture.sandbox.cancelRuns(thread) > 0);
		const { error } = await running;
		expect(error?.message).toBe('The run was cancelled on the server: Canceled by user');
		expect(error?.description).toContain(`Thread: ${thread}.`);
	});

	it('leaves a thread that goes on', async () => {
		const thread = await cancelledThread();
		const { items } = await fixture.run(ask(), { items: [says(thread, 'Again')] });
		expect(items[0]?.json).toMatchObject({ output: 'Echo: Again', status: 'completed' });
	});
});

describe('a run that fails', () => {
	const broken = { assistantId: byId(BROKEN_ASSISTANT_ID) };

	it('stops the workflow with the reason of the server, the thread and the item', async () => {
		const { error, thread } = await say('Hello', broken);
		expect(error?.name).toBe('NodeApiError');
		expect(error?.message).toBe('The run failed: No model for "broken"');
		expect(error?.description).toContain(`Thread: ${thread}.`);
		expect(error?.context).toMatchObject({ itemIndex: 0, data: { threadId: thread } });
	});

	it('goes to the error output, and the others go on', async () => {
		const threads = await newThreads(fixture.sandbox, 3);
		const [, failing = ''] = threads;
		const reason = 'Quota exceeded';
		fixture.sandbox.faults.add(onThread(failing, { do: 'run', outcome: 'fail', error: reason }));
		const { outputs } = await fixture.run(ask(), {
			items: threads.map((thread) => says(thread, 'Hello')),
			onError: 'continueErrorOutput',
		});
		expect(outputs[0]?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 0 }, { item: 2 }]);
		expect(outputs[1]?.map(({ pairedItem }) => pairedItem)).toEqual([{ item: 1 }]);
		expect(outputs[1]?.[0]?.json.error).toBe(`The run failed: ${reason}`);
		const conversation = fixture.sandbox.store.conversationOf(failing);
		expect(detailsOf(outputs[1]?.[0])).toMatchObject({
			threadId: failing,
			conversationId: conversation?.id,
			status: 'failed',
		});
	});

	it('with an assistant nobody knows says so', async () => {
		const assistantId = byId('11111111-1111-4111-8111-111111111111');
		const { error } = await say('Hello', { assistantId });
		expect(error?.message).toContain('The server answered 404');
		expect(error?.description).toContain('Check "Assistant"');
		expect(fixture.sandbox.requests.of('runs')).toHaveLength(1);
	});
});
