import type { StatusHint, StatusHints } from '../../execution/hints';
import {
	choiceField,
	groupField,
	idField,
	numberField,
	rowsField,
	textField,
} from '../../execution/fields';
import type {
	KNOWLEDGEBASE_TYPES,
	METADATA_TYPES,
	PERMISSIONS,
} from '../../payloads/knowledgebase';
import { parserConfigField } from '../shared/fields';

/** What Simplify keeps of the more than 40 fields of a knowledgebase. */
export const KNOWLEDGEBASE_SUMMARY = [
	'id',
	'name',
	'type',
	'permission',
	'description',
	'workspaceId',
	'documentNum',
	'createdAt',
	'updatedAt',
];

export const nameField = textField(
	'name',
	'Name',
	'What the knowledgebase is called. No other one may have the same name.',
	{ placeholder: 'e.g. Product manuals' },
);

const copilotModelField = groupField(
	'copilotModel',
	'Embedding Model',
	'Model that makes documents searchable. Another one rebuilds the index, and nothing can be stored until that is done.',
	[
		idField('copilotId', 'Copilot ID', 'ID of the copilot that offers the model'),
		textField('model', 'Model', 'Name of the model', {
			placeholder: 'e.g. text-embedding-3-small',
		}),
		textField('modelType', 'Model Type', 'What the model is for', { default: 'text-embedding' }),
	],
);

const recallField = groupField(
	'recall',
	'Recall',
	'How many chunks (pieces of text) a search returns, and how well they must match. Replaces earlier settings as a whole.',
	[
		numberField('score', 'Score', 'How well a chunk must match at least, e.g. 0.5', {
			default: 0.5,
		}),
		numberField('topK', 'Top K', 'How many chunks a search returns at most', {
			typeOptions: { numberPrecision: 0 },
			default: 10,
		}),
	],
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
		choiceField<(typeof METADATA_TYPES)[number]>(
			'type',
			'Type',
			'What documents have in this field; a date and time ends in Z',
			{
				string: 'Text',
				number: 'Number',
				boolean: 'Yes or No',
				datetime: 'Date and Time',
				enum: 'One of a Few Texts',
				'string[]': 'List of Texts',
				'number[]': 'List of Numbers',
				object: 'Object',
			},
		),
		textField('enumValues', 'Allowed Values', 'The texts that documents may have in this field', {
			typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
			default: [],
			displayOptions: { show: { type: ['enum'] } },
		}),
	],
);

/** All optional fields of the contract's Knowledgebase, and the metadata schema of Xpert AI servers. */
export const optionalKnowledgebaseFields = [
	textField('description', 'Description', 'What the knowledgebase is about', {
		typeOptions: { rows: 2 },
	}),
	copilotModelField,
	textField(
		'extKnowledgebaseId',
		'External Knowledgebase ID',
		'ID of the knowledgebase in the other system, where Type is External',
	),
	idField(
		'integrationId',
		'Integration ID',
		'ID of the integration that connects the other system, where Type is External',
	),
	metadataSchemaField,
	parserConfigField(
		'How documents are cut into chunks. Xpert AI servers ignore it here; set it on each document. Replaces earlier settings.',
	),
	choiceField<(typeof PERMISSIONS)[number]>(
		'permission',
		'Permission',
		'Who may see the knowledgebase',
		{ private: 'Private', organization: 'Organization', public: 'Public' },
	),
	recallField,
	choiceField<(typeof KNOWLEDGEBASE_TYPES)[number]>(
		'type',
		'Type',
		'Where the content is kept: on the server itself, or in another system',
		{ standard: 'Standard', external: 'External' },
	),
	idField('workspaceId', 'Workspace ID', 'ID of the workspace that the knowledgebase belongs to'),
];

/** Fields that servers refuse to clear. The name is not among the optional fields. */
const NOT_CLEARABLE = [copilotModelField.name];

/** Selects fields to clear. */
export const clearFields = choiceField(
	'clearFields',
	'Clear Fields',
	'Fields to empty on the server. A field that is also in Update Fields is emptied.',
	Object.fromEntries(
		optionalKnowledgebaseFields
			.filter(({ name }) => !NOT_CLEARABLE.includes(name))
			.map(({ name, displayName }) => [name, displayName]),
	),
	{ type: 'multiOptions', default: [] },
);

/** Hint for a name that is in use. */
const NAME_IN_USE_HINT: StatusHint = ({ reason = '' }) =>
	/^name exist/i.test(reason)
		? 'A knowledgebase with this name is there already. Choose another name, or update that one with Knowledgebase: Update.'
		: undefined;

/** Hints for Create and Update. */
export const KNOWLEDGEBASE_HINTS: StatusHints = {
	400: NAME_IN_USE_HINT,
	403: "A workspace's key creates and updates no knowledgebases: use the key of a user or an assistant.",
};
