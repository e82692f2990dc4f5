import type { ToolCall } from './entities';
import { recordedReply } from './recordedModel';
import type { Assistant } from './store';
import type { ToolSeed } from './seed';

/** The sub agent that an assistant calls when a person agrees, by the name of its tool. */
export const SUB_AGENT = 'subagent';

/** The sub agent that any assistant has which was given no tools, and any that is made to ask. */
const subAgent = ({ asks }: Assistant): ToolSeed => ({
	name: SUB_AGENT,
	title: 'SubAgent',
	description: asks,
	waits: true,
});

/** What an assistant can call. */
export const toolsOf = (assistant: Assistant): ToolSeed[] =>
	assistant.tools ?? [subAgent(assistant)];

/** The tool that is called. */
export const toolOf = (assistant: Assistant, { name }: ToolCall): ToolSeed =>
	toolsOf(assistant).find((tool) => tool.name === name) ?? subAgent(assistant);

/** What a sub agent says when it is called; the sandbox's own repeats what came with the decision. */
export function toolSays(assistant: Assistant, { args }: ToolCall, payload?: unknown): string {
	if (assistant.subAgentSays !== null) return assistant.subAgentSays;
	const text = String(args.input).replace(/\s+/g, ' ');
	if (assistant.answers !== 'said') {
		return `Confirmed: ${text}${payload === undefined ? '' : ` ${JSON.stringify(payload)}`}`;
	}
	const told = {
		text,
		attachments: '',
		heard: [text],
		all: [],
		rounds: 0,
		rejected: false,
		tools: [],
	};
	return recordedReply(told).text;
}
