import type { INodeProperties } from 'n8n-workflow';

import { MOST_AT_ONCE, displayedIf, optionsField, timeoutOption } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { knowledgebaseLocator } from '../../../pickers/locators';
import { identityFields, ownFields, settingsFields, sourceField } from './sources';

const mode: INodeProperties = {
	displayName: 'Runs Again',
	name: 'mode',
	type: 'options',
	options: [
		{
			name: 'Send Everything',
			value: 'all',
			description: 'Each run sends all documents, and remembers nothing',
		},
		{
			name: 'Send What Is New or Changed',
			value: 'changed',
			description:
				'Documents stored earlier with the same content are left out, as long as they are still there',
		},
		{
			name: 'Equal the Source',
			value: 'mirror',
			description:
				'What is gone from the source is also taken out of answers: each run has to bring all of it',
			// n8n refuses nodes with a hint on a field called mode, but shows those of its options.
			builderHint: {
				propertyHint:
					'For schedules that bring the whole source; "changed" where they bring a part.',
			},
		},
	],
	default: 'all',
	description:
		'What the next run of this node does. What is stored is remembered in the knowledgebase itself, in disabled documents. Needs document IDs.',
};

/** The name of the source, which tells its memory and its IDs from those of others. */
export const sourceName: INodeProperties = {
	displayName: 'Source Name',
	name: 'sourceName',
	type: 'string',
	default: '',
	placeholder: 'e.g. handbook',
	description:
		'What the documents come from; left empty, this node in this workflow. Sources are remembered apart, and may bring the same keys. A source that gets a name later sends everything once more; its earlier copies stay until Document: Disable takes them out.',
};

const resendAll: INodeProperties = {
	displayName: 'Resend All',
	name: 'resendAll',
	type: 'boolean',
	default: false,
	description:
		'Whether to forget the contents that earlier runs have stored and to send everything. What is stored is still known.',
};

const maxGonePercent: INodeProperties = {
	displayName: 'Max Share Gone (Percent)',
	name: 'maxGonePercent',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 100 },
	default: 20,
	description:
		'If more of what this source stored earlier is missing, none is disabled and the run fails after storing what came. Fewer than ten may be missing if that is less than half, except with 0. Only a whole run disables any: nothing rejected, unreadable or stopped. Manual executions only say what they would do.',
};

const BATCH_TIMEOUT_SECONDS = 300;

/** The collection Options of Submit. */
export const submitOptions = optionsField([
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
			'Whether to say no more that notes of this source were lost. Switch it on for one run.',
		displayOptions: { show: { '/mode': ['changed', 'mirror'] } },
	},
	{
		displayName: 'Only Show What Would Happen',
		name: 'dryRun',
		type: 'boolean',
		default: false,
		description:
			'Whether to read and compare everything, and to say in plan what the next run would do with each document, without changing anything on the server',
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
		displayName: 'Requests at Once',
		name: 'concurrency',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: MOST_AT_ONCE, numberPrecision: 0 },
		default: 5,
		description:
			'How many batches are sent side by side. With more than 1, the server counts too few documents in the knowledgebase; they are all there.',
	},
	{
		displayName: 'Retry for (Minutes)',
		name: 'retryMinutes',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 10,
		description:
			'How long to go on trying when the server is busy or cannot be reached, as while it restarts. With 0, each request is sent once.',
	},
	{
		displayName: 'Shard',
		name: 'shard',
		type: 'string',
		default: '',
		placeholder: 'e.g. 7 of 20',
		description:
			'Which part of the source this run brings, where several runs bring one each. Parts are remembered apart; the IDs of documents do not depend on it.',
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
	...ownFields,
	...identityFields,
	mode,
	...displayedIf({ show: { mode: ['changed', 'mirror'] } }, [sourceName, resendAll]),
	...displayedIf({ show: { mode: ['mirror'] } }, [maxGonePercent]),
	...settingsFields,
	submitOptions,
];
