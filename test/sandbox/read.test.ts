import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { globSync } from 'fast-glob';
import { catalogue } from 'nodes/XpertAi/catalogue';
import { isCoded } from 'nodes/XpertAi/execution/operation';
import { NAMES_READ } from './support/read';

const NODES = join(__dirname, '../../nodes');

/** The fields of an object that is read with zod, as the source has them. */
const FIELD = /\b(\w+): (?:z\b|loose\(|lenient\w+\b|passages\b|taskCall\b)/g;

const fieldsOf = (file: string) => {
	const source = readFileSync(join(NODES, file), 'utf8');
	return [...source.matchAll(FIELD)].map(([, name = '']) => name).filter((n) => n !== 'schema');
};

/** The files with schemas of answers. `ingest/memory` reads what the node itself wrote. */
const SCHEMAS = globSync(
	['XpertAi/{threads,ingest}/*.ts', 'XpertAiTrigger/conversationChanges.ts'],
	{
		cwd: NODES,
	},
).filter((file) => fieldsOf(file).length > 0);

/** What is read and not compared: what a model counts, how near it finds a passage, a step's name, a task's title. */
const NOT_COMPARED = [
	...['tokens', 'inputTokens', 'outputTokens', 'input_tokens', 'output_tokens', 'total_tokens'],
	...['prompt_tokens', 'completion_tokens', 'response_metadata', 'usage', 'score', 'result'],
	...['category', 'inputs', 'event', 'info'],
];

const compared = new Set([...NAMES_READ, ...NOT_COMPARED]);

describe('the list of what the node reads', () => {
	it.each(SCHEMAS)('has every field of the schemas of %s', (file) => {
		expect(fieldsOf(file).filter((name) => !compared.has(name))).toEqual([]);
	});

	it('knows the files that read threads, runs, documents and uploads', () => {
		expect(SCHEMAS).toEqual(
			expect.arrayContaining([
				'XpertAi/threads/thread.ts',
				'XpertAi/threads/runsApi.ts',
				'XpertAi/threads/conversation.ts',
				'XpertAi/threads/runEventSchemas.ts',
				'XpertAi/ingest/statuses.ts',
				'XpertAi/ingest/uploads.ts',
				'XpertAiTrigger/conversationChanges.ts',
			]),
		);
	});

	it('has every field that an operation keeps when it simplifies', () => {
		const kept = catalogue
			.flatMap(({ operations }) => operations)
			.flatMap((one) => (isCoded(one) || !Array.isArray(one.simplify) ? [] : one.simplify));
		expect(kept.length).toBeGreaterThan(20);
		expect(kept.filter((name) => name !== 'queued' && !compared.has(name))).toEqual([]);
	});
});
