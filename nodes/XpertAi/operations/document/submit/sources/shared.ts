import type { INodeProperties } from 'n8n-workflow';

import { typedRows } from '../../../shared/typedRows';

/** The name of a document, for every source. */
export const nameSetting: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	default: '',
	placeholder: 'e.g. Return policy',
	description:
		'What answers call it. Left out: the name or title in the item, the name of the file, or the address.',
};

/** How a document that may have its own ID gets its ID. */
export const documentIdMode: INodeProperties = {
	displayName: 'Document ID',
	name: 'documentIdMode',
	type: 'options',
	options: [
		{
			name: 'Derived From a Key',
			value: 'derived',
			description:
				'The same key gives the same ID in every run, so that a second run replaces the document',
		},
		{
			name: 'From the Document',
			value: 'field',
			description:
				"The document's own ID, which must be a UUID. A second run replaces the document.",
		},
		{
			name: 'New Each Time',
			value: 'new',
			description: 'A random UUID, so that a second run stores every document again',
		},
	],
	default: 'derived',
	description:
		'What the server keeps a document under. A second run replaces a document that has the same ID again.',
};

/**
 * Hidden for the other choices, instead of shown for this one: n8n knows no default for what is not added to a
 * collection.
 */
const UNLESS_OTHER_ID = { hide: { documentIdMode: ['field', 'new'] } };

/** The key of a document. */
export const documentKey: INodeProperties = {
	displayName: 'Document Key',
	name: 'documentKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. handbook/returns.md',
	description:
		'A later run with the same key replaces the document. Left out: its name, file path, address or own ID.',
	builderHint: {
		propertyHint:
			'Must differ for each document and stay the same when it changes: a path, an address or a row ID, never a title that repeats or $itemIndex.',
	},
	displayOptions: UNLESS_OTHER_ID,
};

/** The field of each document that holds its key. */
export const documentKeyField: INodeProperties = {
	displayName: 'Key Field',
	name: 'documentKeyField',
	type: 'string',
	default: '',
	placeholder: 'e.g. filePath',
	description:
		'Field of each document that holds its key, such as metadata.key. Left out, documents keep their own IDs.',
	displayOptions: UNLESS_OTHER_ID,
};

/** Settings of a document made of a text, a file or an address. */
export const recordSettings: INodeProperties[] = [
	{
		displayName: 'Chunk Overlap',
		name: 'chunkOverlap',
		type: 'number',
		typeOptions: { minValue: 0, numberPrecision: 0 },
		default: 200,
		description: 'How many characters of a chunk are repeated in the next one',
	},
	{
		displayName: 'Chunk Size',
		name: 'chunkSize',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 1000,
		description: 'How many characters a chunk has at most',
	},
	{
		displayName: 'Delimiter',
		name: 'delimiter',
		type: 'string',
		default: '',
		placeholder: 'e.g. \\n\\n \\n .',
		description:
			'Characters to cut at where possible, separated by spaces; \\n stands for a line break',
	},
	{
		displayName: 'Folder',
		name: 'folder',
		type: 'string',
		default: '',
		placeholder: 'e.g. Dept/Sales',
		description:
			'Folder that keeps the document, made if missing. Filters can ask for it. Left empty, the document leaves its folder.',
	},
	{
		displayName: 'Metadata',
		name: 'metadata',
		type: 'json',
		default: '{}',
		description:
			'Anything to keep with the document, as a JSON object, such as what filters of an assistant look for',
	},
	typedRows({
		displayName: 'Metadata Rows',
		name: 'metadataRows',
		placeholder: 'Add value',
		description: 'The same as Metadata, row by row; a row without a value says nothing',
	}),
	{
		displayName: 'MIME Type',
		name: 'mimeType',
		type: 'string',
		default: '',
		placeholder: 'e.g. text/plain',
		description: 'Kind of the content, where the name does not tell it',
	},
	{
		displayName: 'Type',
		name: 'type',
		type: 'string',
		default: '',
		placeholder: 'e.g. md',
		description:
			'File extension by which the server chooses how to read it, where the name has none',
	},
];

/** Whether the directory of a file becomes its folder. */
export const folderFromDirectory: INodeProperties = {
	displayName: 'Folder From Directory',
	name: 'folderFromDirectory',
	type: 'boolean',
	default: false,
	description:
		"Whether the file's directory is the folder, below the one in Folder if that is filled in",
};

/** The collection Document Settings. */
export const documentSettings = (options: INodeProperties[]): INodeProperties => ({
	displayName: 'Document Settings',
	name: 'documentSettings',
	type: 'collection',
	placeholder: 'Add setting',
	default: {},
	options,
});
