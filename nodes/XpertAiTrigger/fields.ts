import { mapValues } from 'lodash';
import type { INodeProperties } from 'n8n-workflow';
import { z } from 'zod';

import {
	choiceField,
	numberField,
	optionsField,
	simplifySwitch,
	switchOnWhenAdded,
	textField,
} from '../XpertAi/execution/fieldBuilders';
import { uuidSchema } from '../XpertAi/payloads/ids';
import { enumOfKeys } from '../XpertAi/payloads/zodHelpers';
import { optionalAssistantLocator } from '../XpertAi/pickers/locators';

/** Display names of the events of a conversation. */
const EVENT_DISPLAY_NAMES = {
	answered: 'Answered',
	cancelled: 'Cancelled',
	failed: 'Failed',
	waiting: 'Waiting for a Person',
};

export type ConversationEvent = keyof typeof EVENT_DISPLAY_NAMES;

const conversationEventSchema = enumOfKeys(EVENT_DISPLAY_NAMES);

export const EVENTS = conversationEventSchema.options;

/** The subtitle of the trigger on the canvas: the selected events. */
export const triggerSubtitle = `=Conversation: {{ $parameter["events"].map((event) => (${JSON.stringify(EVENT_DISPLAY_NAMES)})[event]).join(", ") }}`;

/** The parameters of the trigger, except "Poll Times", which n8n adds. */
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
		mapValues(EVENT_DISPLAY_NAMES, (name) => `Conversation ${name}`),
		{ type: 'multiOptions', required: true, default: ['failed', 'waiting'] },
	),
	optionalAssistantLocator(
		'Start only for conversations with this assistant; left empty, for those with any',
	),
	simplifySwitch,
	optionsField([
		numberField(
			'conversationsPerPoll',
			'Conversations per Poll',
			'How many conversations one poll gives at most, the oldest first; the next polls give the others',
			{ typeOptions: { minValue: 1, numberPrecision: 0 }, default: 100 },
		),
		switchOnWhenAdded(
			'includeMessages',
			'Include Messages',
			'Whether to give all messages as well',
		),
		textField('onlyWith', 'Only With Title or Text', 'What its title or a message must hold', {
			placeholder: 'e.g. invoice',
		}),
	]),
];

/** The schema of the trigger's parameters. */
export const triggerSettingsSchema = z.object({
	events: z.array(conversationEventSchema).min(1),
	assistantId: uuidSchema.optional(),
	simplify: z.boolean(),
	options: z.object({
		conversationsPerPoll: z.number().int().min(1),
		includeMessages: z.boolean(),
		onlyWith: z.string().trim(),
	}),
});

export type TriggerSettings = z.infer<typeof triggerSettingsSchema>;
