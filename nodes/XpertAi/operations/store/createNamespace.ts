import { storeNamespacesBody } from '../../payloads/requestSchemas';
import { listAnswerSchema } from '../../transport/answerSchemas';
import { declare } from '../../execution/operation';
import {
	filledOnly,
	limitField,
	numberField,
	panelGroupField,
} from '../../execution/fieldBuilders';
import {
	NAMESPACE_IDENTITY_OPTIONS,
	namespaceElements,
	namespaceField,
	namespaceStatusAdvice,
} from './searchItems';

export const createNamespace = declare({
	value: 'createNamespace',
	name: 'Create Namespace',
	action: 'Create namespace in store',
	endpoint: 'E11',
	description: 'Create a namespace. Xpert AI servers list those below the prefix.',
	route: 'POST /store/namespaces',
	body: {
		fields: [
			namespaceField('prefix', 'Prefix', 'create or list below'),
			panelGroupField('additionalFields', [
				{ ...limitField, displayOptions: undefined },
				numberField('max_depth', 'Max Depth', 'How many elements of a namespace are looked at', {
					typeOptions: { minValue: 1, numberPrecision: 0 },
					default: 3,
				}),
			]),
		],
		schema: storeNamespacesBody,
		compose: ({ prefix, ...rest }) => filledOnly({ prefix: namespaceElements(prefix), ...rest }),
	},
	selectingFieldOptions: { prefix: NAMESPACE_IDENTITY_OPTIONS },
	statusAdvice: namespaceStatusAdvice('Prefix'),
	answerSchema: listAnswerSchema('namespaces'),
	toOutput: (answer) => {
		const namespaces = answer as string[][];
		return namespaces.length > 0
			? namespaces.map((namespace) => ({ namespace }))
			: [{ namespaces }];
	},
});
