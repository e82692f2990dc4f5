import { newChatSession } from '../../payloads/requestSchemas';
import { declare } from '../../execution/operation';
import { numberField, panelGroupField, textField } from '../../execution/fieldBuilders';
import { optionalAssistantLocator } from '../../pickers/locators';

export const create = declare({
	value: 'create',
	name: 'Create',
	endpoint: 'E6',
	description: 'Create a session whose secret can do all that its key can',
	route: 'POST /v1/chatkit/sessions',
	body: {
		fields: [
			optionalAssistantLocator(
				'The assistant the session talks to, which limits nothing: its secret can call others as well',
			),
			panelGroupField('additionalFields', [
				numberField(
					'expires_after',
					'Expires After (Seconds)',
					'How long the client secret is valid, at most a day. Additional Fields (JSON) take more.',
					// The limit is a day, because the secret grants all rights of the access token.
					{ typeOptions: { minValue: 1, maxValue: 86_400, numberPrecision: 0 }, default: 600 },
				),
				textField('user', 'User', 'Your name for the person who chats', {
					placeholder: 'e.g. customer-42',
				}),
			]),
		],
		schema: newChatSession,
		compose: ({ assistantId: id, ...rest }) => ({ assistant: id && { id }, ...rest }),
		fieldByPath: { 'assistant.id': 'assistantId', assistant: 'assistantId' },
	},
	answerSchema: ['client_secret'],
});
