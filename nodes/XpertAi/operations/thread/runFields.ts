import { updateDisplayOptions } from 'n8n-workflow';
import type { INodeProperties } from 'n8n-workflow';

import { bodyProperties } from '../properties';
import { fieldCollection, idField, simplify } from '../shared/fields';
import { langGraphFields } from './langGraphFields';
import { runOptions } from './runOptions';

const threadSource: INodeProperties = {
	displayName: 'Run On',
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
	description: 'Where the run takes place: on a thread that is there, or in a new conversation',
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
