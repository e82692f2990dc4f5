import { declare } from '../../execution/operation';
import { fileParts } from '../../payloads/file';
import { targetField, UPLOAD_TIMEOUT_SECONDS } from '../shared/upload';

export const create = declare({
	value: 'create',
	name: 'Create',
	action: 'Upload a file',
	description: 'Upload a file; the ID it gets is what a document takes as its Storage File ID',
	endpoint: 'E16',
	method: 'POST',
	path: '/v1/file',
	body: { parts: [targetField], schema: fileParts },
	timeoutSeconds: UPLOAD_TIMEOUT_SECONDS,
	simplify: ['id', 'originalName', 'size', 'mimetype', 'url', 'createdAt'],
});
