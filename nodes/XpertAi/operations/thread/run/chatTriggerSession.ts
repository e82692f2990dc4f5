import { CHAT_TRIGGER_NODE_TYPE, type INodeExecutionData } from 'n8n-workflow';
import { z } from 'zod';

import type { Item } from '../../../execution/item';
import { isInLoop, isTool } from '../../../execution/n8nExecution';

/**
 * The node type of Loop Over Items. Each round of this loop has other items. These items must not share the
 * conversation of the chat session. Other loops come back with the same chat message, so they keep its conversation.
 */
const LOOP_OVER_ITEMS = 'n8n-nodes-base.splitInBatches';

/** The output of a Chat Trigger. */
const chatTriggerOutputSchema = z.object({ sessionId: z.string().trim().min(1).or(z.number()) });

/**
 * The session ID of the chat message that started the execution.
 *
 * @returns null if the chat message has no session; undefined without a chat message, in the tool of an agent, and
 * inside Loop Over Items
 */
export function chatSessionIdOf({ context, index }: Item): string | number | null | undefined {
	if (isTool(context)) return undefined;
	const chatTriggers = context
		.getParentNodes(context.getNode().name)
		.filter(({ type, disabled }) => type === CHAT_TRIGGER_NODE_TYPE && !disabled);
	if (chatTriggers.length === 0 || isInLoop(context, LOOP_OVER_ITEMS)) return undefined;
	const { $: outputOf } = context.getWorkflowDataProxy(index) as {
		$: (name: string) => { isExecuted: boolean; first: () => INodeExecutionData | undefined };
	};
	const outputs = chatTriggers.map(({ name }) => outputOf(name));
	const startedBy = outputs.find(({ isExecuted }) => isExecuted);
	if (!startedBy) return undefined;
	return chatTriggerOutputSchema.safeParse(startedBy.first()?.json).data?.sessionId ?? null;
}
