import { z } from 'zod';

import { parseAnswer } from '../transport/answer';
import { textOf } from './messages';
import type { ThreadMessage, ThreadState } from './state';

/** A call of a tool, in the message that makes it (recorded, E15). */
const toolCall = z.object({ id: z.string(), name: z.string(), args: z.unknown() });

const calling = z.object({
	tool_calls: z.array(toolCall.optional().catch(undefined)).catch([]),
});

/** An agent of the assistant, and what it has said and heard, which a thread keeps in a channel for each. */
const channel = z.object({
	agent: z.object({ title: z.string() }),
	messages: z.array(z.object({ id: z.string().optional() }).catch({})),
});

/** A call of a tool and what came of it, in the words of n8n's AI Agent. */
export interface Step {
	action: {
		tool: string;
		toolInput: unknown;
		toolCallId: string;
		/** Who made the call, by the name the agent has on the server. */
		agent?: string;
	};
	/** What the tool answered, as JSON where it is JSON; missing while it waits for a person. */
	observation?: unknown;
}

/**
 * The calls of tools among the messages of a run, in their order.
 *
 * @param state the thread, which tells which agent made a call
 */
export function stepsIn(messages: ThreadMessage[], state: ThreadState): Step[] {
	const answers = new Map(messages.map((one) => [one.tool_call_id, one]));
	const agents = agentsOf(state);
	return messages.flatMap((message) =>
		(calling.parse(message).tool_calls ?? []).flatMap((call) => {
			if (!call) return [];
			const agent = message.id === undefined ? undefined : agents.get(message.id);
			const answer = answers.get(call.id);
			return {
				action: {
					...{ tool: call.name, toolInput: call.args, toolCallId: call.id },
					...(agent !== undefined && { agent }),
				},
				...(answer && { observation: parseAnswer(textOf(answer.content)) }),
			};
		}),
	);
}

/** Who said a message, by its id. */
function agentsOf(state: ThreadState): Map<string | undefined, string> {
	const channels = Object.values(state.values ?? {}).flatMap(
		(value) => channel.safeParse(value).data ?? [],
	);
	return new Map(
		channels.flatMap(({ agent, messages }) =>
			messages.map(({ id }): [string | undefined, string] => [id, agent.title]),
		),
	);
}
