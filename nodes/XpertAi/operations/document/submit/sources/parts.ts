import type { INodeProperties } from 'n8n-workflow';

import { fieldCollection, inPanelOrder } from '../../../../execution/fields';

const contentField: INodeProperties = {
	displayName: 'Content',
	name: 'pageContent',
	type: 'string',
	typeOptions: { rows: 4 },
	default: '',
	description: 'The text itself',
};

/** When something was done to a part, and by whom. */
const doneFields = (label: string, name: string, done: string): INodeProperties[] => [
	{
		displayName: `${label} At`,
		name: `${name}At`,
		type: 'string',
		default: '',
		placeholder: 'e.g. 2026-01-31T08:00:00Z',
		description: `When it was ${done}, as an ISO 8601 date-time`,
	},
	{
		displayName: `${label} By ID`,
		name: `${name}ById`,
		type: 'string',
		default: '',
		description: `ID of the user who ${done} it`,
	},
];

const optionalFields = (one: string): INodeProperties[] => [
	...doneFields('Created', 'created', 'created'),
	{
		displayName: 'ID',
		name: 'id',
		type: 'string',
		default: '',
		description: `Leave it out: on Xpert AI servers, a ${one} sent again with the same ID and other content is lost`,
	},
	{
		displayName: 'Metadata',
		name: 'metadata',
		type: 'json',
		default: '{}',
		description: 'Anything to keep with the text, as a JSON object',
	},
	{
		displayName: 'Status',
		name: 'status',
		type: 'string',
		default: '',
		description: 'State of its processing',
	},
	...doneFields('Updated', 'updated', 'last changed'),
];

const parentField: INodeProperties = {
	displayName: 'Parent',
	name: 'parent',
	type: 'json',
	default: '{}',
	description: 'The chunk this one belongs to, as JSON',
};

function listField(
	name: 'pages' | 'chunks',
	displayName: string,
	description: string,
	one: string,
): INodeProperties {
	const common = optionalFields(one.toLowerCase());
	const optional = name === 'chunks' ? inPanelOrder([...common, parentField]) : common;
	return {
		displayName,
		name,
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		placeholder: `Add ${one.toLowerCase()}`,
		default: {},
		description,
		options: [
			{
				displayName: one,
				name: 'values',
				values: [contentField, fieldCollection('additionalFields', optional)],
			},
		],
	};
}

/** Typed fields for the pages of a document. */
export const pagesField = listField('pages', 'Pages', 'Text of the document page by page', 'Page');

/** Typed fields for the chunks of a document. */
export const chunksField = listField(
	'chunks',
	'Chunks',
	'Text of the document cut for the search. On Xpert AI servers, a document whose chunks changed cannot be sent again.',
	'Chunk',
);
