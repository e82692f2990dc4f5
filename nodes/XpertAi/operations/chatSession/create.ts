import { chatSession } from '../../payloads/bodies';
import { recordWith } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { fieldCollection, numberField, textField, type FieldValues } from '../../execution/fields';
import { assistantLocator } from '../../pickers/locators';

export const create = declare({
	value: 'create',
	name: 'Create',
	action: 'Create chat session',
	endpoint: 'E6',
	description: 'Create a session whose secret can do all that its key can',
	method: 'POST',
	path: '/v1/chatkit/sessions',
	body: {
		fields: [
			assistantLocator(
				'The assistant the session talks to, which limits nothing: its secret can call others as well',
				false,
			),
			fieldCollection('additionalFields', [
				numberField(
					'expires_after',
					'Expires After (Seconds)',
					'How long the client secret is valid, at most a day. Additional Fields (JSON) take more.',
					// At most a day, because a secret can do all that its key can.
					{ typeOptions: { minValue: 1, maxValue: 86_400, numberPrecision: 0 }, default: 600 },
				),
				textField('user', 'User', 'Your name for the person who chats', {
					placeholder: 'e.g. customer-42',
				}),
			]),
		],
		schema: chatSession,
		compose: ({ assistantId, ...rest }: FieldValues) => ({
			...(assistantId ? { assistant: { id: assistantId } } : {}),
			...rest,
		}),
		fieldByPath: { 'assistant.id': 'assistantId', assistant: 'assistantId' },
		ids: ['assistant.id'],
	},
	answer: recordWith('client_secret'),
});
