import { NodeHelpers } from 'n8n-workflow';
import type { INodeParameters, INodeProperties } from 'n8n-workflow';

import { submitFields } from '../../../../../../nodes/XpertAi/operations/document/submit/fields';
import { node } from '../../../../support/node';

/** The names of the fields that are shown with these choices, all others as they are at first. */
function shown(chosen: INodeParameters): string[] {
	const initial = Object.fromEntries(submitFields.map(({ name, default: value }) => [name, value]));
	const values = { ...initial, ...chosen } as INodeParameters;
	return submitFields
		.filter((field) => NodeHelpers.displayParameter(values, field, node, null))
		.map(({ name }) => name);
}

/** The names of the settings of documents that can be added. */
function settingsShown(chosen: INodeParameters, added: INodeParameters = {}): string[] {
	const collection = submitFields.find(({ name }) => name === 'documentSettings');
	const options = (collection?.options ?? []) as INodeProperties[];
	return options
		.filter((option) => NodeHelpers.displayParameter(added, option, node, null, chosen))
		.map(({ name }) => name)
		.sort();
}

it('no more than seven fields are shown before anything is chosen', () => {
	expect(shown({})).toEqual([
		'knowledgebaseId',
		'source',
		'text',
		'mode',
		'sourceName',
		'documentSettings',
		'options',
	]);
});

it('a key is for IDs that are derived from it', () => {
	for (const documentIdMode of ['field', 'new'])
		expect(settingsShown({ source: 'fields' }, { documentIdMode })).not.toContain('documentKey');
	expect(settingsShown({ source: 'json' }, { documentIdMode: 'derived' })).toEqual([
		'documentIdMode',
		'documentKeyField',
		'documentVersionField',
	]);
});
