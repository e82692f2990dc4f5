import type { INodeProperties } from 'n8n-workflow';

import { atOnceOption, displayedIf, optionsField, timeoutOption } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { knowledgebaseLocator } from '../../../pickers/locators';
import { sourceFields, settingsFields, sourceField } from './sources';

const mode: INodeProperties = {
	displayName: 'When Run Again',
	name: 'mode',
	type: 'options',
	options: [
		{
			name: 'Send Everything',
			value: 'all',
			description: 'Send all documents in each run, and remember nothing',
		},
		{
			name: 'Send New and Changed',
			value: 'changed',
			description:
				'Leave out documents that an earlier run stored with the same content and that are still there',
		},
		{
			name: 'Mirror the Source (Remove What Is Gone)',
			value: 'mirror',
			description:
				'Also disable documents that are no longer in the source. Each run must contain the whole source.',
			// n8n refuses nodes with a hint on a field called mode, but shows those of its options.
			builderHint: {
				propertyHint:
					'For schedules that bring the whole source; "changed" where they bring a part.',
			},
		},
	],
	default: 'all',
	description:
		'What the next run of this node sends. What is stored is remembered in disabled documents of the knowledgebase.',
};

/** The name of the source, which separates its memory and its IDs from those of others. */
export const sourceName: INodeProperties = {
	displayName: 'Source Name',
	name: 'sourceName',
	type: 'string',
	default: '',
	placeholder: 'e.g. handbook',
	description:
		'Name of the source. Each source has its own memory and keys. Without a name, it is this node in this workflow.',
};

const BATCH_TIMEOUT_SECONDS = 300;

/** The collection Options of Submit. */
const submitOptions = optionsField([
	{
		displayName: 'Resend All',
		name: 'resendAll',
		type: 'boolean',
		default: false,
		description: 'Whether to send all documents again, even unchanged ones',
		displayOptions: { show: { '/mode': ['changed', 'mirror'] } },
	},
	{
		displayName: 'Stop If More Than (%) Disappeared',
		name: 'maxGonePercent',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 100 },
		default: 20,
		description:
			'The run then fails and disables none. With 0, none may be missing. Manual runs store documents but disable none.',
		displayOptions: { show: { '/mode': ['mirror'] } },
	},
	{
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
	},
	{
		displayName: 'Batch Size',
		name: 'batchSize',
		type: 'number',
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 100,
		description: 'Max number of documents in one request',
	},
	{
		displayName: 'Batch Size (MB)',
		name: 'batchMegabytes',
		type: 'number',
		typeOptions: { minValue: 0.01, maxValue: 50 },
		default: 8,
		description: 'Max size of one request. Servers take up to 50 MB.',
	},
	{
		displayName: 'Forget Earlier Damage',
		name: 'forgetDamage',
		type: 'boolean',
		default: false,
		description:
			'Whether to stop reporting that notes of this source were lost. Switch it on for one run.',
		displayOptions: { show: { '/mode': ['changed', 'mirror'] } },
	},
	{
		displayName: 'Only Show What Would Happen',
		name: 'dryRun',
		type: 'boolean',
		default: false,
		description:
			'Whether to only report in plan what the next run would do with each document, without changing anything',
	},
	{
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
	},
	{
		...atOnceOption,
		default: 5,
		description:
			'How many batches are sent at once. With more than 1, the server counts too few documents, though all are stored.',
	},
	{
		displayName: 'Retry for (Minutes)',
		name: 'retryMinutes',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 10,
		description:
			'How long to retry while the server is busy or cannot be reached. With 0, each request is sent once.',
	},
	{
		displayName: 'Shard',
		name: 'shard',
		type: 'string',
		default: '',
		placeholder: 'e.g. 7 of 20',
		description: 'Which part of the source this run brings, where several runs bring one part each',
		displayOptions: { show: { '/mode': ['changed', 'mirror'] } },
	},
	{
		displayName: 'Stop After Failures',
		name: 'stopAfterFailures',
		type: 'number',
		typeOptions: { minValue: 0, numberPrecision: 0 },
		default: 100,
		description:
			'When so many documents in a row cannot be stored or processed for the same reason, the rest is not sent. Never with 0.',
	},
	timeoutOption(BATCH_TIMEOUT_SECONDS),
	{
		displayName: 'Wait for Processing (Minutes)',
		name: 'waitMinutes',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 30,
		description: 'How long Process and Wait may take',
	},
]);

/** Every parameter of Document: Submit, in the order a user sees them. */
export const submitFields: Field[] = [
	knowledgebaseLocator,
	sourceField,
	...sourceFields,
	mode,
	...displayedIf({ show: { mode: ['changed', 'mirror'] } }, [sourceName]),
	...settingsFields,
	submitOptions,
];
