import { jsonBodyOf } from '../../../../nodes/XpertAi/execution/declared';
import { operationFields } from '../../../../nodes/XpertAi/execution/properties';
import { itemOf } from '../../support/context';
import { bodyOf, operationOf } from '../../support/operations';
import { thrownBy } from '../../support/thrown';

const ID = '2f78e81b-096f-42ff-8ac0-8403fd81392d';

const body = (resource: string, operation: string, parameters: Record<string, unknown>) =>
	jsonBodyOf(
		itemOf(parameters, { fields: operationFields(operationOf(resource, operation)) }),
		bodyOf(resource, operation),
	).value;

describe('the body of an update', () => {
	const update = (parameters: Record<string, unknown>) =>
		body('knowledgebase', 'update', parameters);

	it('keeps omitted fields out', () => {
		expect(update({ updateFields: { permission: 'public' } })).toEqual({ permission: 'public' });
		expect(update({ updateFields: {}, clearFields: [] })).toEqual({});
		expect(update({})).toEqual({});
	});

	it('clears the fields of Clear Fields with null', () => {
		expect(
			update({ updateFields: { type: 'external' }, clearFields: ['recall', 'description'] }),
		).toEqual({ type: 'external', recall: null, description: null });
	});

	it('clears rather than changes a field that is named in both', () => {
		expect(update({ updateFields: { description: 'new' }, clearFields: ['description'] })).toEqual({
			description: null,
		});
	});

	it('refuses to clear the name, which the server does not allow', () => {
		expect(thrownBy(() => update({ clearFields: ['name'] })).message).toBe(
			'"Name" must be text, but is null',
		);
	});
});

describe('a body from fields', () => {
	it.each([
		[
			'knowledgebase',
			'create',
			{ name: 'Manuals', additionalFields: { recall: { topK: 5 } } },
			{ name: 'Manuals', recall: { topK: 5 } },
		],
		['conversation', 'create', { title: '' }, {}],
		[
			'conversation',
			'create',
			{ title: 'T', additionalFields: { options: '{"k":1}', xpertId: ID } },
			{ title: 'T', options: { k: 1 }, xpertId: ID },
		],
		['conversation', 'search', { filters: {} }, {}],
		[
			'conversation',
			'search',
			{ filters: { order: { values: { column: 'title', direction: 'ASC' } }, search: 's' } },
			{ order: { title: 'ASC' }, search: 's' },
		],
		[
			'conversation',
			'search',
			{ filters: { order: { values: {} } } },
			{ order: { createdAt: 'DESC' } },
		],
		['chatSession', 'create', { assistantId: { __rl: true, mode: 'id', value: '' } }, {}],
		[
			'chatSession',
			'create',
			{ assistantId: ID, additionalFields: { expires_after: '60' } },
			{ assistant: { id: ID }, expires_after: 60 },
		],
		['assistant', 'count', {}, {}],
		[
			'assistant',
			'search',
			{ filters: { metadata: { slug: 'helper' } } },
			{ metadata: { slug: 'helper' } },
		],
		['store', 'searchItems', {}, { namespace_prefix: [] }],
		[
			'store',
			'searchItems',
			{ namespace_prefix: '/memories/ user-1 //', filters: { query: 'q' } },
			{ namespace_prefix: ['memories', 'user-1'], query: 'q' },
		],
		[
			'store',
			'createNamespace',
			{ prefix: ['a/b', 'c'], additionalFields: { suffix: 'd/e', max_depth: 2 } },
			{ prefix: ['a/b', 'c'], suffix: ['d', 'e'], max_depth: 2 },
		],
		['store', 'createNamespace', { prefix: '' }, {}],
	] as Array<[string, string, Record<string, unknown>, unknown]>)(
		'%s: %s %j',
		(resource, operation, parameters, expected) => {
			expect(body(resource, operation, parameters)).toEqual(expected);
		},
	);
});

describe('a body from JSON', () => {
	const json = (jsonBody: unknown) => ({ options: { bodyMode: 'json', jsonBody } });

	it('is taken where JSON Body is among the options', () => {
		expect(itemOf(json('{}')).isJsonBody).toBe(true);
		expect(itemOf({}).isJsonBody).toBe(false);
	});

	it('is taken as it is, from text or from an expression', () => {
		const value = { name: 'M', ofANewerServer: null };
		expect(body('knowledgebase', 'create', json(JSON.stringify(value)))).toEqual(value);
		expect(body('knowledgebase', 'create', json(value))).toEqual(value);
	});

	it.each(['', '  ', null])('%j is refused as empty', (raw) => {
		expect(thrownBy(() => body('knowledgebase', 'create', json(raw))).message).toContain(
			'"JSON Body" must not be empty',
		);
	});

	it('is checked where the contract shows the body', () => {
		expect(thrownBy(() => body('knowledgebase', 'update', json('{"type":"x"}'))).message).toBe(
			'"JSON Body" at type must be one of standard, external, but is "x"',
		);
	});

	it.each([
		['conversation', 'search', { where: 5 }],
		['assistant', 'count', [1]],
		['thread', 'copy', 'text'],
	])('may be anything where the contract shows none: %s: %s %j', (resource, operation, value) => {
		expect(body(resource, operation, json(JSON.stringify(value)))).toEqual(value);
	});

	it('that does not parse is refused by its name', () => {
		expect(thrownBy(() => body('assistant', 'count', json('{"a":'))).message).toMatch(
			/^"JSON Body" must be JSON \(.+\), but is "\{"a":"$/,
		);
	});
});
