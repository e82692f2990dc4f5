import type { INodeProperties } from 'n8n-workflow';

import { answerWith } from '../../transport/answer';
import { declare } from '../../execution/operation';
import { PARSE_MODES, fileContextParts } from '../../payloads/bodies';
import { enumOptions } from '../../execution/fields';
import { ID_PLACEHOLDER } from '../../pickers/locators';
import { targetField, UPLOAD_TIMEOUT_SECONDS } from '../shared/upload';

const parts: INodeProperties[] = [
	{
		displayName: 'Assistant ID',
		name: 'xpertId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the assistant the file is for',
	},
	{
		displayName: 'Conversation ID',
		name: 'conversationId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the conversation the file belongs to',
	},
	{
		displayName: 'Parse Mode',
		name: 'parseMode',
		type: 'options',
		options: enumOptions(PARSE_MODES, { auto: 'Auto', fast: 'Fast', deep: 'Deep', none: 'None' }),
		default: 'auto',
		description: 'How thoroughly the server reads the file',
	},
	{
		displayName: 'Project ID',
		name: 'projectId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the project the file belongs to',
	},
	{
		displayName: 'Purpose',
		name: 'purpose',
		type: 'string',
		default: '',
		placeholder: 'e.g. chat_attachment',
		description: 'What the file is for',
	},
	targetField,
	{
		displayName: 'Thread ID',
		name: 'threadId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the thread the file belongs to',
	},
	{
		displayName: 'Workspace Path',
		name: 'workspacePath',
		type: 'string',
		default: '',
		placeholder: 'e.g. reports/2026',
		description: 'Path of the file in the workspace',
	},
];

export const create = declare({
	value: 'create',
	name: 'Upload',
	action: 'Upload file for assistants',
	description: 'Upload a file for assistants to read',
	endpoint: 'E12',
	method: 'POST',
	path: '/contexts/file',
	body: {
		parts,
		schema: fileContextParts,
		ids: ['conversationId', 'threadId', 'projectId', 'xpertId'],
	},
	timeoutSeconds: UPLOAD_TIMEOUT_SECONDS,
	simplify: [
		'id',
		'fileId',
		'storageFileId',
		'originalName',
		'size',
		'mimeType',
		'status',
		'url',
		'summary',
	],
	checkAnswer: answerWith('id', 'storageFileId'),
});
