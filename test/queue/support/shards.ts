import type { WorkflowFile } from '../../../host/examples';
import { exampleOnCall, exampleWith } from '../../e2e/support/examples';

export const SHARDS = 4;

/** What calls the shards, begun by a webhook instead of its schedule. */
export const ROUND = 'large-source-in-shards.json';
export const ROUND_PATH = 'tonight';

/** The example that calls the shards; the webhook is answered at once, as a schedule waits for nothing. */
export function round(): WorkflowFile {
	const example = exampleOnCall(ROUND, 'Every Night', ROUND_PATH);
	const nodes = example.nodes.map((node) =>
		node.name === 'Every Night'
			? {
					...node,
					parameters: { httpMethod: 'POST', path: ROUND_PATH, responseMode: 'onReceived' },
				}
			: node,
	);
	return { ...example, nodes };
}

/** The example of one shard with a source of so many documents. */
export function oneShard(knowledgebaseId: string, documents: number, text: string): WorkflowFile {
	const example = exampleWith('one-shard.json', 'Your Source', (node) => ({
		...node,
		parameters: {
			jsCode: `return Array.from({ length: ${documents} }, (_, row) => ({ json: {
				path: \`articles/\${row}\`, title: \`Article \${row}\`, text: \`\${row}: ${text}\` } }));`,
		},
	}));
	const filled = JSON.stringify(example).replaceAll('your-knowledgebase-id', knowledgebaseId);
	return JSON.parse(filled) as WorkflowFile;
}
