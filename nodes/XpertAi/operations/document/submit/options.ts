import { MOST_AT_ONCE, optionsField, timeoutOption } from '../../../execution/fields';

const BATCH_TIMEOUT_SECONDS = 300;

/** The collection Options of Submit. */
export const submitOptions = optionsField([
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
		displayName: 'Documents Gone From the Source',
		name: 'whenGone',
		type: 'options',
		options: [
			{
				name: 'Disable',
				value: 'disable',
				description: 'Assistants do not find them any more, until the source brings them again',
			},
			{ name: 'Keep', value: 'keep', description: 'Nothing happens to them' },
		],
		default: 'keep',
		description:
			'What happens to documents that this source stored in an earlier run and does not bring this time. Each run has to bring all documents of the source at once. Only a whole run disables any: nothing was rejected, unreadable or stopped. Manual executions only say what they would do. Needs document IDs.',
	},
	{
		displayName: 'Isolate Rejected Documents Without IDs',
		name: 'isolateWithoutIds',
		type: 'boolean',
		default: false,
		description:
			'Whether to cut up a batch the server rejects even if its documents have no IDs. Documents of it that the server had stored already are then stored twice. Batches with IDs are always cut up.',
	},
	{
		displayName: 'Max Share Gone (Percent)',
		name: 'maxGonePercent',
		type: 'number',
		typeOptions: { minValue: 0, maxValue: 100 },
		default: 20,
		description:
			'If more of the documents that this source stored earlier are missing, none is disabled and the run fails after storing what came. Only of use with Documents Gone From the Source.',
	},
	{
		displayName: 'Requests at Once',
		name: 'concurrency',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: MOST_AT_ONCE, numberPrecision: 0 },
		default: 5,
		description:
			'How many batches are sent side by side. With 1, the counter of documents that the server keeps for the knowledgebase is right as well; the documents themselves are all there in any case.',
	},
	{
		displayName: 'Resend All',
		name: 'resendAll',
		type: 'boolean',
		default: false,
		description:
			'Whether to forget the contents that earlier runs have stored and to send everything. Only of use with Skip Unchanged.',
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
	},
	{
		displayName: 'Skip Unchanged',
		name: 'skipUnchanged',
		type: 'boolean',
		default: false,
		description:
			'Whether to leave out documents that an earlier run of this node has stored with the same content, as long as the server still has them. Needs document IDs. What is stored is remembered in the knowledgebase itself, in disabled documents.',
	},
	{
		displayName: 'Source Name',
		name: 'sourceName',
		type: 'string',
		default: '',
		placeholder: 'e.g. handbook',
		description:
			'What the documents come from; left empty, this node in this workflow. Sources are remembered apart. A name is also part of the IDs made of keys: two named sources may bring the same file names. To name a source that has run already, keep Skip Unchanged on: everything is sent once more, and its earlier copies are disabled.',
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
