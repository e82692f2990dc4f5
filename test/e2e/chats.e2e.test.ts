import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import { waitFor } from '../../host/waitFor';
import { SANDBOX_KNOWLEDGEBASE_ID } from '../../sandbox';
import {
	ASSISTANT,
	chatTrigger,
	listen,
	published,
	SLOW,
	SLOW_ANSWER,
	streamingWebhook,
	twoNodes,
} from './support/chat';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

const streamingChat = () =>
	twoNodes(chatTrigger({ responseMode: 'streaming' }), '={{ $json.chatInput }}');

describe.each([
	['a chat', streamingChat],
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

describe('a chat of two nodes, in which nothing is set but the assistant', () => {
	it('remembers each of two visitors', async () => {
		const path = await published(harness, streamingChat());
		const visitors = [randomUUID(), randomUUID()];
		for (const [seen, words] of ['one', 'two'].entries())
			for (const visitor of visitors)
				expect((await listen(harness, path, words, visitor)).shown).toBe(
					`You said: ${words} [users seen: ${seen + 1}]`,
				);
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
