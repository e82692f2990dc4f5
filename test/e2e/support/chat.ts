import { randomUUID } from 'node:crypto';
import type { Readable } from 'node:stream';

import axios from 'axios';
import { z } from 'zod';

import type { WorkflowFile } from '../../../host/examples';
import type { N8n } from '../../../host/host';
import { SAYING_ASSISTANT } from '../../../sandbox';
import { byId } from '../../engine/support/locators';
import { chain, xpertAiNode, type Node } from '../../queue/support/ingestion';
import type { Harness } from './harness';

/** The node under test in a chat. */
export const ASSISTANT = 'Ask Assistant';

/** 21 words with pauses of a quarter of a second: an answer of five seconds. */
export const SLOW = 'LONG21 DRIP250';
export const SLOW_ANSWER = Array.from({ length: 21 }, (_, place) => `word${place + 1}`).join(' ');

/** What n8n sends to whoever listens, a line each. */
const chunk = z.object({
	type: z.string(),
	content: z.string().optional(),
	metadata: z.object({ nodeName: z.string(), itemIndex: z.number() }),
});

/** What n8n has made of a workflow's nodes; one has an address. */
const started = z.array(
	z.object({
		webhookId: z.string().optional(),
		parameters: z.object({ path: z.string().optional() }).default({}),
	}),
);

export const chatTrigger = (options: object): Node => ({
	...starting('@n8n/n8n-nodes-langchain.chatTrigger', 1.3),
	parameters: { public: true, mode: 'webhook', options },
});

/** A webhook that hands on what comes while it comes. */
export const streamingWebhook = (): Node => ({
	...starting('n8n-nodes-base.webhook', 2),
	parameters: {
		path: randomUUID(),
		httpMethod: 'POST',
		responseMode: 'streaming',
		options: {},
	},
});

const starting = (type: string, typeVersion: number): Node => ({
	name: 'Start',
	type,
	typeVersion,
	webhookId: randomUUID(),
});

export const twoNodes = (trigger: Node, message: string, options = {}): WorkflowFile =>
	chain(
		'Two nodes are a chat',
		trigger,
		xpertAiNode(ASSISTANT, {
			resource: 'thread',
			operation: 'run',
			assistantId: byId(SAYING_ASSISTANT.id),
			message,
			options,
		}),
	);

/** The path of the chat that a workflow has, which is new with each import. */
export async function chatPath({ host }: Harness<N8n>, workflowId: string): Promise<string> {
	const { nodes } = await host.rest.getWorkflow(workflowId);
	const start = started.parse(nodes).find(({ webhookId }) => webhookId);
	return start?.parameters.path ?? `${start?.webhookId}/chat`;
}

/** Publishes a chat of two nodes and waits until it answers; gives its path and its workflow. */
export async function publishedChat(harness: Harness<N8n>, workflow: WorkflowFile) {
	harness.sandbox.store.putAssistant(SAYING_ASSISTANT);
	const credential = await harness.createCredential();
	const workflowId = await harness.importWorkflow(workflow, credential);
	const path = await chatPath(harness, workflowId);
	await harness.activate(workflowId);
	await harness.callWebhook(path, said('Are you there?'));
	return { path, workflowId };
}

/** The path of a chat that is published. */
export const published = async (harness: Harness<N8n>, workflow: WorkflowFile): Promise<string> =>
	(await publishedChat(harness, workflow)).path;

/** What a chat sends; a visitor who has not been there before without one. */
export const said = (chatInput: string, sessionId: string = randomUUID()) => ({
	action: 'sendMessage',
	sessionId,
	chatInput,
});

/** Says something and takes what comes while it comes, and whether the run still went on at the first word. */
export async function listen(
	{ host, sandbox }: Harness<N8n>,
	path: string,
	chatInput: string,
	visitor?: string,
) {
	const url = `${host.url}/webhook/${path}`;
	const { data } = await axios.post<Readable>(url, said(chatInput, visitor), {
		responseType: 'stream',
	});
	let text = '';
	let stillWritten: boolean | undefined;
	for await (const piece of data) {
		text += String(piece);
		if (text.includes('"item"')) stillWritten ??= sandbox.store.runs.at(-1)?.status === 'running';
	}
	const chunks = text
		.split('\n')
		.filter(Boolean)
		.map((line) => chunk.parse(JSON.parse(line)));
	const shown = chunks.map(({ content = '' }) => content).join('');
	return { chunks, shown, stillWritten };
}
