import { randomUUID } from 'node:crypto';

import { z } from 'zod';

import type { WorkflowFile } from '../../host/examples';
import { waitFor } from '../../host/waitFor';
import {
	INTERRUPTING_INPUT,
	SANDBOX_ASSISTANT_ID,
	SANDBOX_KNOWLEDGEBASE_ID,
	SAYING_ASSISTANT,
} from '../../sandbox';
import { byId } from '../engine/support/locators';
import { chain, workflowOf, xpertAiNode, type Node } from '../queue/support/ingestion';
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

/** A chat that streams, with these nodes behind its trigger. */
const chatOf = (...nodes: Node[]) =>
	chain('Steps', chatTrigger({ responseMode: 'streaming' }), ...nodes);
const step = (name: string, options: object, parameters: object = {}) =>
	xpertAiNode(name, {
		resource: 'thread',
		operation: 'run',
		assistantId: byId(SAYING_ASSISTANT.id),
		message: "={{ $('Start').item.json.chatInput }}",
		options,
		...parameters,
	});
const SORRY = 'Sorry, there is no answer right now, please try again later.';
const hello = (seen: number) => `You said: Hello [users seen: ${seen}]`;
/** Without what is handed over to the tool. */
const WAITS =
	'This waits for a person to decide: SubAgent (May I answer this?).This was rejected, and not carried out.';

/** An answer that failed once is asked for again after a moment, in the same conversation. */
function askingAgain(): WorkflowFile {
	const ask = { ...step(ASSISTANT, {}), onError: 'continueErrorOutput' };
	const wait = {
		name: 'Wait',
		type: 'n8n-nodes-base.wait',
		typeVersion: 1.1,
		webhookId: randomUUID(),
		parameters: { amount: 1 },
	};
	const { connections, ...rest } = chatOf(ask, wait);
	const link = (node: string) => [{ node, type: 'main', index: 0 }];
	const again = { [ASSISTANT]: { main: [[], link('Wait')] }, Wait: { main: [link(ASSISTANT)] } };
	return { ...rest, connections: { ...connections, ...again } };
}

describe('the visitors of a chat', () => {
	it.each<[string, () => WorkflowFile, string, string]>([
		[
			'nothing of a step with Show in Chat: Nothing',
			() =>
				chatOf(
					step('Classify', { showInChat: 'hidden' }, { threadSource: 'new' }),
					step(ASSISTANT, {}),
				),
			'Hello',
			hello(1),
		],
		[
			'the name in a link, with its brackets',
			() => chatOf(step(ASSISTANT, {})),
			'See [Policy [v2].pdf](xpert://files/1)!',
			'You said: See Policy [v2].pdf! [users seen: 1]',
		],
		[
			'that a run waits, and that it was rejected',
			() =>
				chatOf(
					step(ASSISTANT, {}, { assistantId: byId(SANDBOX_ASSISTANT_ID) }),
					xpertAiNode('Reject', {
						resource: 'thread',
						operation: 'decide',
						threadId: byId('={{ $json.threadId }}'),
						decision: 'reject',
					}),
				),
			`${INTERRUPTING_INPUT} secret`,
			WAITS,
		],
	])('read %s', async (_, workflow, words, shown) => {
		const path = await published(harness, workflow());
		expect((await listen(harness, path, words)).shown).toBe(shown);
	});

	it('stay in their conversation when the workflow comes back to the node', async () => {
		const path = await published(harness, askingAgain());
		const visitor = randomUUID();
		expect((await listen(harness, path, 'Hello', visitor)).shown).toBe(hello(1));
		harness.sandbox.faults.add({ endpoint: 'runs', nth: 1, do: 'run', outcome: 'fail' });
		expect((await listen(harness, path, 'Hello', visitor)).shown).toBe(SORRY + hello(2));
	});
});

it('a conversation in which two questions were asked is deleted with its messages', async () => {
	const { store } = harness.sandbox;
	const conversationId = '={{ $json.conversationId }}';
	const remove = { resource: 'conversation', operation: 'delete', conversationId };
	const thread = { threadSource: 'existing', threadId: byId('={{ $json.threadId }}') };
	const workflow = workflowOf('Forget', [
		step('First', {}, { message: 'Hello' }),
		step('Second', {}, { message: 'Hello', ...thread }),
		xpertAiNode('Delete', remove),
	]);
	const credential = await harness.createCredential();
	const execution = await harness.runManually(await harness.importWorkflow(workflow, credential));
	const [asked] = execution.json('Second');
	expect(asked?.output).toBe(hello(2));
	expect(execution.json('Delete')).toEqual([{ deleted: true }]);
	expect(store.messages.filter((one) => one.conversationId === asked?.conversationId)).toEqual([]);
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
