import { fileParts } from '../../payloads/file';
import { targetField } from '../shared/targetField';
import { uploadOperation } from '../shared/upload';

export const create = uploadOperation({
	face: {
		value: 'create',
		name: 'Create',
		action: 'Upload a file',
		description: 'Upload a file; the ID it gets is what a document takes as its Storage File ID',
		endpoint: 'E16',
	},
	path: '/v1/file',
	parts: [targetField],
	partsSchema: fileParts,
	simplify: ['id', 'originalName', 'size', 'mimetype', 'url', 'createdAt'],
});
