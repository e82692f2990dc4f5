import { updateDisplayOptions } from 'n8n-workflow';
import type { INodeProperties } from 'n8n-workflow';

import { binaryFieldName } from '../../../execution/binary';
import { bodyMode, jsonBodyField, simplify } from '../../../execution/fields';
import type { Field } from '../../../execution/operation';
import { getDocumentFields } from '../../../pickers/documentFields';
import { knowledgebaseLocator } from '../../shared/locators';
import { chunksField, pagesField } from './parts';
import { submitOptions } from './options';

const sourceMode: INodeProperties = {
	...bodyMode,
	displayName: 'Documents From',
	options: [
		{ name: 'Input Items', value: 'fields', description: 'Each item is a document' },
		{ name: 'JSON', value: 'json', description: 'Each item brings an array of documents as JSON' },
		{
			name: 'File',
			value: 'file',
			description:
				'Each item brings a file of documents: one JSON object a line (NDJSON), or a JSON array',
		},
	],
	description: 'Where the documents come from',
};

const documentFields: Field = {
	displayName: 'Document Fields',
	name: 'documentFields',
	methods: { resourceMapping: { getDocumentFields } },
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	required: true,
	description:
		"What the document consists of. Map Automatically also takes columns such as title, text, content, path and URL. Parser Config says how its file is cut: it is sent in the contract's form and as textSplitter, which is what counts on Xpert AI servers; a delimiter that holds a comma cannot be said there.",
	typeOptions: {
		resourceMapper: {
			resourceMapperMethod: 'getDocumentFields',
			mode: 'add',
			valuesLabel: 'Document Fields',
			fieldWords: { singular: 'field', plural: 'fields' },
			addAllFields: true,
			multiKeyMatch: false,
			supportAutoMap: true,
		},
	},
};

const textField: INodeProperties = {
	displayName: 'Text',
	name: 'text',
	type: 'string',
	typeOptions: { rows: 3 },
	default: '',
	placeholder: 'e.g. {{ $json.text }}',
	description:
		'Plain text of the document; becomes its pages or chunks. Leave empty when pages or chunks are given below.',
};

/** How Text is cut and stored. */
export const textOptions: INodeProperties = {
	displayName: 'Text Options',
	name: 'textOptions',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: [
		{
			displayName: 'Chunk Overlap',
			name: 'chunkOverlap',
			type: 'number',
			typeOptions: { minValue: 0, numberPrecision: 0 },
			default: 200,
			description: 'How many characters of a part are repeated in the next one',
		},
		{
			displayName: 'Chunk Size',
			name: 'chunkSize',
			type: 'number',
			typeOptions: { minValue: 1, numberPrecision: 0 },
			default: 1000,
			description:
				'Cut the text into parts of at most this many characters. Without it, the text stays whole.',
		},
		{
			displayName: 'Delimiter',
			name: 'delimiter',
			type: 'string',
			default: '\\n\\n \\n .',
			description:
				'Characters to cut at where possible, separated by spaces; \\n stands for a line break',
		},
		{
			displayName: 'Store As',
			name: 'storeAs',
			type: 'options',
			options: [
				{
					name: 'Chunks',
					value: 'chunks',
					description: 'On Xpert AI servers, a document whose chunks changed cannot be sent again',
				},
				{ name: 'Pages', value: 'pages', description: 'Replaced when the document is sent again' },
			],
			default: 'pages',
			description: 'Whether the text becomes pages or chunks of the document',
		},
	],
};

const documentIdMode: INodeProperties = {
	displayName: 'Document ID',
	name: 'documentIdMode',
	type: 'options',
	options: [
		{
			name: 'Derived From a Key',
			value: 'derived',
			description:
				'A UUID made of the knowledgebase and the key below: the same document has the same ID in every run, so a retry or a second run replaces it. Without a key, documents keep the ID they bring.',
		},
		{
			name: 'From the Document',
			value: 'field',
			description:
				"The document's own ID, which must be a UUID. A retry or a second run replaces the document.",
		},
		{
			name: 'Left to the Server',
			value: 'server',
			description:
				'The server makes a new ID each time: a second run stores every document again, and a request whose answer got lost is not sent again',
		},
	],
	default: 'derived',
	description:
		'What the server keeps a document under. Only documents with a UUID as ID can be sent again without being doubled.',
};

const documentKey: INodeProperties = {
	displayName: 'Document Key',
	name: 'documentKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.path }}',
	description:
		'What tells this document from all others in the knowledgebase, such as its path or URL',
};

const documentKeyField: INodeProperties = {
	displayName: 'Key Field',
	name: 'documentKeyField',
	type: 'string',
	default: '',
	placeholder: 'e.g. filePath',
	description:
		'Field of each document that tells it from all others in the knowledgebase. Dots lead into objects, such as metadata.key.',
};

const output: INodeProperties = {
	displayName: 'Output',
	name: 'output',
	type: 'options',
	options: [
		{
			name: 'One Item per Document',
			value: 'documents',
			description: 'What became of each document, in input order',
		},
		{
			name: 'Summary',
			value: 'summary',
			description:
				'One item with counts and the documents that were not stored; for very many documents',
		},
	],
	default: 'documents',
	description: 'What the node gives to the next one',
};

const only = (mode: 'fields' | 'json' | 'file', fields: Field[]): Field[] =>
	updateDisplayOptions({ show: { bodyMode: [mode] } }, fields);

const whenDerived = (field: INodeProperties): INodeProperties => ({
	...field,
	displayOptions: { show: { documentIdMode: ['derived'] } },
});

const exampleDocuments =
	'[\n  {\n    "name": "manual.md",\n    "pages": [{ "pageContent": "…" }]\n  }\n]';

/** Every parameter of Document: Submit. */
export const submitFields: Field[] = [
	knowledgebaseLocator('The knowledgebase that receives the documents'),
	sourceMode,
	...only('fields', [documentFields, textField, textOptions, pagesField, chunksField]),
	...only('json', [jsonBodyField(exampleDocuments)]),
	...only('file', [binaryFieldName('the file with the documents')]),
	documentIdMode,
	...only('fields', [whenDerived(documentKey)]),
	...only('json', [whenDerived(documentKeyField)]),
	...only('file', [whenDerived(documentKeyField)]),
	output,
	{ ...simplify, displayOptions: { show: { output: ['documents'] } } },
	submitOptions,
];
