import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { PLACEHOLDERS } from '../../host/exampleValues';
import { waitFor } from '../../host/waitFor';
import { derivedId } from '../../nodes/XpertAi/payloads/derivedId';
import { SANDBOX_ASSISTANT_ID, SANDBOX_KNOWLEDGEBASE_ID, SAYING_ASSISTANT } from '../../sandbox';
import { exampleWith } from './support/examples';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

/** A node that may have an address of its own, new at each import. */
const webhook = z.object({ webhookId: z.string().optional() });

/** What was said by persons on the thread of a key. */
const saidUnder = (assistantId: string, key: string) =>
	harness.sandbox.store.threads
		.get(derivedId(assistantId, key))
		?.messages.filter(({ from }) => from === 'person')
		.map(({ content }) => content);

describe('the example "chat with an assistant" in n8n', () => {
	let workflowId: string;
	let chat: string;

	const say = async (sessionId: string, chatInput: string) => {
		const { data } = await harness.callWebhook(chat, {
			action: 'sendMessage',
			sessionId,
			chatInput,
		});
		return data;
	};

	beforeAll(async () => {
		harness.sandbox.store.putAssistant(SAYING_ASSISTANT);
		const credential = await harness.createCredential();
		// The assistant that says how many messages it has seen: so its memory is to be seen.
		const file = 'chat-with-an-assistant.json';
		const workflow = exampleWith(file, 'Ask Assistant', (node) => {
			const text = JSON.stringify(node).replace(
				PLACEHOLDERS.chosenAssistantId,
				SAYING_ASSISTANT.id,
			);
			return JSON.parse(text) as typeof node;
		});
		workflowId = await harness.importWorkflow(workflow, credential);
		const { nodes } = await harness.host.rest.getWorkflow(workflowId);
		chat = `${
			z
				.array(webhook)
				.parse(nodes)
				.find(({ webhookId }) => webhookId)?.webhookId
		}/chat`;
		await harness.activate(workflowId);
	});

	it('remembers two persons apart, each from one message to the next', async () => {
		expect(await say('ann', 'I am Ann')).toMatchObject({
			output: 'You said: I am Ann [users seen: 1]',
		});
		expect(await say('bob', 'I am Bob')).toMatchObject({
			output: 'You said: I am Bob [users seen: 1]',
		});
		expect(await say('ann', 'And I?')).toMatchObject({
			output: 'You said: And I? [users seen: 2]',
		});
		expect(saidUnder(SAYING_ASSISTANT.id, 'ann')).toHaveLength(2);
		expect(saidUnder(SAYING_ASSISTANT.id, 'bob')).toHaveLength(1);
	});

	it('says why there is no answer, and goes on', async () => {
		expect(await say('ann', 'FAIL')).toMatchObject({
			message: 'Sorry, there is no answer right now, please try again later.',
			error: 'The run failed: 500 fake model failure: quota exceeded',
		});
	});
});

describe('the example "answers as they are written" in n8n', () => {
	/** What n8n's Chat keeps of a conversation. */
	const part = z.object({ type: z.literal('text'), content: z.string() });
	const message = z.object({ type: z.string(), status: z.string(), content: z.array(part) });
	const kept = z.object({ conversation: z.object({ messages: z.record(message) }) });

	it("shows an answer and the documents it cites in n8n's Chat", async () => {
		const { store } = harness.sandbox;
		const fields = { knowledgebaseId: SANDBOX_KNOWLEDGEBASE_ID, name: 'warranty.md' };
		store.putFindable(store.putDocument(fields), ['The warranty lasts three years.']);
		const credential = await harness.createCredential();
		const file = 'answers-as-they-are-written.json';
		const workflowId = await harness.importWorkflow(file, credential);
		await harness.activate(workflowId);
		const { rest } = harness.host;
		await rest.request('PUT', '/rest/chat/enabled', { enabled: true });
		harness.sandbox.requests.clear();
		const sessionId = randomUUID();
		await rest.request('POST', '/rest/chat/conversations/send', {
			messageId: randomUUID(),
			sessionId,
			message: 'How long does the warranty last?',
			model: { provider: 'n8n', workflowId },
			previousMessageId: null,
			credentials: {},
			attachments: [],
		});
		const answer = await waitFor('the answer', async () => {
			const chat = await rest.request('GET', `/rest/chat/conversations/${sessionId}`);
			const messages = Object.values(kept.parse(chat).conversation.messages);
			return messages.find(({ type, status }) => type === 'ai' && status !== 'running');
		});
		expect(answer.status).toBe('success');
		expect(answer.content.map(({ content }) => content).join('')).toBe(
			'According to "warranty.md": "The warranty lasts three years." [1]\n\nSources:\n- [1] warranty.md',
		);
		// With a key it takes its turn, and is heard once it has begun.
		expect(harness.sandbox.requests.of('join')).toHaveLength(1);
	});
});

describe('the example "answer mails in their thread" in n8n', () => {
	it('answers each mail, those of one thread in one conversation', async () => {
		const credential = await harness.createCredential();
		const id = await harness.importWorkflow('answer-mails-in-their-thread.json', credential);
		const execution = await harness.runManually(id);
		expect(execution.error).toBeUndefined();
		const sent = execution.json('Send Mail Here');
		expect(sent).toEqual([
			expect.objectContaining({ to: 'ann@example.com', subject: 'Re: Warranty' }),
			expect.objectContaining({ to: 'bob@example.com', subject: 'Re: Cleaning' }),
			expect.objectContaining({ to: 'ann@example.com', subject: 'Re: Warranty' }),
		]);
		for (const { text } of sent) expect(text).toEqual(expect.any(String));
		expect(saidUnder(SANDBOX_ASSISTANT_ID, 'thread-1')).toHaveLength(2);
		expect(saidUnder(SANDBOX_ASSISTANT_ID, 'thread-2')).toHaveLength(1);
	});
});
