import { NodeHelpers } from 'n8n-workflow';
import type { INodeParameters } from 'n8n-workflow';

import { submitFields } from '../../../../../../nodes/XpertAi/operations/document/submit/fields';
import { SOURCES } from '../../../../../../nodes/XpertAi/operations/document/submit/sources';
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
		'name',
		'text',
		'documentKey',
		'mode',
		'documentSettings',
		'options',
	]);
});

it.each([
	['all', []],
	['changed', ['sourceName', 'resendAll']],
	['mirror', ['sourceName', 'resendAll', 'maxGonePercent']],
])('what belongs to When Run Again appears with it: %s', (mode, more) => {
	const before = shown({});
	expect(shown({ mode }).filter((name) => !before.includes(name))).toEqual(more);
});

it.each(SOURCES)('$name shows its own fields', ({ value, fields, identity, settings }) => {
	const own = [...fields, ...identity, ...settings].map(({ name }) => name);
	expect(shown({ source: value, documentIdMode: 'derived' })).toEqual(expect.arrayContaining(own));
});
