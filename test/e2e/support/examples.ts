import { readExample, type WorkflowFile } from '../../../host/examples';

type Node = WorkflowFile['nodes'][number];

export function exampleWith(
	fileName: string,
	name: string,
	change: (node: Node) => Node,
): WorkflowFile {
	const example = readExample(fileName);
	const nodes = example.nodes.map((node) => (node.name === name ? change(node) : node));
	return { ...example, nodes };
}

/** An example with a webhook for its schedule, so that the test says when it is time. */
export function exampleOnCall(
	fileName: string,
	schedule: string,
	path: string,
	responseMode = 'lastNode',
): WorkflowFile {
	return exampleWith(fileName, schedule, (node) => ({
		...node,
		type: 'n8n-nodes-base.webhook',
		typeVersion: 2,
		webhookId: path,
		parameters: { httpMethod: 'POST', path, responseMode, options: {} },
	}));
}
