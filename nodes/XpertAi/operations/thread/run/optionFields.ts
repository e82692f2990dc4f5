import type { INodeProperties } from 'n8n-workflow';

import {
	additionalFieldsJsonField,
	booleanField,
	choiceField,
	displayedIf,
	IF_TOOL,
	jsonField,
	numberField,
	optionsField,
	switchOnWhenAdded,
	textField,
	timeoutOptionWithDefault,
	tuningField,
} from '../../../execution/fieldBuilders';
import { typedRowsField } from '../../shared/typedRows';

/** Options for what an answer contains. */
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
	choiceField(
		'include',
		'Include',
		'What to give beside the answer',
		{
			sources: { name: 'List of Sources', description: 'Under the answer, what it cites by name' },
			passages: { name: 'Passages', description: 'In sources, the passages that were found' },
			steps: { name: 'Steps', description: 'The tools that were used, and what they answered' },
		},
		{ type: 'multiOptions', default: [] },
	),
];

/** Options for how chats and agents get the answer. */
const deliveryOptions: INodeProperties[] = [
	choiceField(
		'showInChat',
		'Show in Chat',
		'What published chats and streaming webhooks show of the answer',
		{
			asWritten: {
				name: 'As It Is Written',
				description: 'The chat in the editor waits for its end',
			},
			whole: { name: 'Whole', description: 'In one piece, at the end' },
			hidden: { name: 'Nothing', description: 'For a step whose answer only the workflow reads' },
		},
	),
	switchOnWhenAdded(
		'failuresAsReplies',
		'Failures as Replies',
		'Whether the reason of a failed run becomes its output, and the workflow goes on. On in AI agents, unless switched off.',
	),
];

const deadlineField = numberField(
	'deadlineMinutes',
	'Deadline (Minutes)',
	'How long to wait at most, also for hours: for a busy thread, for the run where it is waited for, and after a broken wait',
	{ typeOptions: { minValue: 0.01 }, default: 15 },
);

const concurrencyField = numberField(
	'concurrency',
	'Runs at Once',
	'How many threads run side by side. Runs on the same thread always go one after another.',
	{ typeOptions: { minValue: 1, maxValue: 50, numberPrecision: 0 }, default: 5 },
);

const whenBusyField = choiceField(
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

const cancelSilentField = numberField(
	'cancelSilentMinutes',
	'Cancel If Silent For (Minutes)',
	'Cancels a run that blocks the thread after this time without an event; 0 turns this off',
	{ typeOptions: { minValue: 0 } },
);

const inOneRequestField = switchOnWhenAdded(
	'inOneRequest',
	'Wait in One Request',
	'Whether to wait in the request that starts the run, as servers without run IDs need',
);

/** Hidden if "Wait in One Request" is set. The node cannot cancel a run that it starts in this way. */
const whenGivenUpField = choiceField(
	'whenGivenUp',
	'When the Wait Ends Early',
	'What to do with the run on the server when the deadline comes, or the execution is stopped',
	{
		cancel: { name: 'Cancel', description: 'End it, so that it costs no more' },
		leave: { name: 'Leave', description: 'Let it go on to its end' },
	},
	{ default: 'leave', displayOptions: { hide: { '/tuning.inOneRequest': [true] } } },
);

/** The tool of an agent gets no files, so the field is hidden in tools. */
export const attachmentsField = textField(
	'attachments',
	'Attach Files',
	'Binary fields to upload for the assistant. An expression may give a list: {{ Object.keys($binary) }} for all.',
	{
		placeholder: 'e.g. data, attachment_0',
		hint: 'The names of the input fields containing files to send along, separated by commas',
		displayOptions: { hide: IF_TOOL },
	},
);

const conversationTitleField = textField(
	'title',
	'Title',
	'Title of a new conversation; the start of the message without it',
);

const filterValuesField = typedRowsField(
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
);

/** Hidden if "Decision" is "Reject". Shown if "Decision" is an expression, because its result may be "Confirm". */
const changedArgumentsField: INodeProperties = {
	...jsonField(
		'changedArguments',
		'Changed Arguments',
		'Arguments to change, as JSON by the callId of each call in interrupt. All calls that wait are confirmed together.',
		{ placeholder: 'e.g. { "call_1": { "amount": 20 } }' },
	),
	displayOptions: { hide: { '/decision': ['reject'] } },
};

const shownForOperations = (operations: string[], options: INodeProperties[]) =>
	displayedIf({ show: { '/operation': operations } }, options);

/** Operations that ask the assistant and wait for the answer. */
const ASK_AND_WAIT_OPERATIONS = ['run', 'decide', 'retry'];

/** Operations that ask the assistant, with or without waiting. */
const SENDING_OPERATIONS = [...ASK_AND_WAIT_OPERATIONS, 'start'];

/** Operations with a deadline. */
const DEADLINE_OPERATIONS = [...SENDING_OPERATIONS, 'waitForRun'];

/** Operations that output an answer. */
const ANSWERING_OPERATIONS = [...ASK_AND_WAIT_OPERATIONS, 'getRun', 'waitForRun'];

/** The options of the operations on runs. One shared field keeps the description of the node small. */
export const runOptionsField: INodeProperties = optionsField([
	...shownForOperations(ANSWERING_OPERATIONS, answerOptions),
	...shownForOperations(ASK_AND_WAIT_OPERATIONS, deliveryOptions),
	...shownForOperations(DEADLINE_OPERATIONS, [deadlineField]),
	...shownForOperations([...ASK_AND_WAIT_OPERATIONS, 'waitForRun'], [whenGivenUpField]),
	...shownForOperations(SENDING_OPERATIONS, [additionalFieldsJsonField]),
	...shownForOperations(
		['run', 'start'],
		[attachmentsField, filterValuesField, conversationTitleField],
	),
	...shownForOperations(['decide'], [changedArgumentsField]),
]);

/** The collection of settings that few users need, for all operations on runs. */
export const runTuningField: INodeProperties = tuningField('Tuning', [
	concurrencyField,
	...shownForOperations(ASK_AND_WAIT_OPERATIONS, [inOneRequestField]),
	...shownForOperations(SENDING_OPERATIONS, [cancelSilentField, whenBusyField]),
	...shownForOperations(['getRun', 'cancelRun'], [timeoutOptionWithDefault()]),
]);
