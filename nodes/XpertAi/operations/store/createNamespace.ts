import type { IDataObject } from 'n8n-workflow';

import { z } from 'zod';

import { openObject } from '../../payloads/common';
import { storeNamespace } from '../../payloads/bodies';
import { answerItems } from '../../execution/outputs';
import { isJsonObject } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { ID_PLACEHOLDER, fieldCollection, filledOnly, numberField } from '../../execution/fields';
import { assistantFirst, namespaceElements, namespaceField } from './fields';

export const createNamespace = declare({
	value: 'createNamespace',
	name: 'Create Namespace',
	action: 'Create namespace in store',
	endpoint: 'E11',
	description: 'Create a namespace. Xpert AI servers list those below the prefix.',
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
				numberField('limit', 'Limit', 'Max number of results to return', {
					typeOptions: { minValue: 1 },
					default: 50,
				}),
				numberField('max_depth', 'Max Depth', 'How many elements of a namespace are looked at', {
					typeOptions: { minValue: 1, numberPrecision: 0 },
					default: 3,
				}),
			]),
		],
		schema: storeNamespace,
		compose: ({ prefix, ...rest }) => filledOnly({ prefix: namespaceElements(prefix), ...rest }),
	},
	shape: namespaceItems,
	statusHints: { 500: assistantFirst('Prefix') },
	answer: openObject({ namespaces: z.array(z.unknown()) }),
});

/** One item for each namespace; an answer without any is returned unchanged. */
function namespaceItems(answer: unknown): IDataObject[] {
	const namespaces = isJsonObject(answer) ? answer.namespaces : undefined;
	if (!Array.isArray(namespaces) || namespaces.length === 0) return answerItems(answer);
	return namespaces.map((namespace) => ({ namespace }));
}
