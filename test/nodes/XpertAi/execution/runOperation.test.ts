import { bodyOf as readBody } from '../../../../nodes/XpertAi/execution/runOperation';
import { operationFields } from '../../../../nodes/XpertAi/execution/properties';
import { itemOf } from '../../support/context';
import { bodyOf, operationOf } from '../../support/operations';
import { thrownBy } from '../../support/thrown';

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
	it.each<[string, Record<string, unknown>, unknown]>([
		[
			'knowledgebase create',
			{ name: 'Manuals', additionalFields: { recall: { topK: 5 } } },
			{ name: 'Manuals', recall: { topK: 5 } },
		],
		['knowledgebase update', {}, {}],
		['knowledgebase update', { updateFields: {}, clearFields: [] }, {}],
		['knowledgebase update', { updateFields: { type: 'external' } }, { type: 'external' }],
		[
			'knowledgebase update',
			{ updateFields: { type: 'external' }, clearFields: ['recall', 'description'] },
			{ type: 'external', recall: null, description: null },
		],
		[
			'knowledgebase update',
			{ updateFields: { description: 'new' }, clearFields: ['description'] },
			{ description: null },
		],
		['conversation create', { title: '' }, {}],
		[
			'conversation create',
			{ title: 'T', additionalFields: { xpertId: ID } },
			{ title: 'T', xpertId: ID },
		],
		['conversation search', filters({}), {}],
		[
			'conversation search',
			filters({ order: { values: { column: 'title', direction: 'ASC' } }, search: 's' }),
			{ order: { title: 'ASC' }, search: 's' },
		],
		['conversation search', filters({ order: { values: {} } }), { order: { createdAt: 'DESC' } }],
		['chatSession create', { assistantId: { __rl: true, mode: 'id', value: '' } }, {}],
		[
			'chatSession create',
			{ assistantId: ID, additionalFields: { expires_after: '60' } },
			{ assistant: { id: ID }, expires_after: 60 },
		],
		['assistant count', {}, {}],
		['assistant search', filters({ slug: 's' }), { metadata: { slug: 's' } }],
		['store searchItems', {}, { namespace_prefix: [] }],
		[
			'store searchItems',
			{ namespace_prefix: '/memories/ user-1 //', filters: { query: 'q' } },
			{ namespace_prefix: ['memories', 'user-1'], query: 'q' },
		],
		[
			'store createNamespace',
			{ prefix: ['a/b', 'c'], additionalFields: { max_depth: 2 } },
			{ prefix: ['a/b', 'c'], max_depth: 2 },
		],
		['store createNamespace', { prefix: '' }, {}],
		// Additional Fields (JSON): plain objects are merged, also those inside; anything else replaces.
		['knowledgebase create', json('{"name":"M","newer":null}'), { name: 'M', newer: null }],
		['knowledgebase create', { name: 'M', ...json({ name: 'N' }) }, { name: 'N' }],
		['knowledgebase create', { name: 'M', ...json('') }, { name: 'M' }],
		[
			'knowledgebase update',
			{ updateFields: { recall: { topK: 5 } }, ...json({ recall: { score: 1 }, type: null }) },
			{ recall: { topK: 5, score: 1 }, type: null },
		],
		[
			'knowledgebase update',
			{ updateFields: { recall: { topK: 5 } }, ...json({ recall: null }) },
			{ recall: null },
		],
		[
			'store searchItems',
			{ namespace_prefix: 'a/b', ...json({ namespace_prefix: ['c'] }) },
			{ namespace_prefix: ['c'] },
		],
		[
			'conversation search',
			{ filters: { xpertId: ID }, ...json('{"where":{"xpertId":"x","__proto__":{"a":1}}}') },
			{ where: { xpertId: 'x' } },
		],
		['thread copy', json('{"a":[1]}'), { a: [1] }],
	])('of %s from %j is %j', (operation, parameters, expected) => {
		expect(body(operation, parameters)).toEqual(expected);
	});

	it.each<[string, Record<string, unknown>, RegExp]>([
		['knowledgebase update', { clearFields: ['name'] }, /^"Name" must be text, but is null$/],
		['knowledgebase create', json(null), /^"Name" is missing$/],
		['knowledgebase update', json('{"type":"x"}'), /^AF at type must be one of .+ "x"$/],
		[
			'knowledgebase update',
			{ updateFields: { recall: { topK: 1.5 } }, ...json({ recall: { score: 1 } }) },
			/^"Top K" in "Recall" must be a whole number, but is 1.5$/,
		],
		[
			'knowledgebase update',
			json({ metadataSchema: [{ type: 'string' }] }),
			/^AF at metadataSchema\[0\]\.key is missing$/,
		],
		['assistant count', json('{"a":'), /^AF must be JSON \(.+\), but is "\{"a":"$/],
		['assistant count', json('[1]'), /^AF must be an object \(JSON\), but is \[1\]$/],
		['conversation create', json({ id: null }), /^AF at id is what the node sets itself/],
		['conversation create', json('{"createdById":"x"}'), /^AF at createdById is what the node/],
	])('of %s is refused from %j', (operation, parameters, message) => {
		const words = thrownBy(() => body(operation, parameters)).message;
		expect(words.replace('"Additional Fields (JSON)"', 'AF')).toMatch(message);
	});
});
