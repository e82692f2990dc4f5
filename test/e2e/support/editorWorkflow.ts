import { randomUUID } from 'node:crypto';
import type { WorkflowFile } from '../../../host/examples';
import { SANDBOX_CREDENTIAL } from '../../../host/setUp';
import { CREDENTIAL_TYPE, NODE_TYPE } from './harness';

/** A node for a workflow made by a test. */
export type WorkflowNode = WorkflowFile['nodes'][number];

export const TRIGGER = 'Start';

/** A node of ours, with the sandbox's credential. */
export function xpertNode(name: string, parameters: Record<string, unknown>): WorkflowNode {
	const credentials = { [CREDENTIAL_TYPE]: { id: '', name: SANDBOX_CREDENTIAL } };
	return { ...bareNode(name, NODE_TYPE, 1, parameters), credentials };
}

/** A trigger of ours, with the sandbox's credential. */
export function triggerNode(name: string, parameters: Record<string, unknown>): WorkflowNode {
	return { ...xpertNode(name, parameters), type: `${NODE_TYPE}Trigger` };
}

/** A node that emits the items given. */
export function itemsNode(name: string, items: unknown[]): WorkflowNode {
	const jsCode = `return ${JSON.stringify(items)}.map((json) => ({ json }));`;
	return bareNode(name, 'n8n-nodes-base.code', 2, { jsCode });
}

/** A workflow whose trigger starts every chain of nodes, drawn one below the other. */
export function workflowOf(name: string, ...chains: WorkflowNode[][]): WorkflowFile {
	const trigger = bareNode(TRIGGER, 'n8n-nodes-base.manualTrigger', 1, {});
	const placed = chains.flatMap((chain, row) =>
		chain.map((node, column) => ({ ...node, position: [(column + 1) * 220, row * 180] })),
	);
	const link = (node: WorkflowNode) => ({ node: node.name, type: 'main', index: 0 });
	const links = chains.flatMap((chain) =>
		chain.slice(1).map((node, index) => [chain[index]?.name, { main: [[link(node)]] }] as const),
	);
	const firsts = chains.flatMap(([first]) => (first ? [link(first)] : []));
	return {
		name,
		nodes: [{ ...trigger, position: [0, 0] }, ...placed],
		connections: { [TRIGGER]: { main: [firsts] }, ...Object.fromEntries(links) },
		settings: { executionOrder: 'v1' },
	};
}

function bareNode(
	name: string,
	type: string,
	typeVersion: number,
	parameters: Record<string, unknown>,
): WorkflowNode {
	return { id: randomUUID(), name, type, typeVersion, position: [0, 0], parameters };
}
