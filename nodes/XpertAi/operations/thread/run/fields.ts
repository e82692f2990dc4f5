import type { INodeProperties } from 'n8n-workflow';

import type { RunInput } from '../../../runs/input';
import { displayedIf, fieldCollection, simplify } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { ownBodyFields, withoutOwnBody } from '../../../execution/properties';
import { ID_PLACEHOLDER, assistantLocator, threadLocator } from '../../../pickers/locators';
import { runOptions } from './options';

const threadSource: INodeProperties = {
	displayName: 'Run On',
	name: 'threadSource',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Conversation With a Key',
			value: 'key',
			description:
				'Go on with the conversation of a person, a chat or a mail thread; the first message starts it',
		},
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
	default: 'new',
	description: 'Where the run takes place: in a new conversation, or in one that goes on',
};

const conversationKey: INodeProperties = {
	displayName: 'Conversation Key',
	name: 'conversationKey',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.sessionId }}',
	hint: 'The same key with the same assistant is the same conversation, in every execution',
	description:
		'What tells conversations apart: the ID of a chat session, of a chat or of a mail thread, or a mail address',
};

const inputType: INodeProperties = {
	displayName: 'Input',
	name: 'inputType',
	type: 'options',
	noDataExpression: true,
	options: [
		{
			name: 'Answer Again',
			value: 'retry',
			description: 'Have the last message of the thread answered anew',
		},
		{
			name: 'Decision',
			value: 'decision',
			description: 'Let an interrupted run go on: confirm or reject',
		},
		{ name: 'Message', value: 'message', description: 'A text, with files if needed' },
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
	displayOptions: { hide: { '@tool': [true] } },
};

/** In a tool, the model writes the message; the comment is how n8n marks a parameter that it fills in. */
const messageOfModel: INodeProperties = {
	...message,
	default:
		"={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('Message', `What to say to the assistant`, 'string') }}",
	displayOptions: { show: { '@tool': [true] } },
};

/** What an agent gives its tool has no files, so the parameter is not shown there. */
export const attachments: INodeProperties = {
	displayName: 'Attach Files',
	name: 'attachments',
	type: 'string',
	default: '',
	placeholder: 'e.g. data, attachment_0',
	hint: 'The names of the input fields containing files to send along, separated by commas',
	description:
		'Names of binary fields of the item whose files the assistant is to read. They are uploaded first. An expression may give a list, such as {{ Object.keys($binary) }} for all of them.',
	displayOptions: { hide: { '@tool': [true] } },
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
	description: 'What to decide for the run that waits: to go on, or not',
};

const context: INodeProperties = {
	displayName: 'Context',
	name: 'context',
	type: 'json',
	default: '{}',
	description: 'Values for the run that its agents and tools can read, as a JSON object',
};

const decisionFields = fieldCollection('additionalFields', [
	context,
	{
		displayName: 'Decision Data',
		name: 'payload',
		type: 'json',
		default: '{}',
		description:
			'What to give to the run along with a confirmation, as JSON. A rejection takes none.',
		// A decision that an expression makes may be either, so that only a plain Reject hides it.
		displayOptions: { hide: { '/decision': ['reject'] } },
	},
	{
		displayName: 'Target',
		name: 'target',
		type: 'json',
		default: '{}',
		description:
			'What the decision is about, as a JSON object; left empty, it is about what the thread waits for',
	},
]);

const messageFields = fieldCollection('additionalFields', [
	context,
	{
		displayName: 'Environment ID',
		name: 'environmentId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the environment whose variables the run uses',
	},
	{
		displayName: 'File Context IDs',
		name: 'fileContextIds',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description:
			'IDs of files to send along: the ID that File Context: Upload gave. Separated by commas; an expression may give a list.',
	},
	{
		displayName: 'Project ID',
		name: 'projectId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the project the run belongs to',
	},
	{
		displayName: 'State',
		name: 'state',
		type: 'json',
		default: '{}',
		description: 'Variables of the assistant to set before the run, as a JSON object',
	},
	{
		displayName: 'Storage File IDs',
		name: 'storageFileIds',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description:
			'IDs of files to send along: the ID that File: Upload gave, or the storageFileId of a file context. Separated by commas; an expression may give a list.',
	},
]);

const exampleBody =
	'{\n  "assistant_id": "",\n  "input": {\n    "action": "send",\n    "message": { "input": { "input": "Hello" } }\n  }\n}';

const only = (kind: RunInput['kind'], fields: INodeProperties[]) =>
	displayedIf({ show: { inputType: [kind] } }, fields);

/** What is said to whom, which comes first. */
const askedFields: Field[] = [
	assistantLocator('The assistant that answers'),
	...only('message', [message, messageOfModel]),
	...only('decision', [decision]),
];

/** What else may be said of it. */
const furtherFields: Field[] = [
	inputType,
	...only('message', [attachments, messageFields]),
	...only('decision', [decisionFields]),
	...only('retry', [fieldCollection('additionalFields', [context])]),
];

/** The fields of the body; its own display conditions tell the kinds of input apart. */
export const runBodyFields: Field[] = [...askedFields, ...furtherFields];

/** Every parameter of Thread: Run and Wait. */
export const runFields: Field[] = [
	...withoutOwnBody(askedFields),
	threadSource,
	...displayedIf({ show: { threadSource: ['key'] } }, [conversationKey]),
	...displayedIf({ show: { threadSource: ['existing'] } }, [
		threadLocator('The thread to run, such as the threadId that Conversation: Create gives'),
	]),
	...withoutOwnBody(furtherFields),
	simplify,
	runOptions,
	...ownBodyFields(exampleBody),
];
