import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { catalogue } from 'nodes/XpertAi/catalogue';
import { isCoded } from 'nodes/XpertAi/execution/operation';
import { NAMES_READ } from './support/read';

const NODES = join(__dirname, '../../nodes');

/** Where the schemas of answers are. */
const SCHEMAS = [
	'XpertAi/threads/thread.ts',
	'XpertAi/threads/runEvents.ts',
	'XpertAi/ingest/answers.ts',
	'XpertAiTrigger/poll.ts',
];

/** What is read and not compared: what a model counts, how near it finds a passage, a step's name, a task's title. */
const NOT_COMPARED = [
	...['tokens', 'inputTokens', 'outputTokens', 'input_tokens', 'output_tokens', 'total_tokens'],
	...['prompt_tokens', 'completion_tokens', 'response_metadata', 'usage', 'score', 'result'],
	...['category', 'inputs', 'event', 'info'],
];

/** The fields of an object that is read with zod, as the source has them. */
const FIELD = /\b(\w+): (?:z\b|loose\(|\w+IfAny\b|passages\b|taskCall\b)/g;

const compared = new Set([...NAMES_READ, ...NOT_COMPARED]);

describe('the list of what the node reads', () => {
	it.each(SCHEMAS)('has every field of the schemas of %s', (file) => {
		const source = readFileSync(join(NODES, file), 'utf8');
		const fields = [...source.matchAll(FIELD)].map(([, name = '']) => name);
		expect(fields).not.toEqual([]);
		expect(fields.filter((name) => name !== 'schema' && !compared.has(name))).toEqual([]);
	});

	it('has every field that an operation keeps when it simplifies', () => {
		const kept = catalogue
			.flatMap(({ operations }) => operations)
			.flatMap((one) => (isCoded(one) || !Array.isArray(one.simplify) ? [] : one.simplify));
		expect(kept.length).toBeGreaterThan(20);
		expect(kept.filter((name) => name !== 'queued' && !compared.has(name))).toEqual([]);
	});
});
