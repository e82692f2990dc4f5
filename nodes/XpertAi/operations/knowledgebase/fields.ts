import { find, without } from 'lodash';

import type { StatusAdvice } from '../../execution/apiError';
import {
	choiceField,
	groupField,
	idField,
	numberField,
	rowsField,
	splitList,
	textField,
} from '../../execution/fieldBuilders';
import { KNOWLEDGEBASE_TYPES, METADATA_TYPES, PERMISSIONS } from '../../payloads/knowledgebase';
import { parserConfigField } from '../shared/parserFields';

/** The fields of a knowledgebase in simplified output. */
export const KNOWLEDGEBASE_SUMMARY_FIELDS = splitList(
	'id, name, type, permission, description, workspaceId, documentNum, createdAt, updatedAt',
);

export const nameField = textField('name', 'Name', 'A name that no other knowledgebase has', {
	placeholder: 'e.g. Product manuals',
});

const copilotModelField = groupField(
	'copilotModel',
	'Embedding Model',
	'Model that makes documents searchable. Another one rebuilds the index, and nothing can be stored until that is done.',
	{
		options: [
			idField('copilotId', 'Copilot ID', 'ID of the copilot that offers the model'),
			textField('model', 'Model', 'Name of the model', {
				placeholder: 'e.g. text-embedding-3-small',
			}),
			textField('modelType', 'Model Type', 'What the model is for', { default: 'text-embedding' }),
		],
	},
);

const recallField = groupField(
	'recall',
	'Recall',
	'How many chunks (pieces of text) a search returns, and how well they must match. Replaces earlier settings as a whole.',
	{
		options: [
			numberField('score', 'Score', 'How well a chunk must match, e.g. 0.5', { default: 0.5 }),
			numberField('topK', 'Top K', 'How many chunks a search returns at most', {
				typeOptions: { numberPrecision: 0 },
				default: 10,
			}),
		],
	},
);

const metadataSchemaField = rowsField(
	'metadataSchema',
	'Metadata Schema',
	'Metadata fields that filters can use. Documents with another type of value are refused. Replaces all earlier fields.',
	'Metadata Field',
	[
		textField('key', 'Key', 'Name of the field: letters, digits, underscores and hyphens', {
			placeholder: 'e.g. department',
		}),
		choiceField('type', 'Type', 'What documents have here; a date ends in Z', METADATA_TYPES),
		textField('enumValues', 'Allowed Values', 'The texts that documents may have in this field', {
			typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
			default: [],
			displayOptions: { show: { type: ['enum'] } },
		}),
	],
);

/** The optional fields of a knowledgebase. */
export const optionalFields = [
	textField('description', 'Description', 'What the knowledgebase is about', {
		typeOptions: { rows: 2 },
	}),
	copilotModelField,
	textField('extKnowledgebaseId', 'External Knowledgebase ID', 'Its ID, where Type is External'),
	idField('integrationId', 'Integration ID', 'ID of its integration, where Type is External'),
	metadataSchemaField,
	parserConfigField(
		'How documents are cut into chunks. Xpert AI servers ignore it here; set it on each document. Replaces earlier settings.',
	),
	choiceField('permission', 'Permission', 'Who may see the knowledgebase', PERMISSIONS),
	recallField,
	choiceField('type', 'Type', 'Kept on the server, or in another system', KNOWLEDGEBASE_TYPES),
	idField('workspaceId', 'Workspace ID', 'ID of the workspace that the knowledgebase belongs to'),
];

export const clearFieldsField = choiceField(
	'clearFields',
	'Clear Fields',
	'Fields to empty on the server. A field that is also in Update Fields is emptied.',
	Object.fromEntries(
		// Servers do not clear the embedding model.
		without(optionalFields, copilotModelField).map((one) => [one.name, one.displayName]),
	),
	{ type: 'multiOptions', default: [] },
);

/** Advice for Create and Update, by HTTP status. */
export const KNOWLEDGEBASE_STATUS_ADVICE: StatusAdvice = {
	400: ({ reason = '' }) => (/^name exist/i.test(reason) ? NAME_IN_USE_ADVICE : undefined),
	403: "A workspace's key creates and updates no knowledgebases: use the key of a user or an assistant.",
	404: ({ reason = '' }) => find(ADVICE_BY_REASON_START, (_, start) => reason.startsWith(start)),
};

/** Advice for an unknown ID in the body, by the start of the reason in the server's answer. */
const ADVICE_BY_REASON_START: Record<string, string> = {
	'Copilot not set': 'Check "Copilot ID" and "Model" in "Embedding Model".',
	'Workspace ': 'Check "Workspace ID".',
};

const NAME_IN_USE_ADVICE =
	'A knowledgebase has this name already. Choose another name, or update that one with Knowledgebase: Update.';
