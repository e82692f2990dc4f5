import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { BROKEN_ASSISTANT_ID, ECHO_ASSISTANT_ID, SAYING_ASSISTANT } from '../../sandbox';
import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { clock } from './support/clock';
import { useFixture } from './support/fixture';
import { byId } from './support/locators';
import { ask, says } from './support/runs';

const fixture = useFixture();

/** Parameters that take the key from the column that holds a thread elsewhere. */
const keyed = (parameters: INodeParameters = {}) =>
	ask({
		threadSource: 'key',
		conversationKey: '={{ $json.thread }}',
		assistantId: byId(SAYING_ASSISTANT.id),
		...parameters,
	});

const threadOf = (key: string) => derivedId(SAYING_ASSISTANT.id, key);
const conversationsOn = (threadId: string) =>
	[...fixture.sandbox.store.conversations.values()].filter((one) => one.threadId === threadId);

/** Says something under a key, in an execution of its own. */
async function say(key: string, message: string, parameters: INodeParameters = {}) {
	const result = await fixture.run(keyed(parameters), { items: [says(key, message)] });
	return { ...result, json: result.items[0]?.json };
}

beforeEach(() => fixture.sandbox.store.putAssistant(SAYING_ASSISTANT));

describe('a conversation with a key', () => {
	it('is started by its first message and goes on in every later execution', async () => {
		const first = await say('ann', 'one');
		expect(first.json).toMatchObject({
			output: 'You said: one [users seen: 1]',
			threadId: threadOf('ann'),
		});
		const endpoints = () => fixture.sandbox.requests.all.map(({ endpoint }) => endpoint);
		const begun = endpoints().indexOf('runs');
		expect(endpoints().slice(0, begun)).toEqual([...['E5', 'E15', 'E15', 'E13', 'E5'], 'listRuns']);
		// Whether it was its turn, what it says, and whether others were there.
		expect(endpoints().slice(begun + 1)).toEqual(['listRuns', 'join', 'listRuns']);
		const second = await say('ann', 'two');
		expect(second.json).toMatchObject({
			output: 'You said: two [users seen: 2]',
			threadId: threadOf('ann'),
			conversationId: first.json?.conversationId,
		});
		expect(fixture.sandbox.requests.of('E13')).toHaveLength(1);
		expect(endpoints().filter((one) => one === 'runs')).toHaveLength(2);
	});

	it('is made on the thread of the key, without an id, called by its message or title', async () => {
		await say('ann', 'one');
		await say('bob', 'one', { options: { title: 'Mails of Bob' } });
		expect(fixture.sandbox.requests.of('E13').map(({ body }) => body)).toEqual([
			{ title: 'one', threadId: threadOf('ann') },
			{ title: 'Mails of Bob', threadId: threadOf('bob') },
		]);
	});

	it('knows nothing of the one with another key, or with another assistant', async () => {
		await say('ann', 'one');
		expect((await say('bob', 'one')).json?.output).toBe('You said: one [users seen: 1]');
		const other = await say('ann', 'one', { assistantId: byId(ECHO_ASSISTANT_ID) });
		expect(other.json).toMatchObject({
			output: 'Echo: one',
			threadId: derivedId(ECHO_ASSISTANT_ID, 'ann'),
		});
	});

	it.each([
		['a number is the same as its text', 4711, '4711'],
		['with blanks around it is the same as without', ' ann\n', 'ann'],
	])('%s', async (_, key, text) => {
		const { items } = await fixture.run(keyed(), {
			items: [{ json: { thread: key, message: 'one' } }],
		});
		expect(items[0]?.json.threadId).toBe(threadOf(text));
	});

	it('takes the assistant of a JSON body', async () => {
		const body = { assistant_id: SAYING_ASSISTANT.id, input: { input: { input: 'one' } } };
		const { json } = await say('ann', '', {
			options: { bodyMode: 'json', jsonBody: JSON.stringify(body) },
		});
		expect(json).toMatchObject({ threadId: threadOf('ann'), status: 'completed' });
	});
});

describe('a conversation that is chosen by itself', () => {
	const CHAT = '@n8n/n8n-nodes-langchain.chatTrigger';
	type Circumstances = Parameters<typeof fixture.run>[1];

	/** Says something in a chat with nothing set but the assistant. */
	async function chat(sessionId: unknown, chatInput: string, how: Circumstances = {}) {
		const json = { action: 'sendMessage', sessionId, chatInput } as IDataObject;
		const { items, error } = await fixture.run(
			{
				...{ resource: 'thread', operation: 'run', message: '={{ $json.chatInput }}' },
				assistantId: byId(SAYING_ASSISTANT.id),
			},
			{ trigger: CHAT, items: [{ json }], ...how },
		);
		return { error, json: items[0]?.json };
	}

	it('is that of the session, for each visitor of a chat, and the same as with that key', async () => {
		await chat('ann', 'one');
		await chat('bob', 'one');
		expect((await chat('ann', 'two')).json).toMatchObject({
			output: 'You said: two [users seen: 2]',
			threadId: threadOf('ann'),
		});
		expect((await chat('bob', 'two')).json).toMatchObject({
			output: 'You said: two [users seen: 2]',
			threadId: threadOf('bob'),
		});
		expect((await say('ann', 'three')).json?.output).toBe('You said: three [users seen: 3]');
	});

	it.each<[string, unknown, Circumstances]>([
		['behind another trigger', 'ann', { trigger: 'n8n-nodes-base.webhook' }],
		['in a loop, whose turns ask on their own', 'ann', { loops: true }],
		['as the tool of an agent', 'ann', { isTool: true }],
		['where the session is missing', undefined, {}],
		['where the session is blank', ' ', {}],
	])('is a new one %s', async (_, session, how) => {
		for (const words of ['one', 'two'])
			expect((await chat(session, words, how)).json?.output).toBe(
				`You said: ${words} [users seen: 1]`,
			);
		const made = fixture.sandbox.requests.of('E13').map(({ body }) => body as IDataObject);
		expect(new Set(made.map(({ threadId }) => threadId)).size).toBe(2);
	});

	it('is none for a session that stands for a missing value', async () => {
		const { error } = await chat('undefined', 'one');
		expect(error?.message).toBe(
			'The sessionId of the Chat Trigger holds "undefined", which stands for a missing value',
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});

describe('a conversation with a key whose server answers badly', () => {
	it('is that which somebody else has made meanwhile, and ours is off the thread again', async () => {
		fixture.sandbox.faults.add({ endpoint: 'E13', do: 'delay', ms: 200 });
		const saying = say('ann', 'one');
		await clock.until(() => fixture.sandbox.requests.of('E13').length > 0);
		const theirs = fixture.sandbox.store.putConversation({ threadId: threadOf('ann') });
		const { json } = await saying;
		expect(json).toMatchObject({ status: 'completed', conversationId: theirs.id });
		expect(conversationsOn(threadOf('ann')).map(({ id }) => id)).toEqual([theirs.id]);
	});
});

describe('a conversation with a key behaves as an existing thread does', () => {
	it('when a person is asked: its run is interrupted, and goes on with a decision', async () => {
		const asked = await say('ann', 'ASK A PERSON first');
		expect(asked.json).toMatchObject({
			status: 'interrupted',
			interrupt: [{ call: { args: { input: 'ASK A PERSON first' } } }],
		});
		const jsonBody = (type: string) =>
			JSON.stringify({
				assistant_id: SAYING_ASSISTANT.id,
				input: { action: 'resume', target: {}, decision: { type } },
			});
		const decided = await say('ann', '', {
			options: { bodyMode: 'json', jsonBody: jsonBody('reject') },
		});
		expect(decided.json).toMatchObject({ output: '', status: 'completed', rejected: true });
		const again = await say('ann', '', {
			options: { bodyMode: 'json', jsonBody: jsonBody('confirm') },
		});
		expect(again.error?.message).toBe('Nothing on this thread waits for a decision');
	});
});

describe('what cannot be a conversation is refused in words, and nothing is sent', () => {
	it.each([
		['a key of blanks', '  '],
		['no key', undefined],
	])('%s', async (_, key) => {
		const items = [says('ann', 'one'), { json: { thread: key, message: 'two' } }];
		const { error } = await fixture.run(keyed(), { items });
		expect(error?.message).toBe(
			'"Conversation Key" is empty: its expression gave nothing for this item [item 1]',
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});

	it('a key that is a list', async () => {
		const { error } = await say('ann', 'one', { conversationKey: '={{ ["ann"] }}' });
		expect(error?.message).toBe('"Conversation Key" must be text, but is ["ann"]');
	});

	it('a JSON body that names no assistant', async () => {
		const { error } = await say('ann', '', {
			options: { bodyMode: 'json', jsonBody: '{"input":{}}' },
		});
		expect(error?.message).toBe('"JSON Body" must name the assistant_id, to which the key belongs');
	});

	it.each(['resume', 'retry'])('a new conversation that is to %s', async (action) => {
		const jsonBody = JSON.stringify({ input: { action } });
		const { error } = await say('', '', {
			threadSource: 'new',
			options: { bodyMode: 'json', jsonBody },
		});
		expect(error?.message).toMatch(
			/^"Run On" must be "Conversation With a Key" or "Existing Thread", as .*$/,
		);
		expect(fixture.sandbox.requests.all).toEqual([]);
	});
});

describe('a run that fails, with Failures as Replies', () => {
	const asReply = { options: { failuresAsReplies: true } };

	it('says its reason as the reply, on the success output', async () => {
		const { outputs, error } = await fixture.run(
			ask({ threadSource: 'new', assistantId: byId(BROKEN_ASSISTANT_ID), ...asReply }),
			{ items: [says('', 'one')], onError: 'continueErrorOutput' },
		);
		expect(error).toBeUndefined();
		expect(outputs[0]?.map(({ json, pairedItem }) => ({ json, pairedItem }))).toEqual([
			{
				json: {
					output: 'The run failed: No model for "broken"',
					status: 'failed',
					threadId: expect.any(String),
					conversationId: expect.any(String),
					runId: fixture.sandbox.store.runs.at(-1)?.id,
				},
				pairedItem: { item: 0 },
			},
		]);
		expect(outputs[1] ?? []).toEqual([]);
	});

	it('says so of a message that cannot be sent, and the others go on', async () => {
		const { items, error } = await fixture.run(keyed(asReply), {
			items: [says('ann', ''), says('bob', 'one')],
		});
		expect(error).toBeUndefined();
		expect(items.map(({ json }) => json.output)).toEqual([
			'"Message" is empty: its expression gave nothing for this item [item 0]',
			'You said: one [users seen: 1]',
		]);
	});
});

describe('an answer of several parts', () => {
	const options = { inOneRequest: true };
	const said = async (message: string) =>
		await say('ann', message, { threadSource: 'new', options });
	const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } };
	const answers = (content: unknown) =>
		fixture.sandbox.faults.add({
			endpoint: 'E4',
			do: 'status',
			status: 201,
			body: { role: 'ai', content },
		});

	it('gives its text as the reply, Markdown and all, and the rest as parts', async () => {
		answers([{ type: 'text', text: '# See\n**this**:' }, image]);
		expect((await said('one')).json).toMatchObject({
			output: '# See\n**this**:',
			parts: [image],
			status: 'completed',
		});
	});

	it('has an empty reply where it is nothing but an image', async () => {
		answers([image]);
		expect((await said('one')).json).toMatchObject({ output: '', parts: [image] });
	});
});
