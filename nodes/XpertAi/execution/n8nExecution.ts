import { get } from 'lodash';
import type { IExecuteFunctions } from 'n8n-workflow';

/** Whether the node runs as the tool of an AI agent. For a tool, n8n adds `Tool` to the node type. */
export const isTool = (context: IExecuteFunctions): boolean =>
	context.getNode().type.endsWith('Tool');

/** Whether a streaming chat shows the output of the node. */
export const isInStreamingChat = (context: IExecuteFunctions): boolean =>
	!isTool(context) && 'isStreaming' in context && context.isStreaming();

/**
 * Whether this node is part of a loop in the workflow.
 *
 * @param type a node type that the loop must contain; default: any
 */
export function isInLoop(context: IExecuteFunctions, type?: string): boolean {
	const { name } = context.getNode();
	const before = new Set(context.getParentNodes(name).map((node) => node.name));
	const loop = context.getChildNodes(name).filter((node) => before.has(node.name));
	return type === undefined ? loop.length > 0 : loop.some((node) => node.type === type);
}

/** Shows messages as hints above the node's output. */
export function addHints(context: IExecuteFunctions, messages: string[]): void {
	context.addExecutionHints(
		...messages.map((message) => ({ message, location: 'outputPane' as const })),
	);
}

/** Whether the workflow continues after a failed item. A stopped execution never continues. */
export const mayContinue = (context: IExecuteFunctions): boolean =>
	context.continueOnFail() && !context.getExecutionCancelSignal()?.aborted;

/**
 * The execution mode of the outermost workflow, such as `manual`. In a sub-workflow, `getMode` returns `integrated`.
 * `rootExecutionMode` exists since n8n 2.20, but not in workflows that are tools of agents. Without
 * `rootExecutionMode`, returns the mode of the calling workflow. That mode is `integrated` if the calling workflow is
 * itself a sub-workflow, or if n8n does not tell its mode.
 */
export function outermostMode(context: IExecuteFunctions): unknown {
	const mode = context.getMode();
	if (mode !== 'integrated') return mode;
	return (
		get(context, 'additionalData.rootExecutionMode') ??
		get(context, 'runExecutionData.parentExecution.executionContext.source', mode)
	);
}
