import omit from 'lodash/omit';
import type { INodeProperties } from 'n8n-workflow';

import {
	simplifyFields,
	choiceField,
	displayedIf,
	idField,
	OF_TOOLS,
	textField,
} from '../../../execution/fields';
import { assistantLocator, threadLocator, threadOfRun } from '../../../pickers/locators';
import { runOptions } from './options';

const sources = {
	auto: {
		name: 'Of This Chat (Automatic)',
		description: 'Behind a Chat Trigger that of its session, otherwise a new one',
	},
	new: {
		name: 'New',
		description: 'A new one for each message. Its threadId is in the output.',
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

const threadSource = choiceField(
	'threadSource',
	'Conversation',
	'Which conversation the message goes to: its messages are the memory of the assistant',
	sources,
	{
		noDataExpression: true,
		displayOptions: { hide: OF_TOOLS },
		builderHint: {
			propertyHint:
				'Leave "auto" behind a Chat Trigger and for single questions. Use "key" wherever somebody may write again (mails, messengers, webhooks).',
		},
	},
);

/** A tool of an agent is not behind a chat. */
const threadSourceOfTool = choiceField(
	'threadSource',
	'Conversation',
	'Where the message goes to: the memory of the assistant. With a key, it remembers what the agent asked before.',
	omit(sources, 'auto'),
	{ noDataExpression: true, displayOptions: { show: OF_TOOLS } },
);

const conversationKey = textField(
	'conversationKey',
	'Conversation Key',
	'What tells conversations apart: a chat session (in a tool, that of the Chat Trigger), a mail thread or a mail address',
	{
		default: '={{ $json.sessionId }}',
		required: true,
		hint: 'The same key with the same assistant is the same conversation, in every execution',
		builderHint: {
			propertyHint:
				'Must differ for each person or chat, never a constant: all who share it share one memory.',
		},
	},
);

const message = textField('message', 'Message', 'What to say to the assistant', {
	typeOptions: { rows: 3 },
	default: '={{ $json.chatInput }}',
	required: true,
	placeholder: 'e.g. How do I reset the device?',
	displayOptions: { hide: OF_TOOLS },
});

/** In a tool, the model writes the message. n8n marks such a parameter by this comment. */
const messageOfModel = {
	...message,
	default:
		"={{ /*n8n-auto-generated-fromAI-override*/ $fromAI('Message', `What to say to the assistant`, 'string') }}",
	displayOptions: { show: OF_TOOLS },
};

const decision = choiceField(
	'decision',
	'Decision',
	'What to decide for the run that waits: to go on, or not',
	{ confirm: 'Confirm', reject: 'Reject' },
	// Nobody should confirm by leaving the default.
	{ default: '', required: true },
);

/** What is said, and to whom. */
const askedFields = [assistantLocator('The assistant that answers'), message, messageOfModel];

/** The parameters of the body of a message. */
export const messageFields: INodeProperties[] = [...askedFields, runOptions];

/** The parameters of the body of a decision. */
export const decisionFields: INodeProperties[] = [decision, runOptions];

/** The parameter of the body of Answer Again. */
export const retryFields: INodeProperties[] = [runOptions];

/** The message, and where it is sent. */
const sentFields: INodeProperties[] = [
	...askedFields,
	threadSource,
	threadSourceOfTool,
	...displayedIf({ show: { threadSource: ['key'] } }, [conversationKey]),
	...displayedIf({ show: { threadSource: ['existing'] } }, [
		threadLocator('The thread to run, such as the threadId that Conversation: Create gives'),
	]),
];

/** All parameters of Thread: Ask and Wait. */
export const runFields: INodeProperties[] = [...sentFields, ...simplifyFields, runOptions];

/** All parameters of Thread: Start Run. */
export const startFields: INodeProperties[] = [...sentFields, runOptions];

/** All parameters of Thread: Decide. */
export const decideFields = [threadOfRun, decision, ...simplifyFields, runOptions];

/** All parameters of Thread: Answer Again. */
export const retryRunFields: INodeProperties[] = [threadLocator(), ...simplifyFields, runOptions];

const runId = idField('runId', 'Run ID', 'The run, by the runId that Thread: Start Run gave', {
	default: '={{ $json.runId }}',
	required: true,
});

/** The parameters of Thread: Cancel Run. */
export const cancelFields: INodeProperties[] = [threadOfRun, runId, runOptions];

/** The parameters of Thread: Get Run and of Thread: Wait for Run. */
export const runByIdFields: INodeProperties[] = [threadOfRun, runId, ...simplifyFields, runOptions];
