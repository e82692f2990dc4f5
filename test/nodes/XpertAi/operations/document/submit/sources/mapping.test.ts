import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { Item } from '../../../../../../../nodes/XpertAi/execution/item';
import { submitFields } from '../../../../../../../nodes/XpertAi/operations/document/submit/fields';
import { documentFromFields as fromFields } from '../../../../../../../nodes/XpertAi/operations/document/submit/sources/mapping';
import { itemOf, unconnected } from '../../../../../support/context';
import { node } from '../../../../../support/node';
import { thrownBy } from '../../../../../support/thrown';

/** The item of a node with these parameters. */
function itemWith(parameters: Record<string, unknown>, json: IDataObject = {}): Item {
	const getInputData = () => [{ json }];
	const getNode = () => ({ ...node, parameters: parameters as INodeParameters });
	return itemOf(parameters, { fields: submitFields, methods: { getInputData, getNode } });
}

const made = (item: Item) => fromFields(item, (document) => document);
const documentFromFields = (item: Item) => made(item).record;
const byHand = (value: unknown) =>
	documentFromFields(itemWith({ documentFields: { mappingMode: 'defineBelow', value } }));
const byColumn = (json: IDataObject) =>
	documentFromFields(itemWith({ documentFields: { mappingMode: 'autoMapInputData' } }, json));

describe('documents mapped by hand', () => {
	it('hold what was filled in, and nothing that was left empty', () => {
		expect(byHand({ name: 'a', type: '', size: null, disabled: false, tokenNum: 0 })).toEqual({
			name: 'a',
			disabled: false,
			tokenNum: 0,
		});
	});

	it.each([null, undefined, {}])('may be empty: %j', (value) => expect(byHand(value)).toEqual({}));

	it('take objects and lists as JSON text too', () => {
		const document = { metadata: '{"k":1}', pages: '[{"pageContent":"x"}]', parserConfig: {} };
		expect(byHand(document)).toEqual({
			metadata: { k: 1 },
			pages: [{ pageContent: 'x' }],
			parserConfig: {},
		});
	});

	it('may have the usual names, with their own values, where the editor did not write them', () => {
		expect(byHand({ title: 'a', content: 'hello' })).toEqual({
			name: 'a',
			pages: [{ pageContent: 'hello' }],
		});
	});
});

describe('documents mapped from columns', () => {
	it('hold a text once: pages and chunks come before a column', () => {
		const pages = [{ pageContent: 'p' }];
		const reader = itemWith(
			{ documentFields: { mappingMode: 'autoMapInputData' } },
			{ pages, content: 'hello', mood: 'good' },
		);
		expect(made(reader)).toEqual({ record: { pages }, unusedColumns: ['mood', 'content'] });
		const bare = itemWith({ documentFields: { mappingMode: 'autoMapInputData' } }, { pages });
		expect(made(bare).unusedColumns).toHaveLength(0);
	});

	it('take the dates of a database as ISO 8601', () => {
		// Database nodes emit Date objects, which the type of an item does not show.
		const createdAt = new Date('2026-01-31T08:00:00Z') as unknown as string;
		expect(byColumn({ name: 'a', createdAt })).toEqual({
			name: 'a',
			createdAt: '2026-01-31T08:00:00.000Z',
		});
	});

	it('take numbers and switches a file holds as text, and codes a table holds as numbers', () => {
		const row = {
			name: 2024,
			size: '12',
			disabled: 'true',
			processDuation: ' 1.5 ',
			folder: '',
			type: '',
		};
		expect(byColumn(row)).toEqual({
			name: '2024',
			size: 12,
			processDuation: 1.5,
			// It is in none, and taken out of the one it was in.
			folder: '',
		});
	});

	it('are never guessed to hold an ID', () => {
		expect(thrownBy(() => byColumn({ id: 5 })).message).toBe('"ID (UUID)" must be text, but is 5');
	});

	it('name a column that is wrong', () => {
		expect(thrownBy(() => byColumn({ size: '5 MB' })).message).toBe(
			'"Size" must be a number, but is "5 MB"',
		);
		expect(thrownBy(() => byColumn({ metadata: '{' })).message).toMatch(/^"Metadata" must be JSON/);
	});
});

describe('the mapper', () => {
	/** What is asked of n8n for one item. */
	function asked(documentFields: unknown): string[] {
		const item = itemWith({ documentFields }, { name: 'a' });
		const names: string[] = [];
		const resolve = item.context.getNodeParameter.bind(item.context) as (name: string) => unknown;
		const getNodeParameter = ((name: string) => {
			names.push(name);
			return resolve(name);
		}) as typeof item.context.getNodeParameter;
		const context = Object.create(item.context, { getNodeParameter: { value: getNodeParameter } });
		documentFromFields(new Item(context as typeof item.context, 0, submitFields, unconnected));
		return names.filter((name) => name.startsWith('documentFields'));
	}

	it('is asked for its values alone, and for nothing where columns are mapped by their names', () => {
		const schema = [{ id: 'name' }];
		const value = { name: 'a' };
		expect(asked({ mappingMode: 'defineBelow', value, schema })).toEqual(['documentFields.value']);
		expect(asked({ mappingMode: 'autoMapInputData', value, schema })).toEqual([]);
	});
});
