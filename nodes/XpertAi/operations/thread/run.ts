import { run as runBody } from '../../payloads/run';
import type { DeclaredOperation, FieldValues } from '../operation';
import { fieldCollection, idField } from '../shared/fields';

/** Runs take seconds to many minutes (service behaviour, E4). */
const DEFAULT_DEADLINE_SECONDS = 15 * 60;

export const run: DeclaredOperation = {
	value: 'run',
	name: 'Run and Wait',
	action: 'Run a thread and wait for the answer',
	description:
		'Send a message to an assistant on a thread and wait for its answer, also for many minutes',
	endpoint: 'E4',
	method: 'POST',
	path: '/threads/{threadId}/runs/wait',
	fields: [
		idField('threadId', 'The thread to run, such as the threadId that Conversation: Create gives'),
	],
	body: {
		fields: [
			idField('assistantId', 'The assistant that answers'),
			{
				displayName: 'Message',
				name: 'message',
				type: 'string',
				typeOptions: { rows: 3 },
				default: '',
				required: true,
				placeholder: 'e.g. How do I reset the device?',
				description: 'What to say to the assistant',
			},
			fieldCollection('additionalFields', [
				{
					displayName: 'File IDs',
					name: 'files',
					type: 'string',
					default: '',
					placeholder: 'e.g. 0f0b5d29-99cd-433a-8aed-09da49af709a',
					description:
						'IDs of files to send along, separated by commas. An expression may give a list.',
				},
			]),
		],
		schema: runBody,
		compose: sendMessage,
		labels: {
			assistant_id: 'Assistant',
			'input.message.input.input': 'Message',
			'input.message.input.files': 'File IDs',
		},
		notShown: true,
		example:
			'{\n  "assistant_id": "",\n  "input": {\n    "action": "send",\n    "message": { "input": { "input": "Hello" } }\n  }\n}',
	},
	timeoutSeconds: DEFAULT_DEADLINE_SECONDS,
};

/** The shape Xpert servers take (service behaviour, E4). */
function sendMessage({ assistantId, message, files }: FieldValues): unknown {
	const ids =
		typeof files === 'string'
			? files
					.split(',')
					.map((id) => id.trim())
					.filter(Boolean)
			: files;
	const attached =
		Array.isArray(ids) && ids.length > 0 ? { files: ids.map((id) => ({ id: String(id) })) } : {};
	return {
		assistant_id: assistantId,
		input: { action: 'send', message: { input: { input: message, ...attached } } },
	};
}
