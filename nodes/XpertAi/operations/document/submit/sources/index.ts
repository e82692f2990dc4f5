import type { INodeProperties } from 'n8n-workflow';

import {
	simplifyFields,
	binaryFieldName,
	booleanField,
	choiceField,
	displayedIf,
	groupField,
	inPanelOrder,
	jsonBodyField,
	jsonField,
	numberField,
	textField,
} from '../../../../execution/fields';
import { typedRowsField } from '../../../shared/fields';

/** The name of a document, for every source. */
const nameSetting = textField(
	'name',
	'Name',
	'What answers call it. Left out: the name or title in the item, the name of the file, or the address.',
	{ placeholder: 'e.g. Return policy' },
);

/** The key of a document. */
const documentKey = textField(
	'documentKey',
	'Document Key',
	'What replaces a document: a later one with the same key. Left out: its name, file path, address or own ID.',
	{
		placeholder: 'e.g. handbook/returns.md',
		builderHint: {
			propertyHint:
				'Must differ for each document and stay the same when it changes: a path, an address or a row ID, never a title that repeats or $itemIndex.',
		},
	},
);

/** The field of each document that holds its key. */
const documentKeyField = textField(
	'documentKeyField',
	'Key Field',
	'Field of each document that holds its key, such as metadata.key. Left out, documents keep their own IDs.',
	{ placeholder: 'e.g. filePath' },
);

const documentVersion = textField(
	'documentVersion',
	'Document Version',
	'A text that changes with the document, such as its date. Compared in place of the content, and not sent.',
	{ placeholder: 'e.g. {{ $json.md5Checksum }}' },
);

/** The field of each document that holds its version. */
const documentVersionField = textField(
	'documentVersionField',
	'Version Field',
	'Field of each document that changes when the document changes. Compared in place of the content, and not sent.',
	{ placeholder: 'e.g. updated_at' },
);

/** Settings of a document made of a text, a file or an address. */
const recordSettings: INodeProperties[] = [
	numberField(
		'chunkOverlap',
		'Chunk Overlap',
		'How many characters of a chunk are repeated in the next one',
		{ typeOptions: { minValue: 0, numberPrecision: 0 }, default: 200 },
	),
	numberField('chunkSize', 'Chunk Size', 'How many characters a chunk has at most', {
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 1000,
	}),
	textField(
		'delimiter',
		'Delimiter',
		'Characters to cut at where possible, separated by spaces; \\n stands for a line break',
		{ placeholder: 'e.g. \\n\\n \\n .' },
	),
	textField(
		'folder',
		'Folder',
		'Folder that keeps the document, made if missing. Filters can ask for it. Left empty, the document leaves its folder.',
		{ placeholder: 'e.g. Dept/Sales' },
	),
	jsonField(
		'metadata',
		'Metadata',
		'Anything to keep with the document, as a JSON object, such as what filters of an assistant look for',
	),
	typedRowsField(
		'metadataRows',
		'Metadata Rows',
		'The same as Metadata, row by row; a row without a value says nothing',
	),
	textField('mimeType', 'MIME Type', 'Kind of the content, where the name does not tell it', {
		placeholder: 'e.g. text/plain',
	}),
	textField(
		'type',
		'Type',
		'File extension by which the server chooses how to read it, where the name has none',
		{ placeholder: 'e.g. md' },
	),
];

/** Whether the directory of a file becomes its folder. */
const folderFromDirectory = booleanField(
	'folderFromDirectory',
	'Folder From Directory',
	"Whether the file's directory is the folder, below the one in Folder if that is filled in",
);

const text = textField(
	'text',
	'Text',
	'The text itself: plain, Markdown or HTML. It is uploaded as a file.',
	{
		typeOptions: { rows: 4 },
		required: true,
		placeholder: 'e.g. Devices can be returned within 30 days.',
	},
);

const url = textField(
	'url',
	'Address',
	'The address the server fetches the document from, without any token of yours',
	{ required: true, placeholder: 'e.g. https://example.com/manual.pdf' },
);

const documentFields: INodeProperties = {
	displayName: 'Document Fields',
	name: 'documentFields',
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	required: true,
	description:
		'Fields of the document. Servers read only its file (File URL). Map Automatically also takes title, text, path and URL.',
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

const exampleDocuments =
	'[\n  {\n    "name": "manual.md",\n    "fileUrl": "https://example.com/manual.md"\n  }\n]';

const textInRecord = textField(
	'textField',
	'Text Field',
	'Field of each record with its text. Without it, only records with the address of a file can be found.',
	{ placeholder: 'e.g. content' },
);

/** What the input items are; `readers.ts` reads them. */
export const SOURCES = {
	addresses: {
		name: 'Addresses',
		description: 'Each item is an address that the server fetches by itself',
	},
	fields: {
		name: 'Fields',
		description: 'Each item is a document, field by field. Pages and chunks are stored, not found.',
	},
	records: {
		name: 'File of Records',
		description:
			'Each item brings a file with many documents: one JSON object a line, or a JSON array',
	},
	files: {
		name: 'Files',
		description: 'Each item is a file: PDF, Word, Markdown, a web page, a table, …',
	},
	json: { name: 'JSON', description: 'Each item brings an array of documents as JSON' },
	text: { name: 'Text', description: 'Each item is a text' },
};

export type SourceValue = keyof typeof SOURCES;

/** Selects what the input items are. */
export const sourceField = choiceField(
	'source',
	'Documents From',
	'What each input item is',
	SOURCES,
	{
		noDataExpression: true,
		default: 'text',
		builderHint: { propertyHint: 'What one item holds: each choice says it in its description.' },
	},
);

/** Fields, shown for these sources. */
const shownFor = (sources: SourceValue[], fields: INodeProperties[]) =>
	displayedIf({ show: { source: sources } }, fields);

/** Sources of which the node makes documents, and those that bring whole documents. */
const MADE: SourceValue[] = ['text', 'files', 'addresses'];
const WHOLE: SourceValue[] = ['fields', 'json', 'records'];

/** The fields of each source. */
export const sourceFields: INodeProperties[] = [
	...shownFor(['text'], [text]),
	...shownFor(['files'], [binaryFieldName('the file')]),
	...shownFor(['addresses'], [url]),
	...shownFor(['fields'], [documentFields]),
	...shownFor(['json'], [jsonBodyField(exampleDocuments)]),
	...shownFor(['records'], [binaryFieldName('the file of documents'), textInRecord]),
	...shownFor([...MADE, 'fields'], [documentKey]),
	...shownFor(['json', 'records'], [documentKeyField]),
];

/** Settings, shown for these sources. */
const settingsFor = (sources: SourceValue[], settings: INodeProperties[]) =>
	displayedIf({ show: { '/source': sources } }, settings);

/** The collection Document Settings. */
export const DOCUMENT_SETTINGS = groupField(
	'documentSettings',
	'Document Settings',
	undefined,
	inPanelOrder([
		...settingsFor(MADE, [nameSetting, ...recordSettings]),
		...settingsFor(['files'], [folderFromDirectory]),
		...settingsFor([...MADE, 'fields'], [documentVersion]),
		...settingsFor(['json', 'records'], [documentVersionField]),
	]),
	'Add setting',
);

/** Fields that sources share: Simplify and Document Settings. */
export const settingsFields = [...shownFor(WHOLE, simplifyFields), DOCUMENT_SETTINGS];

/** How to send a document that servers can read, for messages. */
export const WITH_A_FILE = `with "Documents From" set to ${SOURCES.text.name}, or its file with ${SOURCES.files.name}`;
