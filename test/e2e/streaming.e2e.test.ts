import { randomUUID } from 'node:crypto';

import { EditorWindow } from './support/browser';
import {
	ASSISTANT,
	chatTrigger,
	listen,
	published,
	SLOW,
	SLOW_ANSWER,
	SLOW_MS,
	streamingWebhook,
	twoNodes,
} from './support/chat';
import { picturePath } from './support/editorPictures';
import { useSharedHarness } from './support/harness';

const harness = useSharedHarness();

/** What visitors are told where there is no answer. */
const SORRY = 'Sorry, there is no answer right now, please try again later.';

/** Says something in the chat beside the canvas; gives what is answered. */
async function inEditorChat({ page }: EditorWindow, chatInput: string): Promise<string> {
	await page.getByRole('button', { name: 'Open chat' }).last().click();
	const input = page.locator('textarea:visible').last();
	await input.fill(chatInput);
	await input.press('Enter');
	const answer = page.locator('.chat-message-from-bot:not(.chat-message-typing)').last();
	await answer.waitFor({ timeout: 30_000 });
	return (await answer.innerText()).trim();
}

describe.each([
	['a chat', () => chatTrigger({ responseMode: 'streaming' }), '/chat', 'chatInput'],
	['a webhook', streamingWebhook, '', 'body.chatInput'],
])('%s that streams, and our node', (_, trigger, suffix, field) => {
	let path: string;

	beforeAll(async () => {
		path = await published(harness, twoNodes(trigger(), `={{ $json.${field} }}`), suffix);
	});

	it('has the first word while the model is still writing, and each word once', async () => {
		const { chunks, shown, firstMs, wholeMs } = await listen(harness, path, SLOW);
		expect(shown).toBe(SLOW_ANSWER);
		expect(wholeMs).toBeGreaterThanOrEqual(SLOW_MS);
		expect(firstMs).toBeLessThan(SLOW_MS / 2);
		const own = chunks.filter(({ metadata }) => metadata.nodeName === ASSISTANT);
		expect(own.map(({ type }) => type).join(' ')).toMatch(/^begin (item ){21}end$/);
	});
});

describe('a chat of two nodes, in which nothing is set but the assistant', () => {
	it('remembers each of two visitors', async () => {
		const trigger = chatTrigger({ responseMode: 'streaming' });
		const path = await published(harness, twoNodes(trigger, '={{ $json.chatInput }}'), '/chat');
		const visitors = [randomUUID(), randomUUID()];
		for (const [seen, words] of ['one', 'two'].entries())
			for (const visitor of visitors)
				expect((await listen(harness, path, words, visitor)).shown).toBe(
					`You said: ${words} [users seen: ${seen + 1}]`,
				);
	});
});

describe('a chat that does not stream, and our node', () => {
	it('says in the same sentence that there is no answer, where the node goes on', async () => {
		const { nodes, ...rest } = twoNodes(chatTrigger({}), '={{ $json.chatInput }}');
		const workflow = {
			...rest,
			nodes: nodes.map((node) =>
				node.name === ASSISTANT ? { ...node, onError: 'continueRegularOutput' } : node,
			),
		};
		const workflowId = await harness.importWorkflow(workflow, await harness.createCredential());
		const window = await EditorWindow.open(harness.host);
		try {
			await window.openWorkflow(workflowId);
			const said = await inEditorChat(window, 'FAIL');
			expect(said).toBe(SORRY);
			await window.screenshot(picturePath('chat-of-a-failed-run'));
		} finally {
			await window.close();
		}
	});
});
