import fastify from 'fastify';
import { findLast } from 'lodash';
import type { AddressInfo } from 'node:net';
import { z } from 'zod';

import type { N8n } from '../../../host/host';
import type { Harness } from './harness';

const chatSchema = z.object({
	messages: z.array(z.object({ role: z.string(), content: z.unknown() }).passthrough()),
	tools: z.array(z.object({ function: z.object({ name: z.string() }) })).default([]),
});

export type ModelRequest = z.infer<typeof chatSchema>;

/** A running stand-in for an OpenAI-compatible model. */
export interface ModelStandIn {
	/** Base URL with the version, as n8n's OpenAI credential takes it. */
	url: string;
	requests: ModelRequest[];
	close: () => Promise<void>;
}

/**
 * Starts a stand-in for a chat model that always asks the first tool it is offered, and then answers
 * with what the tool said. It decides nothing: what is tested is how an agent in n8n calls our tool.
 */
export async function startModelStandIn(
	toolArguments: Record<string, unknown>,
): Promise<ModelStandIn> {
	const requests: ModelRequest[] = [];
	const app = fastify();
	app.post('/v1/chat/completions', async (request) => {
		const chat = chatSchema.parse(request.body);
		requests.push(chat);
		const toolAnswer = findLast(chat.messages, ({ role }) => role === 'tool');
		const [tool] = chat.tools;
		return completion(
			toolAnswer || !tool
				? { content: `The tool said: ${JSON.stringify(toolAnswer?.content ?? null)}` }
				: { content: null, tool_calls: [toolCall(tool.function.name, toolArguments)] },
		);
	});
	await app.listen({ host: '127.0.0.1', port: 0 });
	const { port } = app.server.address() as AddressInfo;
	return { url: `http://127.0.0.1:${port}/v1`, requests, close: async () => await app.close() };
}

/** The name of the credential with which workflows ask it. */
export const STAND_IN = 'Stand-in';

export const modelCredential = async ({ host }: Harness<N8n>, { url }: ModelStandIn) =>
	await host.rest.createCredential({
		name: STAND_IN,
		type: 'openAiApi',
		data: { apiKey: 'none', url },
	});

function toolCall(name: string, toolArguments: Record<string, unknown>) {
	return {
		id: 'call_1',
		type: 'function',
		function: { name, arguments: JSON.stringify(toolArguments) },
	};
}

function completion(message: Record<string, unknown>) {
	return {
		id: 'completion',
		object: 'chat.completion',
		created: 0,
		model: 'stand-in',
		choices: [
			{
				index: 0,
				message: { role: 'assistant', ...message },
				finish_reason: message.tool_calls ? 'tool_calls' : 'stop',
			},
		],
		usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
	};
}
