import { declare } from '../../execution/operation';
import { contextUploadTextParts, PARSE_MODES } from '../../payloads/requestSchemas';
import {
	choiceField,
	idField,
	panelGroupField,
	splitList,
	textField,
} from '../../execution/fieldBuilders';
import { targetField, UPLOAD_TIMEOUT_SECONDS } from '../shared/uploadSettings';

const optionalFields = [
	idField('xpertId', 'Assistant ID', 'ID of the assistant the file is for'),
	idField('conversationId', 'Conversation ID', 'ID of the conversation the file belongs to'),
	choiceField('parseMode', 'Parse Mode', 'How thoroughly the server reads the file', PARSE_MODES),
	idField('projectId', 'Project ID', 'ID of the project the file belongs to'),
	textField('purpose', 'Purpose', 'What the file is for', { placeholder: 'e.g. chat_attachment' }),
	targetField,
	idField('threadId', 'Thread ID', 'ID of the thread the file belongs to'),
	textField('workspacePath', 'Workspace Path', 'Path of the file in the workspace', {
		placeholder: 'e.g. reports/2026',
	}),
];

export const create = declare({
	value: 'create',
	name: 'Upload',
	action: 'Upload file for assistants',
	endpoint: 'E12',
	description: 'Upload a file for assistants to read',
	route: 'POST /contexts/file',
	body: {
		isForm: true,
		fields: [panelGroupField('additionalFields', optionalFields)],
		schema: contextUploadTextParts,
		reserved: ['file'],
	},
	defaultTimeoutSeconds: UPLOAD_TIMEOUT_SECONDS,
	simplify: splitList(
		'id, fileId, storageFileId, originalName, size, mimeType, status, url, summary',
	),
	answerSchema: ['id', 'storageFileId'],
});
