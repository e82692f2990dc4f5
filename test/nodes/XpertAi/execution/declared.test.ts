import { jsonBodyOf } from '../../../../nodes/XpertAi/execution/declared';
import { operationFields } from '../../../../nodes/XpertAi/execution/properties';
import { itemOf } from '../../support/context';
import { bodyOf, operationOf } from '../../support/operations';
import { thrownBy } from '../../support/thrown';

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

/** The body of an operation, which is written `resource operation`. */
function body(of: string, parameters: Record<string, unknown>): unknown {
	const [resource = '', operation = ''] = of.split(' ');
	const fields = operationFields(operationOf(resource, operation));
	return jsonBodyOf(itemOf(parameters, { fields }), bodyOf(resource, operation)).value;
}

const json = (jsonBody: unknown) => ({ options: { bodyMode: 'json', jsonBody } });
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
			{ title: 'T', additionalFields: { options: '{"k":1}', xpertId: ID } },
			{ title: 'T', options: { k: 1 }, xpertId: ID },
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
		['assistant search', filters({ metadata: { slug: 's' } }), { metadata: { slug: 's' } }],
		['store searchItems', {}, { namespace_prefix: [] }],
		[
			'store searchItems',
			{ namespace_prefix: '/memories/ user-1 //', filters: { query: 'q' } },
			{ namespace_prefix: ['memories', 'user-1'], query: 'q' },
		],
		[
			'store createNamespace',
			{ prefix: ['a/b', 'c'], additionalFields: { suffix: 'd/e', max_depth: 2 } },
			{ prefix: ['a/b', 'c'], suffix: ['d', 'e'], max_depth: 2 },
		],
		['store createNamespace', { prefix: '' }, {}],
		// JSON is taken as it is, from text or from an expression; any where the contract shows none.
		['knowledgebase create', json('{"name":"M","newer":null}'), { name: 'M', newer: null }],
		['knowledgebase create', json({ name: 'M', newer: null }), { name: 'M', newer: null }],
		['conversation search', json('{"where":5}'), { where: 5 }],
		['conversation search', json('{"where":{"xpertId":"x"}}'), { where: { xpertId: 'x' } }],
		['assistant count', json('[1]'), [1]],
		['thread copy', json('"text"'), 'text'],
	])('of %s from %j is %j', (operation, parameters, expected) => {
		expect(body(operation, parameters)).toEqual(expected);
	});

	it.each<[string, Record<string, unknown>, RegExp]>([
		['knowledgebase update', { clearFields: ['name'] }, /^"Name" must be text, but is null$/],
		['knowledgebase create', json(''), /^"JSON Body" must not be empty$/],
		['knowledgebase create', json('  '), /^"JSON Body" must not be empty$/],
		['knowledgebase create', json(null), /^"JSON Body" must not be empty$/],
		['knowledgebase update', json('{"type":"x"}'), /^"JSON Body" at type must be one of .+ "x"$/],
		['assistant count', json('{"a":'), /^"JSON Body" must be JSON \(.+\), but is "\{"a":"$/],
	])('of %s is refused from %j', (operation, parameters, message) => {
		expect(thrownBy(() => body(operation, parameters)).message).toMatch(message);
	});
});
