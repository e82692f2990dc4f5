import type { INodeProperties } from 'n8n-workflow';

import {
	atOnceOption,
	booleanField,
	choiceField,
	displayedIf,
	numberField,
	optionsField,
	textField,
	timeoutOption,
} from '../../../execution/fields';
import { knowledgebaseLocator } from '../../../pickers/locators';
import { sourceFields, settingsFields, sourceField } from './sources';

const mode = choiceField(
	'mode',
	'When Run Again',
	'What the next run of this node sends. What is stored is remembered in disabled documents of the knowledgebase.',
	{
		all: {
			name: 'Send Everything',
			description:
				'Send all documents in each run, and note them only where an earlier run noted some',
		},
		changed: {
			name: 'Send New and Changed',
			description:
				'Leave out documents that an earlier run stored with the same content and that are still there',
		},
		mirror: {
			name: 'Mirror the Source (Remove What Is Gone)',
			description:
				'Also disable what left the source. Each run must contain the whole of it: not behind Find Changes.',
			// n8n refuses nodes with a hint on a field called mode, but shows those of its options.
			builderHint: {
				propertyHint:
					'For schedules that bring the whole source; "changed" where they bring a part.',
			},
		},
	},
);

/** The name of the source, which separates its memory and its IDs from those of others. */
export const sourceName = textField(
	'sourceName',
	'Source Name',
	'Each source has its own memory and keys, and is mirrored where it brings a document. Without a name, it is this node.',
	{ placeholder: 'e.g. handbook' },
);

const BATCH_TIMEOUT_SECONDS = 300;

/** Options for a run that remembers what is stored. */
const memoryOptions = displayedIf({ show: { '/mode': ['changed', 'mirror'] } }, [
	booleanField(
		'resendAll',
		'Resend All',
		'Whether to send all documents again, even unchanged ones',
	),
	booleanField(
		'forgetDamage',
		'Forget Earlier Damage',
		'Whether to stop reporting that notes of this source were lost. Switch it on for one run.',
	),
]);

export const shard = textField(
	'shard',
	'Shard',
	'Which part of the source this run brings, where several runs bring one part each',
	{ placeholder: 'e.g. 7 of 20' },
);

export const dryRun = booleanField(
	'dryRun',
	'Only Show What Would Happen',
	'Whether to only report in plan what the next run would do with each document, without changing anything',
);

export const maxGonePercent = numberField(
	'maxGonePercent',
	'Stop If More Than (%) Are Gone',
	'The run then fails and disables none. With 0, none may be missing. Manual runs never disable.',
	{ typeOptions: { minValue: 0, maxValue: 100 }, default: 20 },
);

/** The collection Options of Submit. */
const submitOptions = optionsField([
	...memoryOptions,
	shard,
	...displayedIf({ show: { '/mode': ['mirror'] } }, [maxGonePercent]),
	choiceField(
		'afterStoring',
		'After Storing',
		'What happens when the documents are stored. Assistants find a document when it is processed.',
		{
			nothing: {
				name: 'Nothing',
				description: 'Only store. Assistants do not find the documents until they are processed.',
			},
			wait: {
				name: 'Process and Wait',
				description: 'Have the server read the documents, and wait until assistants find them',
			},
			process: {
				name: 'Start Processing',
				description: 'Have the server read the documents, and go on at once',
			},
		},
		{ default: 'wait' },
	),
	numberField('batchSize', 'Batch Size', 'Max number of documents in one request', {
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 100,
	}),
	numberField(
		'batchMegabytes',
		'Batch Size (MB)',
		'Max size of one request. Servers take up to 50 MB.',
		{ typeOptions: { minValue: 0.01, maxValue: 50 }, default: 8 },
	),
	dryRun,
	choiceField('output', 'Output', 'What the node gives to the next one', {
		documents: {
			name: 'One Item per Document',
			description: 'What became of each document, in input order',
		},
		summary: {
			name: 'Summary',
			description:
				'One item with counts and the documents that were not stored; for very many documents',
		},
	}),
	{
		...atOnceOption,
		default: 5,
		description:
			'How many batches are sent at once. With more than 1, the server counts too few documents, though all are stored.',
	},
	numberField(
		'retryMinutes',
		'Retry for (Minutes)',
		'How long to retry while the server is busy or cannot be reached. With 0, each request is sent once.',
		{ typeOptions: { minValue: 0 }, default: 10 },
	),
	numberField(
		'stopAfterFailures',
		'Stop After Failures',
		'When so many documents in a row cannot be stored or processed for the same reason, the rest is not sent. Never with 0.',
		{ typeOptions: { minValue: 0, numberPrecision: 0 }, default: 100 },
	),
	timeoutOption(BATCH_TIMEOUT_SECONDS),
	numberField(
		'waitMinutes',
		'Wait for Processing (Minutes)',
		'How long Process and Wait may take',
		{ typeOptions: { minValue: 0 }, default: 30 },
	),
]);

/** Every parameter of Document: Submit, in the order a user sees them. */
export const submitFields: INodeProperties[] = [
	knowledgebaseLocator,
	sourceField,
	...sourceFields,
	mode,
	sourceName,
	...settingsFields,
	submitOptions,
];
