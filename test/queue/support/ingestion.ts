import { randomUUID } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';

import { times } from 'lodash';

import type { WorkflowFile } from '../../../host/examples';
import { SANDBOX_CREDENTIAL } from '../../../host/setUp';
import { SANDBOX_ASSISTANT_ID } from '../../../sandbox';
import { byId } from '../../engine/support/locators';

const FILE = 'bulk.ndjson';
const TRIGGER = 'Start';

export type Node = WorkflowFile['nodes'][number];

/** A workflow whose trigger starts every chain of nodes, drawn one below the other. */
function workflowFrom(name: string, trigger: Node, ...chains: Node[][]): WorkflowFile {
	const placed = (node: Node, column: number, row: number) => ({
		typeVersion: 1,
		parameters: {},
		...node,
		id: randomUUID(),
		position: [column * 220, row * 180],
	});
	const link = (node: Node) => ({ node: node.name, type: 'main', index: 0 });
	const links = chains.flatMap((chain) =>
		chain.slice(1).map((node, index) => [chain[index]?.name, { main: [[link(node)]] }] as const),
	);
	const firsts = chains.flatMap(([first]) => (first ? [link(first)] : []));
	const rows = chains.flatMap((chain, row) =>
		chain.map((node, column) => placed(node, column + 1, row)),
	);
	return {
		name,
		nodes: [placed(trigger, 0, 0), ...rows],
		connections: { [trigger.name]: { main: [firsts] }, ...Object.fromEntries(links) },
		settings: { executionOrder: 'v1' },
	};
}

/** Nodes one after another, the first being the trigger, as a workflow. */
export const chain = (name: string, trigger: Node, ...nodes: Node[]): WorkflowFile =>
	workflowFrom(name, trigger, nodes);

/** Chains of nodes behind the button "Execute workflow". */
export const workflowOf = (name: string, ...chains: Node[][]): WorkflowFile =>
	workflowFrom(name, manualTrigger(), ...chains);

export function manualTrigger(): Node {
	return { name: TRIGGER, type: 'n8n-nodes-base.manualTrigger' };
}

/** A webhook that answers at once, while its workflow goes on. */
export function webhookTrigger(path: string): Node {
	return {
		name: TRIGGER,
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: path,
		parameters: { httpMethod: 'POST', path, responseMode: 'onReceived', options: {} },
	};
}

/** The node under test with the sandbox's credential. */
export function xpertAiNode(name: string, parameters: object): Node {
	const credentials = { xpertAiApi: { id: '', name: SANDBOX_CREDENTIAL } };
	return { name, type: 'n8n-nodes-xpertai.xpertAi', parameters, credentials };
}

/** The trigger of the package with the sandbox's credential. */
export const triggerNode = (name: string, parameters: object): Node => ({
	...xpertAiNode(name, parameters),
	type: 'n8n-nodes-xpertai.xpertAiTrigger',
});

export const itemsNode = (name: string, items: unknown[]): Node => ({
	name,
	type: 'n8n-nodes-base.code',
	typeVersion: 2,
	parameters: { jsCode: `return ${JSON.stringify(items)}.map((json) => ({ json }));` },
});

/** The name of the node that asks, in the workflow made here. */
export const ASK_NODE = 'Ask Assistant';

/** Asks the sandbox's assistant in a new conversation; how long it takes is the sandbox's matter. */
export function asking(parameters: object, trigger = manualTrigger()): WorkflowFile {
	const ask = xpertAiNode(ASK_NODE, {
		resource: 'thread',
		operation: 'run',
		threadSource: 'new',
		assistantId: byId(SANDBOX_ASSISTANT_ID),
		message: 'Take your time',
		...parameters,
	});
	return chain('Long run', trigger, ask);
}

/** Writes as many small documents as lines of a file where workflows may read it. */
export function writeDocuments(folder: string, count: number): void {
	const lines = times(count, (index) => {
		const name = `document-${index}.md`;
		const pages = [{ pageContent: `Document ${index} of ${count}` }];
		return `${JSON.stringify({ name, filePath: `bulk/${name}`, pages })}\n`;
	});
	writeFileSync(join(folder, FILE), lines.join(''));
}

export const readFile = (file: string): Node => ({
	name: 'Read File',
	type: 'n8n-nodes-base.readWriteFile',
	typeVersion: 1.1,
	parameters: { operation: 'read', fileSelector: `documents/${file}`, options: {} },
});

/** Submits the file that `writeDocuments` wrote, each document under an id derived from its path. */
export function ingestion(trigger: Node, knowledgebaseId: string, tuning = {}): WorkflowFile {
	const submit = xpertAiNode('Submit Documents', {
		resource: 'document',
		operation: 'submit',
		knowledgebaseId: byId(knowledgebaseId),
		source: 'records',
		binaryPropertyName: 'data',
		documentKeyField: 'filePath',
		options: { afterStoring: 'nothing', output: 'summary' },
		tuning,
	});
	return chain('Ingestion', trigger, readFile(FILE), submit);
}
