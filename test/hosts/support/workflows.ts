import type { WorkflowFile } from '../../../host/examples';
import { SANDBOX_ASSISTANT_ID } from '../../../sandbox';
import {
	chain,
	manualTrigger,
	readFile,
	xpertAiNode,
	type Node,
} from '../../queue/support/ingestion';

/** The name of the node under test, in every workflow made here. */
export const NODE = 'Xpert AI';

/** Submits the files of a folder until they are found, leaving out what has not changed. */
export function ingestion(folder: string, knowledgebaseId: string): WorkflowFile {
	const submit = xpertAiNode(NODE, {
		resource: 'document',
		operation: 'submit',
		knowledgebaseId: { __rl: true, mode: 'id', value: knowledgebaseId },
		source: 'files',
		mode: 'changed',
	});
	return chain('Ingestion', manualTrigger(), readFile(`${folder}/*.md`), submit);
}

/** Asks the assistant that answers from documents. */
export function question(message: string): WorkflowFile {
	const ask = xpertAiNode(NODE, {
		resource: 'thread',
		operation: 'run',
		assistantId: { __rl: true, mode: 'id', value: SANDBOX_ASSISTANT_ID },
		message,
	});
	return chain('Question', manualTrigger(), ask);
}

/** Creates a knowledgebase of each name; those it cannot create go to the error output. */
export function knowledgebases(names: string[]): WorkflowFile {
	const table: Node = {
		name: 'Table',
		type: 'n8n-nodes-base.set',
		typeVersion: 3.4,
		parameters: {
			mode: 'raw',
			jsonOutput: JSON.stringify({ rows: names.map((title) => ({ title })) }),
			options: {},
		},
	};
	const rows: Node = {
		name: 'Rows',
		type: 'n8n-nodes-base.splitOut',
		parameters: { fieldToSplitOut: 'rows', options: {} },
	};
	const create = xpertAiNode(NODE, {
		resource: 'knowledgebase',
		operation: 'create',
		name: '={{ $json.title }}',
	});
	const failing = { ...create, onError: 'continueErrorOutput' };
	return chain('Knowledgebases', manualTrigger(), table, rows, failing);
}
