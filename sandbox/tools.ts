import type { ToolCall } from './entities';
import { laterReply } from './laterModel';
import { recordedReply, type Reply, type Turn } from './recordedModel';
import type { Assistant } from './store';
import type { AnswerMode, ToolSeed } from './seed';

/** The sub agent that an assistant calls when a person agrees, by the name of its tool. */
export const SUB_AGENT = 'subagent';

/** The models of the recordings, which helpers have as well. */
export const MODELS: Partial<Record<AnswerMode, (turn: Turn, error?: string) => Reply>> = {
	said: recordedReply,
	answers: laterReply,
};

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
export function toolSays(assistant: Assistant, { args }: ToolCall, payload?: unknown): Reply {
	if (assistant.subAgentSays !== null) return { text: assistant.subAgentSays };
	const text = String(args.input).replace(/\s+/g, ' ');
	const model = MODELS[assistant.answers];
	if (!model) {
		return {
			text: `Confirmed: ${text}${payload === undefined ? '' : ` ${JSON.stringify(payload)}`}`,
		};
	}
	return model({
		text,
		attachments: '',
		heard: [text],
		all: [],
		rounds: 0,
		rejected: false,
		isAgain: false,
		tools: [],
	});
}
