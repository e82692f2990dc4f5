import { NodeHelpers } from 'n8n-workflow';
import type { INodeParameters } from 'n8n-workflow';

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

it('no more than eight fields are shown before anything is chosen', () => {
	expect(shown({})).toEqual([
		'knowledgebaseId',
		'source',
		'text',
		'documentKey',
		'mode',
		'sourceName',
		'documentSettings',
		'options',
	]);
});

it('a key is for IDs that are derived from it', () => {
	const shownWith = (documentIdMode: string) =>
		['fields', 'json'].map((source) =>
			shown({ source, documentSettings: { documentIdMode } }).filter((name) => /Key/.test(name)),
		);
	expect(shownWith('derived')).toEqual([['documentKey'], ['documentKeyField']]);
	for (const mode of ['field', 'new']) expect(shownWith(mode)).toEqual([[], []]);
});
