import type { INode } from 'n8n-workflow';

/** The node that messages are about. */
export const node: INode = {
	id: 'node',
	name: 'Xpert AI',
	type: 'n8n-nodes-xpertai.xpertAi',
	typeVersion: 1,
	position: [0, 0],
	parameters: {},
};
