import type { INodeProperties } from 'n8n-workflow';

import {
	fieldCollection,
	inPanelOrder,
	jsonField,
	rowsField,
	textField,
} from '../../../../execution/fields';

const contentField = textField('pageContent', 'Content', 'The text itself', {
	typeOptions: { rows: 4 },
});

/** When something was done to a part, and by whom. */
const doneFields = (label: string, name: string, done: string): INodeProperties[] => [
	textField(`${name}At`, `${label} At`, `When it was ${done}, as an ISO 8601 date-time`, {
		placeholder: 'e.g. 2026-01-31T08:00:00Z',
	}),
	textField(`${name}ById`, `${label} By ID`, `ID of the user who ${done} it`),
];

const optionalFields = (one: string): INodeProperties[] => [
	...doneFields('Created', 'created', 'created'),
	textField(
		'id',
		'ID',
		`Leave it out: on Xpert AI servers, a ${one} sent again with the same ID and other content is lost`,
	),
	jsonField('metadata', 'Metadata', 'Anything to keep with the text, as a JSON object'),
	textField('status', 'Status', 'State of its processing'),
	...doneFields('Updated', 'updated', 'last changed'),
];

const parentField = jsonField('parent', 'Parent', 'The chunk this one belongs to, as JSON');

/** Typed fields for the pages of a document. */
export const pagesField = rowsField('pages', 'Pages', 'Text of the document page by page', 'Page', [
	contentField,
	fieldCollection('additionalFields', optionalFields('page')),
]);

/** Typed fields for the chunks of a document. */
export const chunksField = rowsField(
	'chunks',
	'Chunks',
	'Text of the document cut for the search. On Xpert AI servers, a document whose chunks changed cannot be sent again.',
	'Chunk',
	[
		contentField,
		fieldCollection('additionalFields', inPanelOrder([...optionalFields('chunk'), parentField])),
	],
);
