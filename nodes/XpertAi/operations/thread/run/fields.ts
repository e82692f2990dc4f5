import { omit } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';

import {
	choiceField,
	displayedIf,
	idField,
	IF_TOOL,
	outputFormatFields,
	textField,
} from '../../../execution/fieldBuilders';
import { assistantLocator, threadLocator, threadOfRunLocator } from '../../../pickers/locators';
import { runOptionsField, runTuningField } from './optionFields';

const runCollectionFields = [runOptionsField, runTuningField];

/** The choices of "Conversation". */
const threadSourceChoices = {
	auto: {
		name: 'Of This Chat (Automatic)',
		description:
			'The conversation of the chat session, behind a Chat Trigger; elsewhere a new one each time',
	},
	new: {
		name: 'New',
		description: 'A new one for each message',
	},
	key: {
		name: 'With a Key',
		description:
			'That of a person, a messenger chat or a mail thread. The first message starts it.',
	},
	existing: {
		name: 'Existing Thread',
		description: 'A thread by its ID, such as the threadId of Conversation: Create',
	},
};

/** Tools do not offer "Of This Chat", because `chatSessionIdOf` finds no chat session in the tool of an agent. */
const threadSourceFields = [
	choiceField(
		'threadSource',
		'Conversation',
		'Which conversation the message goes to: its messages are the memory of the assistant',
		threadSourceChoices,
		{
			noDataExpression: true,
			displayOptions: { hide: IF_TOOL },
			builderHint: {
				propertyHint:
					'Leave "auto" behind a Chat Trigger and for single questions. Use "key" wherever somebody may write again (mails, messengers, webhooks).',
			},
		},
	),
	choiceField(
		'threadSource',
		'Conversation',
		'Where the message goes to: the memory of the assistant. With a key, it remembers what the agent asked before.',
		omit(threadSourceChoices, 'auto'),
		{ noDataExpression: true, displayOptions: { show: IF_TOOL } },
	),
];

const conversationKeyField = textField(
	'conversationKey',
	'Conversation Key',
	'Whose memory to use, in every execution: a mail thread or address, or a chat session. The default is that of the chat.',
	{
		default: '={{ $json.sessionId }}',
		required: true,
		builderHint: {
			propertyHint:
				'Must differ for each person or chat, never a constant: all who share it share one memory.',
		},
	},
);

const messageTextField = textField('message', 'Message', 'What to say to the assistant', {
	typeOptions: { rows: 3 },
	default: '={{ $json.chatInput }}',
	required: true,
	placeholder: 'e.g. How do I reset the device?',
	displayOptions: { hide: IF_TOOL },
});

/** The message field in tools. The comment in `default` tells n8n that the model writes the message. */
const messageFromModelField = {
	...messageTextField,
	default:
		"={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('Message', `What to say to the assistant`, 'string') }}",
	hint: 'Say in "Tool Description" above what the assistant knows: the model sees nothing else of it',
	displayOptions: { show: IF_TOOL },
};

export const decisionField = choiceField(
	'decision',
	'Decision',
	'Answers the run that waits. An expression may give confirm or reject, yes or no, true or false.',
	{
		confirm: {
			name: 'Confirm',
			description: 'Let it go on; in an expression, confirm, yes or true',
		},
		reject: { name: 'Reject', description: 'Refuse it; in an expression, reject, no or false' },
	},
	// No default, so that nobody confirms by accident. With `allowArbitraryValues`, n8n marks no value as unsupported, so an
	// expression may give yes or true.
	{ default: '', required: true, allowArbitraryValues: true },
);

/** The parameters for a message, without its conversation. */
export const messageFields = [
	assistantLocator(
		'The assistant that answers. As a tool, say in "Tool Description" what it knows.',
	),
	messageTextField,
	messageFromModelField,
];

/** The parameters for a message and its conversation. */
const messageAndConversationFields: INodeProperties[] = [
	...messageFields,
	...threadSourceFields,
	...displayedIf({ show: { threadSource: ['key'] } }, [conversationKeyField]),
	...displayedIf({ show: { threadSource: ['existing'] } }, [
		threadLocator('The thread to run, such as the threadId that Conversation: Create gives'),
	]),
];

/** The parameters of Thread: Ask and Wait. */
export const askAndWaitFields: INodeProperties[] = [
	...messageAndConversationFields,
	...outputFormatFields,
	...runCollectionFields,
];

/** The parameters of Thread: Start Run. */
export const startFields: INodeProperties[] = [
	...messageAndConversationFields,
	...runCollectionFields,
];

/** The parameters of Thread: Decide. */
export const decideFields = [
	{
		...threadOfRunLocator,
		description:
			'Of the run that waits. Behind a form or an approval, read it from the node that asked, by its name.',
	},
	decisionField,
	...outputFormatFields,
	...runCollectionFields,
];

/** The parameters of Thread: Answer Again. */
export const retryRunFields: INodeProperties[] = [
	threadLocator(),
	...outputFormatFields,
	...runCollectionFields,
];

const runIdField = idField('runId', 'Run ID', 'The run, by the runId that Thread: Start Run gave', {
	default: '={{ $json.runId }}',
	required: true,
});

export const cancelFields: INodeProperties[] = [threadOfRunLocator, runIdField, runTuningField];

/** The parameters of Thread: Get Run and of Thread: Wait for Run. */
export const runByIdFields: INodeProperties[] = [
	threadOfRunLocator,
	runIdField,
	...outputFormatFields,
	...runCollectionFields,
];
