import type { INodeProperties } from 'n8n-workflow';

import type { StatusHint, StatusHints } from '../../execution/hints';
import { KNOWLEDGEBASE_TYPES, METADATA_TYPES, PERMISSIONS } from '../../payloads/knowledgebase';
import { enumOptions } from '../../execution/fields';
import { ID_PLACEHOLDER } from '../../pickers/locators';
import { parserConfigField } from '../shared/parserConfig';

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

export const nameField: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	default: '',
	placeholder: 'e.g. Product manuals',
	description: 'What the knowledgebase is called. No other one may have the same name.',
};

const copilotModelField: INodeProperties = {
	displayName: 'Embedding Model',
	name: 'copilotModel',
	type: 'collection',
	placeholder: 'Add field',
	default: {},
	description:
		'Model that makes documents searchable. Another one rebuilds the index, and nothing can be stored until that is done.',
	options: [
		{
			displayName: 'Copilot ID',
			name: 'copilotId',
			type: 'string',
			default: '',
			placeholder: ID_PLACEHOLDER,
			description: 'ID of the copilot that offers the model',
		},
		{
			displayName: 'Model',
			name: 'model',
			type: 'string',
			default: '',
			placeholder: 'e.g. text-embedding-3-small',
			description: 'Name of the model',
		},
		{
			displayName: 'Model Type',
			name: 'modelType',
			type: 'string',
			default: 'text-embedding',
			description: 'What the model is for',
		},
	],
};

const recallField: INodeProperties = {
	displayName: 'Recall',
	name: 'recall',
	type: 'collection',
	placeholder: 'Add field',
	default: {},
	description:
		'How many chunks (pieces of text) a search returns, and how well they must match. Replaces earlier settings as a whole.',
	options: [
		{
			displayName: 'Score',
			name: 'score',
			type: 'number',
			default: 0.5,
			description: 'How well a chunk must match at least, e.g. 0.5',
		},
		{
			displayName: 'Top K',
			name: 'topK',
			type: 'number',
			typeOptions: { numberPrecision: 0 },
			default: 10,
			description: 'How many chunks a search returns at most',
		},
	],
};

const metadataSchemaField: INodeProperties = {
	displayName: 'Metadata Schema',
	name: 'metadataSchema',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add metadata field',
	default: {},
	description:
		'Metadata fields that filters can use. Documents with another type of value are refused. Replaces all earlier fields.',
	options: [
		{
			displayName: 'Metadata Field',
			name: 'values',
			values: [
				{
					displayName: 'Key',
					name: 'key',
					type: 'string',
					default: '',
					placeholder: 'e.g. department',
					description: 'Name of the field: letters, digits, underscores and hyphens',
				},
				{
					displayName: 'Type',
					name: 'type',
					type: 'options',
					options: enumOptions(METADATA_TYPES, {
						string: 'Text',
						number: 'Number',
						boolean: 'Yes or No',
						datetime: 'Date and Time',
						enum: 'One of a Few Texts',
						'string[]': 'List of Texts',
						'number[]': 'List of Numbers',
						object: 'Object',
					}),
					default: 'string',
					description: 'What documents have in this field; a date and time ends in Z',
				},
				{
					displayName: 'Allowed Values',
					name: 'enumValues',
					type: 'string',
					typeOptions: { multipleValues: true, multipleValueButtonText: 'Add Value' },
					default: [],
					description: 'The texts that documents may have in this field',
					displayOptions: { show: { type: ['enum'] } },
				},
			],
		},
	],
};

/** All optional fields of the contract's Knowledgebase, and the metadata schema of Xpert AI servers. */
export const optionalKnowledgebaseFields: INodeProperties[] = [
	{
		displayName: 'Description',
		name: 'description',
		type: 'string',
		typeOptions: { rows: 2 },
		default: '',
		description: 'What the knowledgebase is about',
	},
	copilotModelField,
	{
		displayName: 'External Knowledgebase ID',
		name: 'extKnowledgebaseId',
		type: 'string',
		default: '',
		description: 'ID of the knowledgebase in the other system, where Type is External',
	},
	{
		displayName: 'Integration ID',
		name: 'integrationId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the integration that connects the other system, where Type is External',
	},
	metadataSchemaField,
	parserConfigField(
		'How documents are cut into chunks. Xpert AI servers ignore it here; set it on each document. Replaces earlier settings.',
	),
	{
		displayName: 'Permission',
		name: 'permission',
		type: 'options',
		options: enumOptions(PERMISSIONS, {
			private: 'Private',
			organization: 'Organization',
			public: 'Public',
		}),
		default: 'private',
		description: 'Who may see the knowledgebase',
	},
	recallField,
	{
		displayName: 'Type',
		name: 'type',
		type: 'options',
		options: enumOptions(KNOWLEDGEBASE_TYPES, { standard: 'Standard', external: 'External' }),
		default: 'standard',
		description: 'Where the content is kept: on the server itself, or in another system',
	},
	{
		displayName: 'Workspace ID',
		name: 'workspaceId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the workspace that the knowledgebase belongs to',
	},
];

/** Fields that servers refuse to clear. The name is not among the optional fields. */
const NOT_CLEARABLE = [copilotModelField.name];

/** Entries of Clear Fields. */
export const clearableFields = optionalKnowledgebaseFields
	.filter(({ name }) => !NOT_CLEARABLE.includes(name))
	.map(({ displayName, name }) => ({ name: displayName, value: name }));

/** Hint for a name that is in use. */
const NAME_IN_USE_HINT: StatusHint = ({ reason = '' }) =>
	/^name exist/i.test(reason)
		? 'A knowledgebase with this name is there already. Choose another name, or update that one with Knowledgebase: Update.'
		: undefined;

/** Hints for E1 and E2. */
export const KNOWLEDGEBASE_HINTS: StatusHints = {
	400: NAME_IN_USE_HINT,
	403: "The token is valid but may not do this. A workspace's key creates and updates no knowledgebases: use the key of a user or an assistant.",
};
