import { NodeOperationError } from 'n8n-workflow';

import { catalogue } from 'nodes/XpertAi/catalogue';
import { onlyReads, simplified } from 'nodes/XpertAi/execution/operation';
import { operationFields } from 'nodes/XpertAi/execution/nodeProperties';
import type { DeclaredOperation } from 'nodes/XpertAi/execution/operation';
import {
	execute,
	answerItems,
	deletionOutput,
	runDeclared,
} from 'nodes/XpertAi/execution/runOperation';
import { bodyOf as readBody } from 'nodes/XpertAi/execution/requestBody';

import { itemOf, unconnected } from '../../support/context';
import { bodyOf, operationOf } from '../../support/operations';
import { thrownBy } from '../../support/thrown';

it.each([
	['knowledgebase', 'submit'],
	['none', 'create'],
	['', ''],
])(
	'execute refuses an operation that is not in the catalogue: %s: %s',
	async (resource, operation) => {
		const methods = {
			getExecutionCancelSignal: () => undefined,
			getInputData: () => [{ json: {} }],
		};
		const work = execute(itemOf({ resource, operation }, { methods }).context, catalogue);
		await expect(work).rejects.toBeInstanceOf(NodeOperationError);
		await expect(work).rejects.toMatchObject({
			message: `The node has no operation "${operation}" for "${resource}"`,
			description: 'Choose Resource and Operation from their lists.',
		});
	},
);

it.each<[string, boolean, Partial<DeclaredOperation>]>([
	['a GET only reads', true, { method: 'GET', repeatable: true }],
	['a search that may be repeated only reads', true, { method: 'POST', repeatable: true }],
	['a PUT with a fixed body only reads', true, { method: 'PUT', repeatable: true, fixedBody: {} }],
	['a PUT changes something', false, { method: 'PUT', repeatable: true }],
	['a PATCH changes something', false, { method: 'PATCH', repeatable: true, fixedBody: {} }],
	[
		'a POST that may not be repeated changes something',
		false,
		{ method: 'POST', repeatable: false },
	],
])('%s', (_, reads, operation) => {
	expect(onlyReads(operation as DeclaredOperation)).toBe(reads);
});

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

/** The body of an operation, which is written `resource operation`. */
function body(of: string, parameters: Record<string, unknown>): unknown {
	const [resource = '', operation = ''] = of.split(' ');
	const fields = operationFields(operationOf(resource, operation));
	return readBody(itemOf(parameters, { fields }), bodyOf(resource, operation)).value;
}

const json = (additionalFieldsJson: unknown) => ({ options: { additionalFieldsJson } });
const filters = (values: object) => ({ filters: values });

describe('the body', () => {
	it.each<[string, string, Record<string, unknown>, unknown]>([
		[
			'of a new knowledgebase has its fields',
			'knowledgebase create',
			{ name: 'Manuals', additionalFields: { recall: { topK: 5 } } },
			{ name: 'Manuals', recall: { topK: 5 } },
		],
		['of an update is empty where nothing is given', 'knowledgebase update', {}, {}],
		[
			'of an update is empty where its collections are',
			'knowledgebase update',
			{ updateFields: {}, clearFields: [] },
			{},
		],
		[
			'of an update has its fields',
			'knowledgebase update',
			{ updateFields: { type: 'external' } },
			{ type: 'external' },
		],
		[
			'of an update has null for what is cleared',
			'knowledgebase update',
			{ updateFields: { type: 'external' }, clearFields: ['recall', 'description'] },
			{ type: 'external', recall: null, description: null },
		],
		[
			'of an update clears what is given too',
			'knowledgebase update',
			{ updateFields: { description: 'new' }, clearFields: ['description'] },
			{ description: null },
		],
		['of a new conversation lacks an empty title', 'conversation create', { title: '' }, {}],
		[
			'of a new conversation has its fields',
			'conversation create',
			{ title: 'T', additionalFields: { xpertId: ID } },
			{ title: 'T', xpertId: ID },
		],
		['of a search is empty without filters', 'conversation search', filters({}), {}],
		[
			'of a search has its order',
			'conversation search',
			filters({ order: { values: { column: 'title', direction: 'ASC' } }, search: 's' }),
			{ order: { title: 'ASC' }, search: 's' },
		],
		[
			'of a search has the usual order where only a row is given',
			'conversation search',
			filters({ order: { values: {} } }),
			{ order: { createdAt: 'DESC' } },
		],
		[
			'of a chat session lacks an empty assistant',
			'chatSession create',
			{ assistantId: { __rl: true, mode: 'id', value: '' } },
			{},
		],
		[
			'of a chat session has its fields',
			'chatSession create',
			{ assistantId: ID, additionalFields: { expires_after: '60' } },
			{ assistant: { id: ID }, expires_after: 60 },
		],
		['of a count is empty without filters', 'assistant count', {}, {}],
		[
			'of a search of assistants has filters as metadata',
			'assistant search',
			filters({ slug: 's' }),
			{ metadata: { slug: 's' } },
		],
		[
			'of a search of the store has an empty namespace',
			'store searchItems',
			{},
			{ namespace_prefix: [] },
		],
		[
			'of a search of the store splits the namespace',
			'store searchItems',
			{ namespace_prefix: '/memories/ user-1 //', filters: { query: 'q' } },
			{ namespace_prefix: ['memories', 'user-1'], query: 'q' },
		],
		[
			'of a new namespace keeps a list as it is',
			'store createNamespace',
			{ prefix: ['a/b', 'c'], additionalFields: { max_depth: 2 } },
			{ prefix: ['a/b', 'c'], max_depth: 2 },
		],
		['of a new namespace lacks an empty one', 'store createNamespace', { prefix: '' }, {}],
		// Additional Fields (JSON): plain objects are merged, also those inside; anything else replaces.
		[
			'has what JSON adds',
			'knowledgebase create',
			json('{"name":"M","newer":null}'),
			{ name: 'M', newer: null },
		],
		[
			'has what JSON says in place of a field',
			'knowledgebase create',
			{ name: 'M', ...json({ name: 'N' }) },
			{ name: 'N' },
		],
		[
			'has nothing of empty JSON',
			'knowledgebase create',
			{ name: 'M', ...json('') },
			{ name: 'M' },
		],
		[
			'merges JSON into the objects of fields',
			'knowledgebase update',
			{ updateFields: { recall: { topK: 5 } }, ...json({ recall: { score: 1 }, type: null }) },
			{ recall: { topK: 5, score: 1 }, type: null },
		],
		[
			'has null of JSON in place of an object',
			'knowledgebase update',
			{ updateFields: { recall: { topK: 5 } }, ...json({ recall: null }) },
			{ recall: null },
		],
		[
			'has a list of JSON in place of a list',
			'store searchItems',
			{ namespace_prefix: 'a/b', ...json({ namespace_prefix: ['c'] }) },
			{ namespace_prefix: ['c'] },
		],
		[
			'has no prototype of JSON',
			'conversation search',
			{ filters: { xpertId: ID }, ...json('{"where":{"xpertId":"x","__proto__":{"a":1}}}') },
			{ where: { xpertId: 'x' } },
		],
		['of what takes no fields is the JSON', 'thread copy', json('{"a":[1]}'), { a: [1] }],
	])('%s', (_, operation, parameters, expected) => {
		expect(body(operation, parameters)).toEqual(expected);
	});

	it.each<[RegExp, string, Record<string, unknown>]>([
		[/^"Name" must be text, but is null$/, 'knowledgebase update', { clearFields: ['name'] }],
		[/^"Name" is missing$/, 'knowledgebase create', json(null)],
		[/^AF at type must be one of .+ "x"$/, 'knowledgebase update', json('{"type":"x"}')],
		[
			/^"Top K" in "Recall" must be a whole number, but is 1.5$/,
			'knowledgebase update',
			{ updateFields: { recall: { topK: 1.5 } }, ...json({ recall: { score: 1 } }) },
		],
		[
			/^AF at metadataSchema\[0\]\.key is missing$/,
			'knowledgebase update',
			json({ metadataSchema: [{ type: 'string' }] }),
		],
		[/^AF must be JSON \(.+\), but is "\{"a":"$/, 'assistant count', json('{"a":')],
		[/^AF must be an object \(JSON\), but is \[1\]$/, 'assistant count', json('[1]')],
		[/^AF at id is what the node sets itself/, 'conversation create', json({ id: {} })],
		[/^AF at createdById is what the node/, 'conversation create', json('{"createdById":"x"}')],
	])('is refused with the message %s', (message, operation, parameters) => {
		const words = thrownBy(() => body(operation, parameters)).message;
		expect(words.replace('"Additional Fields (JSON)"', 'AF')).toMatch(message);
	});
});

/** The three items of an execution. */
it('a form that is refused names the IDs among its fields', async () => {
	const failure = {
		kind: 'status',
		status: 404,
		method: 'POST',
		path: '/api/ai/contexts/file',
		missing: 'record',
		reason: 'The requested record was not found',
	} as const;
	const operation = operationOf('fileContext', 'create') as DeclaredOperation;
	const data = { data: '', mimeType: 'text/plain', fileName: 'a.txt' };
	const item = itemOf(
		{ additionalFields: { xpertId: ID } },
		{
			fields: operationFields(operation),
			connection: { ...unconnected, send: async () => ({ ok: false, failure }) },
			methods: {
				getInputData: () => [{ json: {}, binary: { data } }],
				helpers: { getBinaryDataBuffer: async () => Buffer.from('a') } as never,
				continueOnFail: () => false,
				getExecutionCancelSignal: () => undefined,
			},
		},
	);
	await expect(
		runDeclared(operation, { context: item.context, items: [item] }),
	).rejects.toMatchObject({ message: `Assistant ID ${ID} was not found` });
});

describe('the output of an answer', () => {
	const TWO = [{ a: 1 }, { b: 2 }];

	it.each([
		['an object is the object', { a: 1 }, [{ a: 1 }]],
		['a list is an item for each', TWO, TWO],
		['an empty list is none', [], []],
		['values has each as response', ['a', [2]], [{ response: 'a' }, { response: [2] }]],
		['false is a response', false, [{ response: false }]],
		['null is a response', null, [{ response: null }]],
		['nothing is an empty item', undefined, [{}]],
	])('of %s', (_, answer, items) => expect(answerItems(answer)).toStrictEqual(items));

	it.each([
		['with one affected says deleted', { raw: [], affected: 1 }, true],
		['with the record says deleted', { originalName: 'hello.txt', deletedAt: null }, true],
		['with nothing says deleted', undefined, true],
		['with a word says deleted', 'ok', true],
		['with none affected says not deleted', { raw: [], affected: 0 }, false],
	])('of a delete that answered %s', (_, answer, deleted) =>
		expect(deletionOutput(answer)).toEqual([{ deleted }]),
	);

	it('is simplified to the named keys, or stays whole without any of them', () => {
		const results = [{ id: 1, name: 'a', tenant: {} }, { other: 1 }];
		expect(results.map((one) => simplified(['name', 'id', 'size'], one))).toEqual([
			{ id: 1, name: 'a' },
			{ other: 1 },
		]);
		expect(simplified(({ id }) => ({ id }), { id: 1, name: 'a' })).toEqual({ id: 1 });
	});
});
