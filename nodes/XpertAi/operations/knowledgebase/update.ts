import { some } from 'lodash';

import { knowledgebaseChangesSchema } from '../../payloads/knowledgebase';
import { schemaOfAskedRecord } from '../../transport/answerSchemas';
import { declare } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import { type FieldValues, panelGroupField } from '../../execution/fieldBuilders';
import {
	clearFieldsField,
	KNOWLEDGEBASE_STATUS_ADVICE,
	KNOWLEDGEBASE_SUMMARY_FIELDS,
	nameField,
	optionalFields,
} from './fields';

export const update = declare({
	value: 'update',
	name: 'Update',
	endpoint: 'E2',
	description: 'Change the fields you set, and keep all others',
	route: 'PUT /knowledges/{knowledgebaseId}',
	idFields: [knowledgebaseLocator],
	body: {
		fields: [panelGroupField('updateFields', [nameField, ...optionalFields]), clearFieldsField],
		schema: knowledgebaseChangesSchema,
		compose: withClearedFields,
	},
	repeatable: true,
	statusAdvice: KNOWLEDGEBASE_STATUS_ADVICE,
	simplify: KNOWLEDGEBASE_SUMMARY_FIELDS,
	answerSchema: schemaOfAskedRecord('knowledgebase'),
	answersHint: (answers) => (some(answers, { status: 'rebuilding' }) ? REBUILDING_HINT : undefined),
});

const REBUILDING_HINT =
	'The server is rebuilding the index. Until then it stores and processes nothing; Knowledgebase: Get shows the status.';

/** Sets the fields listed in "Clear Fields" to `null`, so that the server clears them. */
function withClearedFields({ clearFields: names, ...changes }: FieldValues): FieldValues {
	const cleared = ((names ?? []) as string[]).map((name) => [name, null]);
	return { ...changes, ...Object.fromEntries(cleared) };
}
