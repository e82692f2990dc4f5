import { BROKEN_ASSISTANT_ID, ECHO_ASSISTANT_ID, INTERRUPTING_INPUT } from 'sandbox';
import { clock } from './support/clock';
import { byId } from './support/locators';
import {
	answering,
	again,
	ask,
	bodiesSent,
	decide,
	detailsOf,
	newThreads,
	occupy,
	onOthers,
	onThread,
	says,
	useRuns,
} from './support/runs';

const { fixture, add, sent, newThread } = useRuns();

async function say(message: string, parameters = {}) {
	const thread = await newThread();
	const result = await fixture.run(ask(parameters), { items: [says(thread, message)] });
	return { ...result, thread, json: result.items[0]?.json };
}

const bodies = () => bodiesSent(fixture.sandbox);

describe('what is said to the assistant', () => {
	it('is a message, with what Additional Fields (JSON) add to it', async () => {
		const { storageFileId, fileContextId } = fixture.world;
		const files = [{ fileId: fileContextId }, { id: storageFileId }];
		const input = { message: { input: { files } }, state: { order: 7 } };
		const additionalFieldsJson = JSON.stringify({ input, context: { user: 'u' } });
		const { json } = await say('Hello', { options: { additionalFieldsJson } });
		expect(json?.output).toBe('Echo: Hello');
		expect(bodies()).toEqual([
			{
				assistant_id: ECHO_ASSISTANT_ID,
				input: {
					action: 'send',
					message: { input: { input: 'Hello', files } },
					state: { order: 7 },
				},
				context: { user: 'u' },
			},
		]);
	});

	it('is that the last message is to be answered again, which adds none', async () => {
		const { thread } = await say('Hello');
		const { items } = await fixture.run(again(), { items: [says(thread, '')] });
		expect(items[0]?.json).toMatchObject({ output: 'Echo: Hello', status: 'completed' });
		expect(fixture.sandbox.store.threads.get(thread)?.messages).toHaveLength(2);
	});
});

describe('a message, a decision or another answer, on a thread', () => {
	const operations = [ask, decide, again];

	it.each(operations)('that nobody knows: it is said that there is none', async (parameters) => {
		const unknown = '11111111-1111-4111-8111-111111111111';
		const { error } = await fixture.run(parameters(), { items: [says(unknown, 'Hello')] });
		expect(error?.message).toBe(`There is no conversation with thread ${unknown}`);
		expect(error?.description).toContain(
			'Check "Thread": it takes the threadId, not the conversationId',
		);
	});

	it('that nobody knows under an ID of its own: visitors do not read it', async () => {
		const { error } = await fixture.run(ask(), { items: [says('+49 30 1234567', 'Hello')] });
		expect(error?.message).toBe('There is no conversation with this thread');
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
			error: 'Not Found',
			statusCode: 404,
		};
		add(onThread(thread, { do: 'status', status: 404, body }));
		const { error } = await fixture.run(decide(), { items: [says(thread, '')] });
		expect(error?.message).toBe(`The assistant of thread ${thread} was not found`);
		expect(error?.description).toContain('The assistant of this thread is not there any more');
		expect(error?.description).not.toContain('"Assistant"');
	});

	it('that the key may not run: it is said which key may', async () => {
		const { thread } = await say(`${INTERRUPTING_INPUT} first`);
		add(onThread(thread, { do: 'status', status: 403, body: 'no' }));
		for (const parameters of [decide(), ask()]) {
			const { error } = await fixture.run(parameters, { items: [says(thread, 'Hello')] });
			expect(error?.description).toContain('Use a key made for that workspace, or for this');
		}
	});

	it('whose conversation has never run says so as before', async () => {
		const thread = await newThread();
		const { error } = await fixture.run(decide(), { items: [says(thread, '')] });
		expect(error?.message).toBe('Nothing on this thread waits for a decision');
		add(answering('E5', 403));
		const unread = await fixture.run(decide(), { items: [says(thread, '')] });
		expect(unread.error?.message).toBe('This key may not do this: no (HTTP 403)');
	});
});

async function cancelledThread(): Promise<string> {
	const thread = await newThread();
	add(onOthers(thread, { do: 'run', ms: 60_000, nth: 1 }));
	await occupy(fixture.sandbox, thread, { action: 'send', message: { input: { input: 'Hi' } } });
	fixture.sandbox.cancelRuns(thread);
	await clock.until(() => fixture.sandbox.store.threads.get(thread)?.status !== 'busy');
	return thread;
}

describe('what comes out', () => {
	it('is the reply, how it came about and where to go on, with Simplify', async () => {
		// So long that its record is read, as its stream is silent.
		add({ endpoint: 'runs', do: 'run', ms: 1_800 });
		const { json, items, thread } = await say('Hello');
		expect(json).toEqual({
			output: 'Echo: Hello',
			status: 'completed',
			sources: [],
			threadId: thread,
			conversationId: fixture.sandbox.store.conversationOf(thread)?.id,
			runId: fixture.sandbox.store.runs.at(-1)?.id,
			usage: { totalTokens: expect.any(Number) },
		});
		expect(items[0]?.pairedItem).toEqual({ item: 0 });
	});

	it('is the answer of the server with the thread and its conversation, without', async () => {
		const { json, thread } = await say('Hello', { simplify: false });
		const conversationId = fixture.sandbox.store.conversationOf(thread)?.id;
		const runId = fixture.sandbox.store.runs.at(-1)?.id;
		const ids = { threadId: thread, conversationId, runId };
		const facts = { status: 'completed', sources: [], usage: { totalTokens: 4 } };
		expect(json).toEqual({ role: 'ai', content: 'Echo: Hello', ...ids, ...facts });
	});
});

describe('a new conversation', () => {
	it('is made first, and its ids are given back to go on with', async () => {
		const options = { title: 'About the device' };
		const first = await fixture.run(ask({ threadSource: 'new', options }), {
			items: [says('', 'Hello')],
		});
		const [made] = sent('E13');
		const { threadId, conversationId } = first.items[0]?.json ?? {};
		expect(made?.body).toEqual({ title: 'About the device', threadId });
		const conversation = fixture.sandbox.store.conversations.get(String(conversationId));
		expect(conversation).toMatchObject({ threadId, title: 'About the device' });
		expect(
			sent()
				.map(({ endpoint }) => endpoint)
				.slice(0, 2),
		).toEqual(['E13', 'runs']);

		const second = await fixture.run(ask(), { items: [says(String(threadId), 'Again')] });
		expect(second.items[0]?.json.output).toBe('Echo: Again');
		expect(fixture.sandbox.store.threads.get(String(threadId))?.messages).toHaveLength(4);
	});

	it('is made for each item, and called by the start of its message', async () => {
		const items = [says('', ' One'), says('', `Two ${'x'.repeat(200)}`)];
		const { items: out } = await fixture.run(ask({ threadSource: 'new' }), { items });
		expect(new Set(out.map(({ json }) => json.threadId)).size).toBe(2);
		const titles = sent('E13').map(({ body }) => (body as { title: string }).title);
		expect(titles.sort()).toEqual(['One', expect.stringMatching(/^Two x{40,}.*$/)]);
		for (const title of titles) expect(title.length).toBeLessThanOrEqual(80);
	});

	it('that cannot be made fails the item, and no run is sent', async () => {
		add(answering('E13', 403, { body: 'not yours' }));
		const { error } = await fixture.run(ask({ threadSource: 'new' }), { items: [says('', 'Hi')] });
		expect(error?.message).toBe('This key may not do this: not yours (HTTP 403)');
		expect(sent('runs')).toEqual([]);
	});
});

describe('a run that somebody cancels', () => {
	it('has failed with the reason of the server, and waits for nobody', async () => {
		const thread = await newThread();
		add(onThread(thread, { do: 'run', ms: 60_000 }));
		const running = fixture.run(ask(), { items: [says(thread, 'Hello')] });
		await clock.until(() => fixture.sandbox.cancelRuns(thread) > 0);
		const { error } = await running;
		expect(error?.message).toBe('The run was cancelled on the server: Canceled by user');
		expect(error?.context.data).toMatchObject({ threadId: thread });
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
		expect(error?.context).toMatchObject({ itemIndex: 0, data: { threadId: thread } });
	});

	it('of several stops the workflow with the number of its item', async () => {
		const threads = await newThreads(fixture.sandbox, 2);
		const [, failing = ''] = threads;
		add(onThread(failing, { do: 'run', outcome: 'fail', error: 'Quota exceeded' }));
		const { error } = await fixture.run(ask(), {
			items: threads.map((thread) => says(thread, 'Hello')),
		});
		expect(error?.message).toBe('The run failed: Quota exceeded [item 1]');
	});

	it('goes to the error output, and the others go on', async () => {
		const threads = await newThreads(fixture.sandbox, 3);
		const [, failing = ''] = threads;
		const reason = 'Quota exceeded';
		add(onThread(failing, { do: 'run', outcome: 'fail', error: reason }));
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
});
