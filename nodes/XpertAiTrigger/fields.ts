import type { INodeProperties } from 'n8n-workflow';

import { optionsField, simplify } from '../XpertAi/execution/fields';
import type { Field } from '../XpertAi/execution/fields';
import { assistantLocator } from '../XpertAi/pickers/locators';

/** The events of a conversation. */
export const EVENTS = ['answered', 'cancelled', 'failed', 'waiting'] as const;

export type ConversationEvent = (typeof EVENTS)[number];

const ownConversations: INodeProperties = {
	displayName:
		'The server shows only conversations of the user whose access token the credential holds. Those of other users, and those held with other keys, start nothing.',
	name: 'ownConversations',
	type: 'notice',
	default: '',
};

/** Display names of the events. */
const EVENT_NAMES: Record<ConversationEvent, string> = {
	answered: 'Answered',
	cancelled: 'Cancelled',
	failed: 'Failed',
	waiting: 'Waiting for a Person',
};

/** The text below the trigger's name on the canvas: the selected events, e.g. `Failed, Waiting for a Person`. */
export const triggerSubtitle = `={{ $parameter["events"].map((event) => (${JSON.stringify(EVENT_NAMES)})[event]).join(", ") }}`;

const events: INodeProperties = {
	displayName: 'Events',
	name: 'events',
	type: 'multiOptions',
	required: true,
	options: EVENTS.map((value) => ({ name: `Conversation ${EVENT_NAMES[value]}`, value })),
	default: ['failed', 'waiting'],
	description: 'What must have happened to a conversation for the workflow to start',
};

/** The parameters of the trigger; n8n adds the poll times. */
export const triggerFields: Field[] = [
	ownConversations,
	events,
	assistantLocator(
		'Start only for conversations with this assistant; left empty, for those with any',
		false,
	),
	simplify,
	optionsField([
		{
			displayName: 'Conversations per Poll',
			name: 'conversationsPerPoll',
			type: 'number',
			typeOptions: { minValue: 1, numberPrecision: 0 },
			default: 100,
			description:
				'How many conversations one poll gives at most, the oldest first; the others come with the next polls',
		},
		{
			displayName: 'Include Messages',
			name: 'includeMessages',
			type: 'boolean',
			default: false,
			description: 'Whether to give all messages of the thread as well, oldest first',
		},
		{
			displayName: 'Only With Title or Text',
			name: 'onlyWith',
			type: 'string',
			default: '',
			placeholder: 'e.g. invoice',
			description:
				'Text that the title or a message of the conversation must hold, in upper or lower case',
		},
	]),
];
