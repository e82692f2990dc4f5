import { updateDisplayOptions } from 'n8n-workflow';
import type { INodeProperties } from 'n8n-workflow';

import { bodyProperties } from '../properties';
import { fieldCollection, idField, optionsField, simplify } from '../shared/fields';

const threadSource: INodeProperties = {
	displayName: 'Conversation',
	name: 'threadSource',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Existing Thread',
			value: 'existing',
			description: 'Go on with a thread, such as the threadId that Conversation: Create gives',
		},
		{
			name: 'New Conversation',
			value: 'new',
			description: 'Start a conversation for this message; its threadId is given back',
		},
	],
	default: 'existing',
	description: 'Whether to go on with a thread or to start a new conversation',
};

const inputType: INodeProperties = {
	displayName: 'Input',
	name: 'inputType',
	type: 'options',
	noDataExpression: true,
	options: [
		{ name: 'Message', value: 'message', description: 'A text, with files if needed' },
		{ name: 'Chat Messages', value: 'chat', description: 'Several messages with their roles' },
		{
			name: 'Decision',
			value: 'decision',
			description: 'Let an interrupted run go on: confirm or reject',
		},
	],
	default: 'message',
	description: 'What to send to the assistant',
};

const message: INodeProperties = {
	displayName: 'Message',
	name: 'message',
	type: 'string',
	typeOptions: { rows: 3 },
	default: '',
	required: true,
	placeholder: 'e.g. How do I reset the device?',
	description: 'What to say to the assistant',
};

const chatMessages: INodeProperties = {
	displayName: 'Chat Messages',
	name: 'chatMessages',
	type: 'fixedCollection',
	typeOptions: { multipleValues: true, sortable: true },
	placeholder: 'Add message',
	default: {},
	description: 'The messages in their order',
	options: [
		{
			displayName: 'Message',
			name: 'values',
			values: [
				{
					displayName: 'Role',
					name: 'role',
					type: 'options',
					options: [
						{ name: 'Assistant', value: 'assistant' },
						{ name: 'System', value: 'system' },
						{ name: 'User', value: 'user' },
					],
					default: 'user',
					description: 'Who says it',
				},
				{
					displayName: 'Content',
					name: 'content',
					type: 'string',
					typeOptions: { rows: 2 },
					default: '',
					description: 'What is said',
				},
			],
		},
	],
};

const decision: INodeProperties = {
	displayName: 'Decision',
	name: 'decision',
	type: 'options',
	options: [
		{ name: 'Confirm', value: 'confirm' },
		{ name: 'Reject', value: 'reject' },
	],
	default: 'confirm',
	description: 'Whether the interrupted run may go on',
};

const decisionFields = fieldCollection('additionalFields', [
	{
		displayName: 'Payload',
		name: 'payload',
		type: 'json',
		default: '{}',
		description: 'What to give back to the run with the decision, as JSON',
	},
	{
		displayName: 'Target',
		name: 'target',
		type: 'json',
		default: '{}',
		description: 'What the decision is about, as the interrupt named it, as a JSON object',
	},
]);

const messageFields = fieldCollection('additionalFields', [
	{
		displayName: 'File IDs',
		name: 'files',
		type: 'string',
		default: '',
		placeholder: 'e.g. 0f0b5d29-99cd-433a-8aed-09da49af709a',
		description: 'IDs of files to send along, separated by commas. An expression may give a list.',
	},
]);

/** Further fields of E4 that LangGraph servers know. */
export const langGraphFields: INodeProperties = {
	displayName: 'LangGraph Fields',
	name: 'langGraphFields',
	type: 'collection',
	placeholder: 'Add field',
	default: {},
	options: [
		{
			displayName: 'After Seconds',
			name: 'after_seconds',
			type: 'number',
			default: 0,
			description: 'Seconds to wait before the run starts',
		},
		{
			displayName: 'Config',
			name: 'config',
			type: 'json',
			default: '{}',
			description: 'Tags, recursion_limit and configurable, as a JSON object',
		},
		{
			displayName: 'Context',
			name: 'context',
			type: 'json',
			default: '{}',
			description: 'Static context of the run, as a JSON object',
		},
		{
			displayName: 'If Not Exists',
			name: 'if_not_exists',
			type: 'options',
			options: [
				{ name: 'Create', value: 'create' },
				{ name: 'Reject', value: 'reject' },
			],
			default: 'reject',
			description: 'What to do when the thread does not exist',
		},
		{
			displayName: 'Interrupt After',
			name: 'interrupt_after',
			type: 'json',
			default: '[]',
			description: 'Nodes to interrupt the run after, as a JSON array of names',
		},
		{
			displayName: 'Interrupt Before',
			name: 'interrupt_before',
			type: 'json',
			default: '[]',
			description: 'Nodes to interrupt the run before, as a JSON array of names',
		},
		{
			displayName: 'Metadata',
			name: 'metadata',
			type: 'json',
			default: '{}',
			description: 'Metadata of the run, as a JSON object',
		},
		{
			displayName: 'Multitask Strategy',
			name: 'multitask_strategy',
			type: 'options',
			options: [
				{ name: 'Enqueue', value: 'enqueue' },
				{ name: 'Interrupt', value: 'interrupt' },
				{ name: 'Reject', value: 'reject' },
				{ name: 'Rollback', value: 'rollback' },
			],
			default: 'reject',
			description: 'What the server does when the thread is busy',
		},
		{
			displayName: 'On Completion',
			name: 'on_completion',
			type: 'options',
			options: [
				{ name: 'Delete', value: 'delete' },
				{ name: 'Keep', value: 'keep' },
			],
			default: 'keep',
			description: 'What becomes of a stateless thread after the run',
		},
		{
			displayName: 'Webhook',
			name: 'webhook',
			type: 'string',
			default: '',
			placeholder: 'e.g. https://example.com/done',
			description: 'Address the server calls when the run has ended',
		},
	],
};

/** The collection Options of Run and Wait. */
export const runOptions = optionsField([
	{
		displayName: 'Deadline (Minutes)',
		name: 'deadlineMinutes',
		type: 'number',
		typeOptions: { minValue: 0.01 },
		default: 15,
		description:
			'How long a run may take in all, also for hours. It covers waiting for the thread, the run itself and taking up a broken wait.',
	},
	{
		displayName: 'Runs at Once',
		name: 'concurrency',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: 50, numberPrecision: 0 },
		default: 5,
		description:
			'How many threads run side by side. Runs on the same thread always go one after another.',
	},
	{
		displayName: 'Server',
		name: 'serverFamily',
		type: 'options',
		options: [
			{
				name: 'LangGraph',
				value: 'langgraph',
				description: 'A server that follows the LangGraph protocol',
			},
			{ name: 'Xpert AI', value: 'xpert' },
		],
		default: 'xpert',
		description: 'Which shape the input is sent in',
	},
	{
		displayName: 'Title',
		name: 'title',
		type: 'string',
		default: '',
		description: 'Title of a new conversation; the start of the message without it',
	},
	{
		displayName: 'When the Thread Is Busy',
		name: 'whenBusy',
		type: 'options',
		options: [
			{ name: 'Fail', value: 'fail', description: 'Say so at once' },
			{ name: 'Wait', value: 'wait', description: 'Wait until the other run has ended' },
		],
		default: 'wait',
		description: 'What to do when another run is going on on the thread',
	},
]);

const exampleBody =
	'{\n  "assistant_id": "",\n  "input": {\n    "action": "send",\n    "message": { "input": { "input": "Hello" } }\n  }\n}';

const only = (kind: 'message' | 'chat' | 'decision', fields: INodeProperties[]) =>
	updateDisplayOptions({ show: { inputType: [kind] } }, fields);

/** The fields of the body; its own display conditions tell the kinds of input apart. */
export const runBodyFields: INodeProperties[] = [
	idField('assistantId', 'The assistant that answers'),
	inputType,
	...only('message', [message, messageFields]),
	...only('chat', [chatMessages]),
	...only('decision', [decision, decisionFields]),
];

/** Every parameter of Thread: Run and Wait. */
export const runProperties: INodeProperties[] = [
	threadSource,
	...updateDisplayOptions({ show: { threadSource: ['existing'] } }, [
		idField('threadId', 'The thread to run, such as the threadId that Conversation: Create gives'),
	]),
	...bodyProperties([...runBodyFields, langGraphFields], exampleBody),
	simplify,
	runOptions,
];
