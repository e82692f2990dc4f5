import { NodeConnectionTypes } from 'n8n-workflow';
import type { IExecuteFunctions, INodeTypeDescription } from 'n8n-workflow';

import { platformWork } from './work';

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
