import type { IDataObject } from 'n8n-workflow';

import { storeNamespace } from '../../payloads/bodies';
import { answerItems } from '../../execution/outputs';
import { answerWithList, isJsonObject } from '../../transport/answer';
import { declare } from '../../execution/operation';
import type { FieldValues } from '../../execution/fields';
import { fieldCollection } from '../../execution/fields';
import { ID_PLACEHOLDER } from '../../pickers/locators';
import { assistantFirst, namespaceElements, namespaceField } from './fields';

export const createNamespace = declare({
	value: 'createNamespace',
	name: 'Create Namespace',
	action: 'Create namespace in store',
	description: 'Create a namespace. Xpert AI servers list those below the prefix.',
	endpoint: 'E11',
	method: 'POST',
	path: '/store/namespaces',
	body: {
		fields: [
			namespaceField(
				'prefix',
				'Prefix',
				'Namespace to create or list below. On Xpert AI servers it starts with an assistant ID',
				`${ID_PLACEHOLDER}/notes`,
			),
			fieldCollection('additionalFields', [
				{
					displayName: 'Limit',
					name: 'limit',
					type: 'number',
					typeOptions: { minValue: 1 },
					default: 50,
					description: 'Max number of results to return',
				},
				{
					displayName: 'Max Depth',
					name: 'max_depth',
					type: 'number',
					typeOptions: { minValue: 1, numberPrecision: 0 },
					default: 3,
					description: 'How many elements of a namespace are looked at',
				},
				{
					displayName: 'Offset',
					name: 'offset',
					type: 'number',
					typeOptions: { minValue: 0, numberPrecision: 0 },
					default: 0,
					description: 'How many namespaces to leave out at the start',
				},
				namespaceField(
					'suffix',
					'Suffix',
					'Namespaces must end with this one (ignored by Xpert AI servers)',
				),
			]),
		],
		schema: storeNamespace,
		compose: ({ prefix, suffix, ...rest }: FieldValues) => ({
			...(prefix === undefined ? {} : { prefix: namespaceElements(prefix) }),
			...(suffix === undefined ? {} : { suffix: namespaceElements(suffix) }),
			...rest,
		}),
		notShown: true,
		example: '{\n  "prefix": ["memories"]\n}',
	},
	shape: namespaceItems,
	statusHints: { 500: assistantFirst('Prefix') },
	checkAnswer: answerWithList('namespaces'),
});

/** One item for each namespace; an answer without any is returned unchanged. */
function namespaceItems(answer: unknown): IDataObject[] {
	const namespaces = isJsonObject(answer) ? answer.namespaces : undefined;
	if (!Array.isArray(namespaces) || namespaces.length === 0) return answerItems(answer);
	return namespaces.map((namespace) => ({ namespace }));
}
