import { get } from 'lodash';
import type { IDataObject } from 'n8n-workflow';

import { newKnowledgebaseSchema } from '../../payloads/knowledgebase';
import { declare } from '../../execution/operation';
import { panelGroupField } from '../../execution/fieldBuilders';
import {
	KNOWLEDGEBASE_STATUS_ADVICE,
	KNOWLEDGEBASE_SUMMARY_FIELDS,
	nameField,
	optionalFields,
} from './fields';

export const create = declare({
	value: 'create',
	name: 'Create',
	endpoint: 'E1',
	description: 'Create a knowledgebase that documents can be submitted to',
	route: 'POST /knowledges',
	body: {
		fields: [{ ...nameField, required: true }, panelGroupField('additionalFields', optionalFields)],
		schema: newKnowledgebaseSchema,
	},
	statusAdvice: KNOWLEDGEBASE_STATUS_ADVICE,
	simplify: KNOWLEDGEBASE_SUMMARY_FIELDS,
	answerSchema: ['id'],
	answersHint: (answers) => (answers.some(lacksModel) ? NO_MODEL_HINT : undefined),
});

/**
 * Whether the server cannot search a new knowledgebase, because its embedding model is missing. An external knowledgebase
 * needs no model. An answer that says nothing about the model counts as having one.
 */
function lacksModel(answer: unknown): boolean {
	const { copilotModelId, copilotModel, type } = answer as IDataObject;
	const hasModel = copilotModel ? get(copilotModel, 'copilotId') : copilotModelId !== null;
	return !hasModel && type !== 'external';
}

const NO_MODEL_HINT =
	'Without an Embedding Model and its Copilot ID, nothing in it will be found. Knowledgebase: Update gives it one.';
