import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import {
	booleanField,
	choiceField,
	displayedIf,
	bodyMode,
	idField,
	jsonBodyOption,
	jsonField,
	numberField,
	OF_TOOLS,
	optionsField,
	optionsWithoutOwnBody,
	rowsField,
	textField,
	timeoutOption,
} from '../../../execution/fields';
import { typedRowsField } from '../../shared/fields';

/** How an answer is written. */
const answerOptions: INodeProperties[] = [
	choiceField(
		'citations',
		'Citations',
		'How the answer shows the passages of a knowledgebase it is based on',
		{
			asWritten: { name: 'As Written', description: 'Links that only Xpert AI can open' },
			none: { name: 'None', description: 'The answer without its links' },
			numbers: { name: 'Numbers', description: 'Such as [1], the number in sources' },
		},
		{ default: 'numbers' },
	),
	booleanField(
		'listSources',
		'List Sources',
		'Whether to list the documents that the answer cites under it, by name',
	),
	booleanField(
		'returnIntermediateSteps',
		'Return Intermediate Steps',
		'Whether to give the tools that the assistant used, with what they were asked and what they answered',
	),
];

/** How an answer reaches chats and agents. */
const deliveryOptions: INodeProperties[] = [
	booleanField(
		'enableStreaming',
		'Enable Streaming',
		'Whether published chats and streaming webhooks show the answer as it is written. The chat in the editor does not.',
		{ default: true },
	),
	booleanField(
		'failuresAsReplies',
		'Failures as Replies',
		'Whether the reason of a failed run becomes its output. In the tool of an AI agent this is on unless switched off.',
	),
];

const deadline = numberField(
	'deadlineMinutes',
	'Deadline (Minutes)',
	'How long to wait at most, also for hours: for a busy thread, for the run where it is waited for, and after a broken wait',
	{ typeOptions: { minValue: 0.01 }, default: 15 },
);

const concurrency = numberField(
	'concurrency',
	'Runs at Once',
	'How many threads run side by side. Runs on the same thread always go one after another.',
	{ typeOptions: { minValue: 1, maxValue: 50, numberPrecision: 0 }, default: 5 },
);

const whenBusy = choiceField(
	'whenBusy',
	'When the Thread Is Busy',
	'What to do when another run is active on the thread',
	{
		fail: { name: 'Fail', description: 'Say so at once' },
		run: {
			name: 'Run Anyway',
			description:
				'For a thread left busy by a restarted server. Beside a run that goes on, messages get lost.',
		},
		wait: { name: 'Wait', description: 'Wait until the other run has ended' },
	},
	{ default: 'wait' },
);

const cancelSilent = numberField(
	'cancelSilentMinutes',
	'Cancel a Silent Run After (Minutes)',
	'Cancels a run that blocks the thread after this time without an event; 0 turns this off',
	{ typeOptions: { minValue: 0 } },
);

const inOneRequest = booleanField(
	'inOneRequest',
	'Wait in One Request',
	'Whether to wait in the request that starts the run, as servers without run IDs need',
);

const abandonField = (name: string, displayName: string, when: string) =>
	choiceField(
		name,
		displayName,
		`What to do with the run on the server when ${when}`,
		{
			cancel: { name: 'Cancel', description: 'End it, so that it costs no more' },
			leave: { name: 'Leave', description: 'Let it go on to its end' },
		},
		{ default: 'leave' },
	);

/** A run in one request cannot be cancelled. */
const unlessInOneRequest = { hide: { inOneRequest: [true] } };

/** What happens to a run after the wait. */
const abandonOptions = [
	abandonField('whenLate', 'When the Deadline Comes', 'it takes longer than the deadline'),
	abandonField('whenStopped', 'When the Workflow Is Stopped', 'the execution is stopped'),
];

const context = jsonField(
	'context',
	'Context',
	'Values for the run that its agents and tools can read, as a JSON object',
);

/** The input of an agent tool has no files, so the option is hidden there. */
export const attachments = textField(
	'attachments',
	'Attach Files',
	'Binary fields to upload for the assistant. An expression may give a list: {{ Object.keys($binary) }} for all.',
	{
		placeholder: 'e.g. data, attachment_0',
		hint: 'The names of the input fields containing files to send along, separated by commas',
		displayOptions: { hide: OF_TOOLS },
	},
);

const title = textField(
	'title',
	'Title',
	'Title of a new conversation; the start of the message without it',
);

export const ID_KINDS = ['environment', 'fileContext', 'project', 'storageFile'] as const;

/** Rows of records that a message names by ID. */
export const idRows = rowsField(
	'ids',
	'IDs',
	'Uploaded files to send along, or the environment and project of the run',
	'ID',
	[
		choiceField<(typeof ID_KINDS)[number]>(
			'kind',
			'Of',
			'What it is the ID of. File: Upload gives those of storage files.',
			{
				environment: 'Environment',
				fileContext: 'File Context',
				project: 'Project',
				storageFile: 'Storage File',
			},
			{ default: 'fileContext' },
		),
		idField('id', 'ID', 'The ID, of files also several, separated by commas'),
	],
	{ placeholder: 'Add ID' },
);

const messageOptions: INodeProperties[] = [
	attachments,
	idRows,
	jsonField(
		'state',
		'State',
		'Variables of the assistant to set before the run, as a JSON object. Later questions on the thread have them, too.',
	),
	typedRowsField(
		'filterValues',
		'Values for Filters',
		'Values that filters of the assistant take, by the keys that Assistant: Get shows. Put them into the Conversation Key as well, as earlier answers stay in the history. In the tool of an agent, values that the model chooses protect nothing.',
		[
			booleanField(
				'mayBeEmpty',
				'May Be Empty',
				'Whether an empty text is sent, with which some filters find everything; otherwise it is refused',
			),
		],
	),
	jsonField(
		'filterValuesJson',
		'Values for Filters (JSON)',
		'The same as a JSON object, by their keys; none may be empty',
		{ placeholder: 'e.g. { "department": "sales" }' },
	),
];

/** An expression may give either decision, so only a fixed Reject hides these options. */
const unlessRejected = { hide: { '/decision': ['reject'] } };

const decisionOptions: INodeProperties[] = [
	...displayedIf(unlessRejected, [
		jsonField(
			'changedArguments',
			'Changed Arguments',
			'Arguments to change, as JSON by the ID of each call in interrupt. All calls that wait are confirmed together.',
			{ placeholder: 'e.g. { "call_1": { "amount": 20 } }' },
		),
		jsonField(
			'payload',
			'Decision Data',
			'What to give to the run along with a confirmation, as JSON. A rejection takes none.',
		),
	]),
	jsonField(
		'target',
		'Target',
		'What the decision is about, as a JSON object; left empty, it is about what the thread waits for',
	),
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
		...shownFor([...ASKING, 'waitForRun'], displayedIf(unlessInOneRequest, abandonOptions)),
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

const abandonAction = z.enum(['leave', 'cancel']);

/** Settings of the operations on runs. Those that an operation does not show have their defaults. */
export const runSettings = z.object({
	options: z.object({
		cancelSilentMinutes: z.number().min(0).max(35_791),
		citations: z.enum(['numbers', 'asWritten', 'none']),
		deadlineMinutes: minutes,
		enableStreaming: z.boolean(),
		inOneRequest: z.boolean(),
		listSources: z.boolean(),
		returnIntermediateSteps: z.boolean(),
		title: z.string().trim().optional(),
		whenBusy: z.enum(['wait', 'fail', 'run']),
		whenLate: abandonAction,
		whenStopped: abandonAction,
	}),
});

export type RunOptions = z.infer<typeof runSettings>['options'];
