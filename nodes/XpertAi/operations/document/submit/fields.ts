import type { INodeProperties } from 'n8n-workflow';

import { binaryFieldName, displayedIf, jsonBodyField, simplify } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { knowledgebaseLocator } from '../../../pickers/locators';
import { chunksField, pagesField } from './parts';
import { submitOptions } from './options';

const source: INodeProperties = {
	displayName: 'Documents From',
	name: 'source',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Addresses',
			value: 'addresses',
			description: 'Each item is an address that the server fetches by itself',
		},
		{
			name: 'Fields',
			value: 'fields',
			description:
				'Each item is a document, field by field. Pages and chunks are stored, not found.',
		},
		{
			name: 'File of Records',
			value: 'records',
			description:
				'Each item brings a file with many documents: one JSON object a line, or a JSON array',
		},
		{
			name: 'Files',
			value: 'files',
			description: 'Each item is a file: PDF, Word, Markdown, a web page, a table, …',
		},
		{ name: 'JSON', value: 'json', description: 'Each item brings an array of documents as JSON' },
		{ name: 'Text', value: 'text', description: 'Each item is a text' },
	],
	default: 'text',
	description: 'What each input item is',
};

/** What a document is called, however it is made. */
export const nameField: INodeProperties = {
	displayName: 'Name',
	name: 'name',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.title }}',
	description: 'What the document is called, also where an assistant quotes it',
};

const textField: INodeProperties = {
	displayName: 'Text',
	name: 'text',
	type: 'string',
	typeOptions: { rows: 4 },
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.text }}',
	description: 'The text itself: plain, Markdown or HTML. It is uploaded as a file.',
};

const urlField: INodeProperties = {
	displayName: 'Address',
	name: 'url',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. https://example.com/manual.pdf',
	description: 'The address the server fetches the document from, without any token of yours',
};

const textInRecord: INodeProperties = {
	displayName: 'Text Field',
	name: 'textField',
	type: 'string',
	default: '',
	placeholder: 'e.g. content',
	description:
		"Field of each record that holds its text, which is uploaded as a file. Without it, records are sent as they are, and the server finds only those with a file's address. Dots lead into objects.",
};

const documentFields: Field = {
	displayName: 'Document Fields',
	name: 'documentFields',
	methods: {
		resourceMapping: {
			// Loaded when the mapper is opened: most processes of n8n only show the node.
			getDocumentFields: async () =>
				await (await import('../../../pickers/documentFields')).getDocumentFields(),
		},
	},
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	required: true,
	description:
		'What the document consists of. Map Automatically also takes columns such as title, text, content, path and URL. File URL is the address of its file, which is all that servers read. Parser Config says how its file is cut: a delimiter that holds a comma does not work on Xpert AI servers.',
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

const documentIdMode: INodeProperties = {
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
			name: 'Left to the Server',
			value: 'server',
			description: 'A new ID each time, so that a second run stores every document again',
		},
	],
	default: 'derived',
	description:
		'What the server keeps a document under. Only documents with an ID can be sent again without being doubled.',
};

const documentKey: INodeProperties = {
	displayName: 'Document Key',
	name: 'documentKey',
	type: 'string',
	default: '',
	placeholder: 'e.g. {{ $json.path }}',
	description:
		'What tells this document from all others in the knowledgebase, or of its source if that has a name, so that a second run replaces it',
};

/** The key of a document that is called and found by one thing anyway. */
const keyOf = (otherwise: string): INodeProperties => ({
	...documentKey,
	description: `${documentKey.description ?? ''}. Left empty, it is ${otherwise}.`,
});

/** The key of a document that may bring an ID of its own. */
const keyOrOwnId: INodeProperties = {
	...documentKey,
	description: `${documentKey.description ?? ''}. Left empty, the document keeps the ID it brings.`,
};

const documentKeyField: INodeProperties = {
	displayName: 'Key Field',
	name: 'documentKeyField',
	type: 'string',
	default: '',
	placeholder: 'e.g. filePath',
	description:
		'Field of each document that tells it from all others in the knowledgebase. Dots lead into objects, such as metadata.key. Left empty, documents keep the ID they bring.',
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

const afterStoring: INodeProperties = {
	displayName: 'After Storing',
	name: 'afterStoring',
	type: 'options',
	options: [
		{
			name: 'Nothing',
			value: 'nothing',
			description: 'Only store. Assistants do not find the documents until they are processed.',
		},
		{
			name: 'Process and Wait',
			value: 'wait',
			description: 'Have the server read the documents, and wait until assistants find them',
		},
		{
			name: 'Start Processing',
			value: 'process',
			description: 'Have the server read the documents, and go on at once',
		},
	],
	default: 'wait',
	description:
		'What happens when the documents are stored. Assistants find a document when it is processed.',
};

/** What else belongs to a document that is made of a text, a file or an address. */
export const documentSettings: INodeProperties = {
	displayName: 'Document Settings',
	name: 'documentSettings',
	type: 'collection',
	placeholder: 'Add setting',
	default: {},
	options: [
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
			description: 'Folder the document is kept in, which Xpert AI servers make no use of',
		},
		{
			displayName: 'Metadata',
			name: 'metadata',
			type: 'json',
			default: '{}',
			description: 'Anything to keep with the document, as a JSON object',
		},
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
	],
};

type Source = 'text' | 'files' | 'addresses' | 'fields' | 'json' | 'records';

const only = (sources: Source[], fields: Field[]): Field[] =>
	displayedIf({ show: { source: sources } }, fields);

const whenDerived = (field: INodeProperties): INodeProperties => ({
	...field,
	displayOptions: { show: { documentIdMode: ['derived'] } },
});

const exampleDocuments =
	'[\n  {\n    "name": "manual.md",\n    "fileUrl": "https://example.com/manual.md"\n  }\n]';

const WITH_ID: Source[] = ['fields', 'json', 'records'];
const WITH_FILE: Source[] = ['text', 'files', 'addresses'];

/** Every parameter of Document: Submit, in the order a user sees them. */
export const submitFields: Field[] = [
	{
		...knowledgebaseLocator('The knowledgebase that receives the documents'),
		hint: 'Knowledgebase: Create gives its ID; on the server, it stands in the address of its page',
	},
	source,
	...only(['text'], [{ ...nameField, required: true }, textField]),
	...only(['files'], [binaryFieldName('the file'), nameField]),
	...only(['addresses'], [urlField, nameField]),
	...only(['fields'], [documentFields, pagesField, chunksField]),
	...only(['json'], [jsonBodyField(exampleDocuments)]),
	...only(['records'], [binaryFieldName('the file of documents'), textInRecord]),
	...only(WITH_ID, [documentIdMode]),
	...only(['text'], [keyOf('the name')]),
	...only(['files'], [keyOf("the file's directory and name")]),
	...only(['addresses'], [keyOf('the address')]),
	...only(['fields'], [whenDerived(keyOrOwnId)]),
	...only(['json', 'records'], [whenDerived(documentKeyField)]),
	afterStoring,
	...only(WITH_FILE, [documentSettings]),
	output,
	{ ...simplify, displayOptions: { show: { output: ['documents'] } } },
	submitOptions,
];
