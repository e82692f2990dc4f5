import { CHAT_TRIGGER_NODE_TYPE } from 'n8n-workflow';
import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { isTool } from './audience';
import type { Item } from './item';

/** Whether the node is part of a loop. */
export function isInLoop(context: IExecuteFunctions): boolean {
	const { name } = context.getNode();
	const before = new Set(context.getParentNodes(name).map((node) => node.name));
	return context.getChildNodes(name).some((node) => before.has(node.name));
}

/** What `$('name')` returns for a node. */
interface NodeOutput {
	isExecuted: boolean;
	first: () => { json: IDataObject } | undefined;
}

const chatMessage = z.object({ sessionId: z.string().trim().min(1) });

/**
 * The session ID of the chat message that started the execution, as n8n's Chat Trigger gave it.
 *
 * @returns undefined if no Chat Trigger before the node has run, in a loop, and in the tool of an agent; a sub-workflow
 * has its own triggers
 */
export function chatSessionOf({ context, index }: Item): string | undefined {
	if (isTool(context)) return undefined;
	const triggers = context
		.getParentNodes(context.getNode().name)
		.filter(({ type, disabled }) => type === CHAT_TRIGGER_NODE_TYPE && !disabled);
	if (triggers.length === 0 || isInLoop(context)) return undefined;
	const { $: outputOf } = context.getWorkflowDataProxy(index) as {
		$: (name: string) => NodeOutput;
	};
	const started = triggers.map(({ name }) => outputOf(name)).find(({ isExecuted }) => isExecuted);
	return chatMessage.safeParse(started?.first()?.json).data?.sessionId;
}
