import { NodeHelpers, type INodeParameters } from 'n8n-workflow';

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
