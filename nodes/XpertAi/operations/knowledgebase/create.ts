import { knowledgebase } from '../../payloads/knowledgebase';
import { isJsonObject, recordWith } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { fieldCollection } from '../../execution/fields';
import {
	KNOWLEDGEBASE_HINTS,
	KNOWLEDGEBASE_SUMMARY,
	nameField,
	optionalKnowledgebaseFields,
} from './fields';

export const create = declare({
	value: 'create',
	name: 'Create',
	action: 'Create knowledgebase',
	endpoint: 'E1',
	description: 'Create a knowledgebase that documents can be submitted to',
	method: 'POST',
	path: '/knowledges',
	body: {
		fields: [
			{ ...nameField, required: true },
			fieldCollection('additionalFields', optionalKnowledgebaseFields),
		],
		schema: knowledgebase,
	},
	statusHints: KNOWLEDGEBASE_HINTS,
	simplify: KNOWLEDGEBASE_SUMMARY,
	answer: recordWith('id'),
	answerHint: withoutModel,
});

function withoutModel(answer: unknown): string | undefined {
	const { copilotModelId, type = null } = isJsonObject(answer) ? answer : {};
	return copilotModelId === null && type !== 'external' ? NO_MODEL_HINT : undefined;
}

const NO_MODEL_HINT =
	'Without an Embedding Model, nothing in it will be found. Knowledgebase: Update gives it one.';
