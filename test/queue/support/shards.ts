import { PLACEHOLDERS } from '../../../host/exampleValues';
import type { WorkflowFile } from '../../../host/examples';
import { exampleOnCall, exampleWith } from '../../e2e/support/examples';

export const SHARDS = 4;

const ROUND = 'large-source-in-shards.json';
export const ROUND_PATH = 'tonight';

/**
 * The example that calls the shards, begun by a webhook in place of its schedule. Its body says what the
 * source holds that night, which goes on to each shard.
 */
export function round(): WorkflowFile {
	const example = exampleOnCall(ROUND, 'Every Night', ROUND_PATH);
	const text = "text: $('Every Night').first().json.body.text";
	const code = JSON.stringify(example.nodes).replace(
		'json: { shard, shards }',
		`json: { shard, shards, ${text} }`,
	);
	const nodes = (JSON.parse(code) as WorkflowFile['nodes']).map((node) =>
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
export function oneShard(knowledgebaseId: string, documents: number): WorkflowFile {
	const example = exampleWith('one-shard.json', 'Your Source', (node) => ({
		...node,
		parameters: {
			jsCode: [
				"const { text } = $('Shard Called').first().json.body;",
				`return Array.from({ length: ${documents} }, (_, row) => ({`,
				"json: { path: 'articles/' + row, title: 'Article ' + row, text: row + ': ' + text },",
				'}));',
			].join('\n'),
		},
	}));
	const filled = JSON.stringify(example).replaceAll(PLACEHOLDERS.knowledgebaseId, knowledgebaseId);
	return JSON.parse(filled) as WorkflowFile;
}
