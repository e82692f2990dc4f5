import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import {
	booleanField,
	choiceField,
	numberField,
	optionsField,
	simplify,
	textField,
} from '../XpertAi/execution/fields';
import { uuid } from '../XpertAi/payloads/common';
import { assistantLocator } from '../XpertAi/pickers/locators';

/** The events of a conversation. */
export const EVENTS = ['answered', 'cancelled', 'failed', 'waiting'] as const;

export type ConversationEvent = (typeof EVENTS)[number];

/** Display names of the events. */
const EVENT_NAMES: Record<ConversationEvent, string> = {
	answered: 'Answered',
	cancelled: 'Cancelled',
	failed: 'Failed',
	waiting: 'Waiting for a Person',
};

/** The text below the trigger's name on the canvas: the selected events, e.g. `Failed, Waiting for a Person`. */
export const triggerSubtitle = `={{ $parameter["events"].map((event) => (${JSON.stringify(EVENT_NAMES)})[event]).join(", ") }}`;

/** The parameters of the trigger; n8n adds the poll times. */
export const triggerFields: INodeProperties[] = [
	{
		displayName:
			'The server shows only conversations of the user whose access token the credential holds. Those of other users, and those held with other keys, start nothing.',
		name: 'ownConversations',
		type: 'notice',
		default: '',
	},
	choiceField(
		'events',
		'Events',
		'What must have happened to a conversation for the workflow to start',
		Object.fromEntries(EVENTS.map((event) => [event, `Conversation ${EVENT_NAMES[event]}`])),
		{ type: 'multiOptions', required: true, default: ['failed', 'waiting'] },
	),
	assistantLocator(
		'Start only for conversations with this assistant; left empty, for those with any',
		false,
	),
	simplify,
	optionsField([
		numberField(
			'conversationsPerPoll',
			'Conversations per Poll',
			'How many conversations one poll gives at most, the oldest first; the others come with the next polls',
			{ typeOptions: { minValue: 1, numberPrecision: 0 }, default: 100 },
		),
		booleanField(
			'includeMessages',
			'Include Messages',
			'Whether to give all messages of the thread as well, oldest first',
		),
		textField(
			'onlyWith',
			'Only With Title or Text',
			'Text that the title or a message of the conversation must hold, in upper or lower case',
			{ placeholder: 'e.g. invoice' },
		),
	]),
];

/** The settings of the trigger, by the names of its parameters. */
export const triggerSettings = z.object({
	events: z.array(z.enum(EVENTS)).min(1),
	assistantId: uuid.optional(),
	simplify: z.boolean(),
	options: z.object({
		conversationsPerPoll: z.number().int().min(1),
		includeMessages: z.boolean(),
		onlyWith: z.string().trim(),
	}),
});

export type TriggerSettings = z.infer<typeof triggerSettings>;
