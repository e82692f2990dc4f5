import type { INodeProperties, INodePropertyOptions } from 'n8n-workflow';
import { z } from 'zod';

import {
	displayedIf,
	enumOptions,
	bodyMode,
	jsonBodyOption,
	optionsField,
	optionsWithoutOwnBody,
	timeoutOption,
} from '../../../execution/fields';
import { ID_PLACEHOLDER } from '../../../pickers/locators';
import { typedRows } from '../../shared/typedRows';

/** How an answer is written. */
const answerOptions: INodeProperties[] = [
	{
		displayName: 'Citations',
		name: 'citations',
		type: 'options',
		options: [
			{ name: 'As Written', value: 'asWritten', description: 'Links that only Xpert AI can open' },
			{ name: 'None', value: 'none', description: 'The answer without its links' },
			{ name: 'Numbers', value: 'numbers', description: 'Such as [1], the number in sources' },
		],
		default: 'numbers',
		description: 'How the answer shows the passages of a knowledgebase it is based on',
	},
	{
		displayName: 'List Sources',
		name: 'listSources',
		type: 'boolean',
		default: false,
		description: 'Whether to list the documents that the answer cites under it, by name',
	},
	{
		displayName: 'Return Intermediate Steps',
		name: 'returnIntermediateSteps',
		type: 'boolean',
		default: false,
		description:
			'Whether to give the tools that the assistant used, with what they were asked and what they answered',
	},
];

/** How an answer reaches chats and agents. */
const deliveryOptions: INodeProperties[] = [
	{
		displayName: 'Enable Streaming',
		name: 'enableStreaming',
		type: 'boolean',
		default: true,
		description:
			'Whether published chats and streaming webhooks show the answer as it is written. The chat in the editor does not.',
	},
	{
		displayName: 'Failures as Replies',
		name: 'failuresAsReplies',
		type: 'boolean',
		default: false,
		description:
			'Whether the reason of a failed run becomes its output. In the tool of an AI agent this is on unless switched off.',
	},
];

const deadline: INodeProperties = {
	displayName: 'Deadline (Minutes)',
	name: 'deadlineMinutes',
	type: 'number',
	typeOptions: { minValue: 0.01 },
	default: 15,
	description:
		'How long to wait at most, also for hours: for a busy thread, for the run where it is waited for, and after a broken wait',
};

const concurrency: INodeProperties = {
	displayName: 'Runs at Once',
	name: 'concurrency',
	type: 'number',
	typeOptions: { minValue: 1, maxValue: 50, numberPrecision: 0 },
	default: 5,
	description:
		'How many threads run side by side. Runs on the same thread always go one after another.',
};

const whenBusy: INodeProperties = {
	displayName: 'When the Thread Is Busy',
	name: 'whenBusy',
	type: 'options',
	options: [
		{ name: 'Fail', value: 'fail', description: 'Say so at once' },
		{
			name: 'Run Anyway',
			value: 'run',
			description:
				'For a thread left busy by a restarted server. Beside a run that goes on, messages get lost.',
		},
		{ name: 'Wait', value: 'wait', description: 'Wait until the other run has ended' },
	],
	default: 'wait',
	description: 'What to do when another run is active on the thread',
};

const cancelSilent: INodeProperties = {
	displayName: 'Cancel a Silent Run After (Minutes)',
	name: 'cancelSilentMinutes',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description:
		'Cancels a run that blocks the thread after this time without an event; 0 turns this off',
};

const inOneRequest: INodeProperties = {
	displayName: 'Wait in One Request',
	name: 'inOneRequest',
	type: 'boolean',
	default: false,
	description:
		'Whether to wait in the request that starts the run, as servers without run IDs need',
};

const ABANDON_ACTIONS: INodePropertyOptions[] = [
	{ name: 'Cancel', value: 'cancel', description: 'End it, so that it costs no more' },
	{ name: 'Leave', value: 'leave', description: 'Let it go on to its end' },
];

/** What happens to a run after the wait. */
const abandonOptions: INodeProperties[] = [
	{
		displayName: 'When the Deadline Comes',
		name: 'whenLate',
		type: 'options',
		options: ABANDON_ACTIONS,
		default: 'leave',
		description: 'What to do with the run on the server when it takes longer than the deadline',
	},
	{
		displayName: 'When the Workflow Is Stopped',
		name: 'whenStopped',
		type: 'options',
		options: ABANDON_ACTIONS,
		default: 'leave',
		description: 'What to do with the run on the server when the execution is stopped',
	},
];

const context: INodeProperties = {
	displayName: 'Context',
	name: 'context',
	type: 'json',
	default: '{}',
	description: 'Values for the run that its agents and tools can read, as a JSON object',
};

/** The input of an agent tool has no files, so the option is hidden there. */
export const attachments: INodeProperties = {
	displayName: 'Attach Files',
	name: 'attachments',
	type: 'string',
	default: '',
	placeholder: 'e.g. data, attachment_0',
	hint: 'The names of the input fields containing files to send along, separated by commas',
	description:
		'Binary fields to upload for the assistant. An expression may give a list: {{ Object.keys($binary) }} for all.',
	displayOptions: { hide: { '@tool': [true] } },
};

const title: INodeProperties = {
	displayName: 'Title',
	name: 'title',
	type: 'string',
	default: '',
	description: 'Title of a new conversation; the start of the message without it',
};

export const ID_KINDS = ['environment', 'fileContext', 'project', 'storageFile'] as const;

/** Rows of records that a message names by ID. */
export const idRows: INodeProperties = {
	displayName: 'IDs',
	name: 'ids',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true },
	placeholder: 'Add ID',
	default: {},
	description: 'Uploaded files to send along, or the environment and project of the run',
	options: [
		{
			displayName: 'ID',
			name: 'values',
			values: [
				{
					displayName: 'Of',
					name: 'kind',
					type: 'options',
					options: enumOptions(ID_KINDS, {
						environment: 'Environment',
						fileContext: 'File Context',
						project: 'Project',
						storageFile: 'Storage File',
					}),
					default: 'fileContext',
					description: 'What it is the ID of. File: Upload gives those of storage files.',
				},
				{
					displayName: 'ID',
					name: 'id',
					type: 'string',
					default: '',
					placeholder: ID_PLACEHOLDER,
					description: 'The ID, of files also several, separated by commas',
				},
			],
		},
	],
};

const messageOptions: INodeProperties[] = [
	attachments,
	idRows,
	{
		displayName: 'State',
		name: 'state',
		type: 'json',
		default: '{}',
		description:
			'Variables of the assistant to set before the run, as a JSON object. Later questions on the thread have them, too.',
	},
	typedRows({
		displayName: 'Values for Filters',
		name: 'filterValues',
		placeholder: 'Add value',
		description:
			'Values that filters of the assistant take, by the keys that Assistant: Get shows. Put them into the Conversation Key as well, as earlier answers stay in the history. In the tool of an agent, values that the model chooses protect nothing.',
		further: [
			{
				displayName: 'May Be Empty',
				name: 'mayBeEmpty',
				type: 'boolean',
				default: false,
				description:
					'Whether an empty text is sent, with which some filters find everything; otherwise it is refused',
			},
		],
	}),
	{
		displayName: 'Values for Filters (JSON)',
		name: 'filterValuesJson',
		type: 'json',
		default: '{}',
		placeholder: 'e.g. { "department": "sales" }',
		description: 'The same as a JSON object, by their keys; none may be empty',
	},
];

/** An expression may give either decision, so only a fixed Reject hides these options. */
const unlessRejected = { hide: { '/decision': ['reject'] } };

const decisionOptions: INodeProperties[] = [
	{
		displayName: 'Changed Arguments',
		name: 'changedArguments',
		type: 'json',
		default: '{}',
		placeholder: 'e.g. { "call_1": { "amount": 20 } }',
		description:
			'Arguments to change, as JSON by the ID of each call in interrupt. All calls that wait are confirmed together.',
		displayOptions: unlessRejected,
	},
	{
		displayName: 'Decision Data',
		name: 'payload',
		type: 'json',
		default: '{}',
		description:
			'What to give to the run along with a confirmation, as JSON. A rejection takes none.',
		displayOptions: unlessRejected,
	},
	{
		displayName: 'Target',
		name: 'target',
		type: 'json',
		default: '{}',
		description:
			'What the decision is about, as a JSON object; left empty, it is about what the thread waits for',
	},
];

const messageExample =
	'{\n  "assistant_id": "",\n  "input": {\n    "action": "send",\n    "message": { "input": { "input": "Hello" } }\n  }\n}';

const decisionExample =
	'{\n  "input": {\n    "action": "resume",\n    "decision": { "type": "confirm" },\n    "target": {}\n  }\n}';

const retryExample = '{\n  "input": { "action": "retry" }\n}';

const shownFor = (operations: string[], options: INodeProperties[]) =>
	displayedIf({ show: { '/operation': operations } }, options);

/** Operations that send and wait; that send; that wait; that output an answer. */
const ASKING = ['run', 'decide', 'retry'];
const SENDING = [...ASKING, 'start'];
const WAITING = [...SENDING, 'waitForRun'];
const ANSWERING = [...ASKING, 'getRun', 'waitForRun'];

const ownBody = [
	...shownFor(SENDING, [bodyMode]),
	...shownFor(['run', 'start'], [jsonBodyOption(messageExample)]),
	...shownFor(['decide'], [jsonBodyOption(decisionExample)]),
	...shownFor(['retry'], [jsonBodyOption(retryExample)]),
];

/** The options of all operations on runs, in one field, as n8n sends the description to every browser. */
export const runOptions: INodeProperties = optionsField(
	[
		concurrency,
		...shownFor(ANSWERING, answerOptions),
		...shownFor(ASKING, deliveryOptions),
		...shownFor(WAITING, [deadline]),
		...shownFor([...ASKING, 'waitForRun'], abandonOptions),
		...shownFor(SENDING, [cancelSilent, whenBusy, ...optionsWithoutOwnBody([context])]),
		...shownFor(ASKING, [inOneRequest]),
		...shownFor(['run', 'start'], [title, ...optionsWithoutOwnBody(messageOptions)]),
		...shownFor(['decide'], optionsWithoutOwnBody(decisionOptions)),
		...shownFor(['getRun', 'cancelRun'], [timeoutOption()]),
	],
	ownBody,
);

/** Up to the longest timer of Node.js. */
const minutes = z.number().positive().min(0.001).max(35_791);

const citations = z.enum(['numbers', 'asWritten', 'none']);

/** Settings for writing an answer. */
const answerSettings = z.object({
	citations,
	listSources: z.boolean(),
	returnIntermediateSteps: z.boolean(),
});

/** Settings of Start Run. */
const sendSettings = z.object({
	deadlineMinutes: minutes,
	concurrency: z.number().int().min(1),
	title: z.string().trim().optional(),
	whenBusy: z.enum(['wait', 'fail', 'run']),
	cancelSilentMinutes: z.number().min(0).max(35_791),
});

const abandonAction = z.enum(['leave', 'cancel']);

/** Settings for a run after the wait. */
const abandonSettings = z.object({ whenStopped: abandonAction, whenLate: abandonAction });

export const startSettings = z.object({ options: sendSettings });

/** Settings of the operations that send and wait. */
export const runSettings = z.object({
	options: sendSettings
		.merge(answerSettings)
		.merge(abandonSettings)
		.extend({ enableStreaming: z.boolean(), inOneRequest: z.boolean() }),
});

/** Settings of the operations on a run ID. */
export const runByIdSettings = z.object({
	options: answerSettings.merge(abandonSettings).extend({ deadlineMinutes: minutes }),
});

export type AnswerOptions = z.infer<typeof answerSettings>;
export type StartOptions = z.infer<typeof sendSettings>;
export type RunOptions = z.infer<typeof runSettings>['options'];
