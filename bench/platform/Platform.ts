import { NodeConnectionTypes } from 'n8n-workflow';
import type { IExecuteFunctions, INodeTypeDescription } from 'n8n-workflow';

/** What the node `platform` is to do, which it cannot be given as a parameter; gives how many documents were confirmed. */
export const platformWork = { run: async (_context: IExecuteFunctions) => 0 };

/** A node that does nothing but what n8n does for every node, to measure what that takes. */
export class Platform {
	description: INodeTypeDescription = {
		displayName: 'Platform',
		name: 'platform',
		group: ['transform'],
		version: 1,
		description: 'What n8n itself takes',
		defaults: { name: 'Platform' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials: [{ name: 'xpertAiApi', required: true }],
		properties: [],
	};

	async execute(this: IExecuteFunctions) {
		return [[{ json: { done: await platformWork.run(this) } }]];
	}
}
