import type { INodeProperties } from 'n8n-workflow';

import {
	binaryNameField,
	choiceField,
	concurrencyOption,
	displayedIf,
	groupField,
	jsonField,
	numberField,
	optionsField,
	outputFormatFields,
	sortedByDisplayName,
	switchOnWhenAdded,
	textField,
	timeoutOptionWithDefault,
	tuningField,
} from '../../../execution/fieldBuilders';
import { knowledgebaseLocator } from '../../../pickers/locators';
import { parserFields } from '../../shared/parserFields';
import { typedRowsField } from '../../shared/typedRows';

export const documentNameField = textField(
	'name',
	'Name',
	'What answers call it; a text gets an extension. Left empty: the name or title in the item, the file name or the address.',
	{ placeholder: 'e.g. Return policy' },
);

const documentKeyParameter = textField(
	'documentKey',
	'Document Key',
	"The same key replaces the earlier document. Empty: a file's path, an address, a text's name, a record's own ID.",
	{
		placeholder: 'e.g. {{ $json.path }}',
		builderHint: {
			propertyHint:
				'Must differ for each document and stay the same when it changes: a path, an address or a row ID, never a title that repeats or $itemIndex.',
		},
	},
);

const keyFieldParameter = textField(
	'documentKeyField',
	'Key Field',
	'Field of each document that holds its key, such as metadata.key. Left out, documents keep their own IDs.',
	{ placeholder: 'e.g. filePath' },
);

const VERSION_DESCRIPTION =
	'that changes with the document. Compared instead of the content; the server does not get it.';

const documentVersionParameter = textField(
	'documentVersion',
	'Document Version',
	`A text ${VERSION_DESCRIPTION}`,
	{
		placeholder: 'e.g. {{ $json.md5Checksum }}',
	},
);

const versionFieldParameter = textField(
	'documentVersionField',
	'Version Field',
	`Field of each document ${VERSION_DESCRIPTION}`,
	{ placeholder: 'e.g. updated_at' },
);

/** Settings of documents whose records the node builds (see `CHOICES_WITHOUT_RECORDS`). */
const recordSettings: INodeProperties[] = [
	...parserFields,
	textField('folder', 'Folder', 'Made if missing. Left empty, the document leaves its folder.', {
		placeholder: 'e.g. Dept/Sales',
	}),
	jsonField('metadata', 'Metadata', 'What to keep with the document, and what filters look for'),
	typedRowsField(
		'metadataRows',
		'Metadata Rows',
		'Keys and values one by one, in place of JSON in Metadata',
	),
	textField('mimeType', 'MIME Type', 'Kind of the content, where the name does not tell it', {
		placeholder: 'e.g. text/plain',
	}),
	textField('type', 'Type', 'File extension by which the server reads it, if the name has none', {
		placeholder: 'e.g. md',
	}),
];

const folderFromDirectoryField = switchOnWhenAdded(
	'folderFromDirectory',
	'Folder From Directory',
	"Whether the file's directory is the folder, below the one in Folder if that is filled in",
);

const textParameter = textField(
	'text',
	'Text',
	'Plain, Markdown or HTML. It is uploaded as a file.',
	{
		typeOptions: { rows: 4 },
		required: true,
		placeholder: 'e.g. Devices can be returned within 30 days.',
	},
);

const addressParameter = textField(
	'url',
	'Address',
	'Where the server fetches it, without any token of yours',
	{
		required: true,
		placeholder: 'e.g. https://example.com/manual.pdf',
	},
);

const documentFieldsParameter: INodeProperties = {
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

const exampleDocumentsJson =
	'[\n  {\n    "name": "manual.md",\n    "fileUrl": "https://example.com/manual.md"\n  }\n]';

const jsonBodyParameter = jsonField(
	'jsonBody',
	'JSON Body',
	'The request body as the server takes it, as JSON or an expression',
	{ typeOptions: { rows: 8 }, default: exampleDocumentsJson, required: true },
);

const textFieldParameter = textField(
	'textField',
	'Text Field',
	'Field of each record with its text. Without it, only records with the address of a file can be found.',
	{ placeholder: 'e.g. content' },
);

/** The choices of the setting "Documents From". Each choice has a reader in `sources/`. */
export const DOCUMENTS_FROM = {
	addresses: { name: 'Addresses', description: 'Each item is an address; the server fetches it' },
	fields: {
		name: 'Fields',
		description:
			'Each item is a record of fields, such as File URL. For a text, use Text: here it is not found.',
	},
	records: { name: 'File of Records', description: 'Each item: a file of JSON lines or an array' },
	files: { name: 'Files', description: 'Each item is a file: PDF, Word, Markdown, tables, others' },
	json: { name: 'JSON', description: 'Each item brings an array of documents as JSON' },
	text: { name: 'Text', description: 'Each item has a text, such as a row of a table' },
};

export type DocumentsFrom = keyof typeof DOCUMENTS_FROM;

const documentsFromField = choiceField(
	'source',
	'Documents From',
	'What each input item is',
	DOCUMENTS_FROM,
	{
		noDataExpression: true,
		default: 'text',
		builderHint: { propertyHint: 'What one item holds: each choice says it in its description.' },
	},
);

/**
 * Returns fields that are shown only for the given choices of "Documents From".
 *
 * @param path the path of this setting; `/source` for fields inside a collection
 */
const shownFor = (sources: DocumentsFrom[], fields: INodeProperties[], path = 'source') =>
	displayedIf({ show: { [path]: sources } }, fields);

/** Choices of "Documents From" for which the node builds the document records. */
const CHOICES_WITHOUT_RECORDS: DocumentsFrom[] = ['text', 'files', 'addresses'];
/** Choices of "Documents From" whose items contain document records. */
const CHOICES_WITH_RECORDS: DocumentsFrom[] = ['fields', 'json', 'records'];

export const documentSettingsField = groupField(
	'documentSettings',
	'Document Settings',
	undefined,
	{
		placeholder: 'Add setting',
		options: sortedByDisplayName([
			...shownFor(CHOICES_WITHOUT_RECORDS, recordSettings, '/source'),
			...shownFor(['files'], [folderFromDirectoryField], '/source'),
			...shownFor([...CHOICES_WITHOUT_RECORDS, 'fields'], [documentVersionParameter], '/source'),
			...shownFor(['json', 'records'], [versionFieldParameter], '/source'),
		]),
	},
);

/** The end of the sentence "Send its text …" in error messages. */
export const HOW_TO_SEND_A_TEXT = `with "Documents From" set to ${DOCUMENTS_FROM.text.name}, or its file with ${DOCUMENTS_FROM.files.name}`;

const modeField = choiceField(
	'mode',
	'When Run Again',
	'What is sent, and what becomes of deleted documents. Notes on it are kept in disabled documents of the knowledgebase.',
	{
		mirror: {
			name: 'Mirror the Source (Disable What Is Gone)',
			description:
				'For the whole source. Disables what was deleted (by hand with an option). Not behind Find Changes.',
			// The hint is on this choice, because n8n rejects a `builderHint` on the field `mode`.
			builderHint: {
				propertyHint: 'For schedules that bring the whole source; "changed" if they bring a part.',
			},
		},
		changed: {
			name: 'Send New and Changed',
			description:
				'Part of the source, or behind Find Changes: leaves out what is unchanged; deleted stays found',
		},
		all: {
			name: 'Send Everything',
			description: 'The same key replaces the earlier document; what was deleted stays found',
		},
	},
	{ default: 'all' },
);

export const sourceNameField = textField(
	'sourceName',
	'Source Name',
	'What these items come from. Two sources need two names, or one replaces documents of the other that have the same key.',
	{ placeholder: 'e.g. handbook' },
);

export const shardField = textField('shard', 'Shard', 'Which part of the source this run brings', {
	placeholder: 'e.g. 7 of 20',
});

export const dryRunField = switchOnWhenAdded(
	'dryRun',
	'Only Show What Would Happen',
	'Whether to send nothing, and only say in the output field "plan" what the next run would do',
);

export const maxGonePercentField = numberField(
	'maxGonePercent',
	'Stop If More Than (%) Are Gone',
	'The run then fails and disables none; 20 if not added. Fewer than 10 documents, if less than half, are always allowed.',
	{ typeOptions: { minValue: 0, maxValue: 100 }, default: 20 },
);

export const disableInManualRunsField = switchOnWhenAdded(
	'disableInManualRuns',
	'Disable in Manual Runs',
	'Whether a run started by hand disables what is gone, too. Otherwise it says what a scheduled run would do.',
);

const wholeNumberTypeOptions = (minValue: number) => ({ minValue, numberPrecision: 0 });

const IF_REMEMBERED = { show: { '/mode': ['changed', 'mirror'] } };

const submitOptionsField = optionsField([
	...displayedIf(IF_REMEMBERED, [
		switchOnWhenAdded(
			'resendAll',
			'Resend All',
			'Whether to send unchanged documents again as well',
		),
	]),
	shardField,
	...displayedIf({ show: { '/mode': ['mirror'] } }, [
		maxGonePercentField,
		disableInManualRunsField,
	]),
	choiceField('afterStoring', 'After Storing', 'Assistants find a document when it is processed', {
		wait: { name: 'Process and Wait', description: 'Wait until assistants find the documents' },
		process: { name: 'Start Processing', description: 'Go on while the server reads them' },
		nothing: { name: 'Nothing', description: 'Assistants do not find them until processed' },
	}),
	dryRunField,
	choiceField('output', 'Output', 'What the node gives to the next one', {
		documents: { name: 'One Item per Document', description: 'In input order' },
		summary: { name: 'Summary', description: 'One item with counts, for very many documents' },
	}),
	numberField('waitMinutes', 'Wait for Processing (Minutes)', 'At most this long', {
		typeOptions: { minValue: 0 },
		default: 30,
	}),
]);

/** Settings that few users need: speed, limits, and the repair of a source. */
const submitTuningField = tuningField('Tuning and Repair', [
	...displayedIf(IF_REMEMBERED, [
		switchOnWhenAdded(
			'forgetDamage',
			'Forget Earlier Damage',
			'Whether to stop reporting that notes of this source were lost. Add it for one run.',
		),
	]),
	numberField('batchSize', 'Batch Size', 'Max number of documents in one request', {
		typeOptions: wholeNumberTypeOptions(1),
		default: 100,
	}),
	numberField('batchMegabytes', 'Batch Size (MB)', 'Max size of one request', {
		typeOptions: { minValue: 0.01, maxValue: 50 },
		default: 8,
	}),
	{
		...concurrencyOption,
		default: 5,
		description: 'Batches sent at once. With more than 1, the server counts too few documents.',
	},
	numberField('retryMinutes', 'Retry for (Minutes)', 'How long to try again. With 0, never.', {
		typeOptions: { minValue: 0 },
		default: 10,
	}),
	numberField(
		'stopAfterFailures',
		'Stop After Failures',
		'When so many documents in a row fail for the same reason, the rest is not sent. Never with 0.',
		{ typeOptions: wholeNumberTypeOptions(0), default: 100 },
	),
	timeoutOptionWithDefault(300),
]);

/** All parameters of Submit, in display order. */
export const submitFields: INodeProperties[] = [
	knowledgebaseLocator,
	documentsFromField,
	...shownFor(['text'], [textParameter]),
	...shownFor(['files'], [binaryNameField('the file')]),
	...shownFor(['addresses'], [addressParameter]),
	...shownFor(['fields'], [documentFieldsParameter]),
	...shownFor(['json'], [jsonBodyParameter]),
	...shownFor(['records'], [binaryNameField('the file of documents'), textFieldParameter]),
	...shownFor(CHOICES_WITHOUT_RECORDS, [documentNameField]),
	...shownFor([...CHOICES_WITHOUT_RECORDS, 'fields'], [documentKeyParameter]),
	...shownFor(['json', 'records'], [keyFieldParameter]),
	modeField,
	sourceNameField,
	...shownFor(CHOICES_WITH_RECORDS, outputFormatFields),
	documentSettingsField,
	submitOptionsField,
	submitTuningField,
];
