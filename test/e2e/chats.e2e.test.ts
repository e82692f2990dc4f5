import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { WorkflowFile } from 'host/examples';
import { waitFor } from 'host/waitFor';
import { SANDBOX_KNOWLEDGEBASE_ID } from 'sandbox';
import { SECOND_ANSWERS_FIRST } from '../engine/support/citedAnswers';
import { chain, type Node } from '../queue/support/ingestion';
import {
	ASSISTANT,
	chatTrigger,
	listen,
	published,
	publishedChat,
	SLOW,
	SLOW_ANSWER,
	streamingWebhook,
	twoNodes,
} from './support/chat';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

const streamingChat = (message = '={{ $json.chatInput }}') =>
	twoNodes(chatTrigger({ responseMode: 'streaming' }), message);

describe.each([
	['a chat', () => streamingChat()],
	['a webhook', () => twoNodes(streamingWebhook(), '={{ $json.body.chatInput }}')],
])('%s that streams', (_, workflow) => {
	it('has the first word while the model is still writing, and each word once', async () => {
		const path = await published(harness, workflow());
		const { chunks, shown, stillWritten } = await listen(harness, path, SLOW);
		expect([shown, stillWritten]).toEqual([SLOW_ANSWER, true]);
		const own = chunks.filter(({ metadata }) => metadata.nodeName === ASSISTANT);
		expect(own.map(({ type }) => type).join(' ')).toMatch(/^begin (item ){21}end$/);
	});
});

/** A chat that streams, and asks again after a moment, in the same conversation, what has failed once. */
function askingAgain(): WorkflowFile {
	const [start, ask] = streamingChat("={{ $('Start').item.json.chatInput }}").nodes as [Node, Node];
	const wait = {
		name: 'Wait',
		type: 'n8n-nodes-base.wait',
		typeVersion: 1.1,
		webhookId: randomUUID(),
		parameters: { amount: 1 },
	};
	const asking = { ...ask, onError: 'continueErrorOutput' };
	const { connections, ...rest } = chain('Again', start, asking, wait);
	const link = (node: string) => [{ node, type: 'main', index: 0 }];
	const again = { [ASSISTANT]: { main: [[], link('Wait')] }, Wait: { main: [link(ASSISTANT)] } };
	return { ...rest, connections: { ...connections, ...again } };
}

it('visitors stay in their conversation when the workflow comes back to the node', async () => {
	const path = await published(harness, askingAgain());
	const visitor = randomUUID();
	const hello = (seen: number) => `You said: Hello [users seen: ${seen}]`;
	const sorry = 'Sorry, there is no answer right now, please try again later.';
	expect((await listen(harness, path, 'Hello', visitor)).shown).toBe(hello(1));
	harness.sandbox.faults.add({ endpoint: 'runs', nth: 1, do: 'run', outcome: 'fail' });
	expect((await listen(harness, path, 'Hello', visitor)).shown).toBe(sorry + hello(2));
});

it('visitors read the numbers that the output and its sources have', async () => {
	const passages = { include: ['passages'] };
	const trigger = chatTrigger({ responseMode: 'streaming' });
	const chat = twoNodes(trigger, '={{ $json.chatInput }}', passages);
	const { path, workflowId } = await publishedChat(harness, chat);
	harness.sandbox.faults.add({ ...SECOND_ANSWERS_FIRST, nth: 1 });
	const { shown } = await listen(harness, path, 'Hello');
	expect(shown).toBe('Stripes [1], spines [2].\n\nSources:\n- [1] zebra.md\n- [2] cactus.md');
	const [json] = (await harness.latestExecution(workflowId)).json(ASSISTANT);
	expect(json).toMatchObject({
		output: shown,
		sources: [
			{ number: 1, documentName: 'zebra.md', cited: true },
			{ number: 2, documentName: 'cactus.md', cited: true },
			{ number: 3, documentName: 'agave.md', cited: false },
		],
	});
});

/** What n8n's Chat keeps of a conversation. */
const part = z.object({ type: z.literal('text'), content: z.string() });
const message = z.object({ type: z.string(), status: z.string(), content: z.array(part) });
const kept = z.object({ conversation: z.object({ messages: z.record(message) }) });

describe("n8n's Chat with the example of answers as they are written", () => {
	it('shows an answer and the documents it cites', async () => {
		const { store, requests } = harness.sandbox;
		const fields = { knowledgebaseId: SANDBOX_KNOWLEDGEBASE_ID, name: 'warranty.md' };
		store.putFindable(store.putDocument(fields), ['The warranty lasts three years.']);
		const file = 'answers-as-they-are-written.json';
		const workflowId = await harness.importWorkflow(file, await harness.createCredential());
		await harness.activate(workflowId);
		const { rest } = harness.host;
		await rest.request('PUT', '/rest/chat/enabled', { enabled: true });
		requests.clear();
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
		expect([answer.status, answer.content.map(({ content }) => content).join('')]).toEqual([
			'success',
			'According to "warranty.md": "The warranty lasts three years." [1]\n\nSources:\n- [1] warranty.md',
		]);
		// With a key it takes its turn, and is heard once it has begun.
		expect(requests.of('join')).toHaveLength(1);
	});
});
