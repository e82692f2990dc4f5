import { panelGroupField } from '../../execution/fieldBuilders';
import { declare } from '../../execution/operation';
import { uploadTextParts } from '../../payloads/requestSchemas';
import { UPLOAD_PATH } from '../../transport/multipart';
import { targetField, UPLOAD_TIMEOUT_SECONDS } from '../shared/uploadSettings';

export const create = declare({
	value: 'create',
	name: 'Upload',
	endpoint: 'E16',
	description: 'Upload a file, whose ID a document takes as Storage File ID',
	route: `POST ${UPLOAD_PATH}`,
	body: {
		isForm: true,
		fields: [panelGroupField('additionalFields', [targetField])],
		schema: uploadTextParts,
		reserved: ['file'],
	},
	defaultTimeoutSeconds: UPLOAD_TIMEOUT_SECONDS,
	simplify: ['id', 'originalName', 'size', 'mimetype', 'url', 'createdAt'],
	answerSchema: ['id', 'url'],
});
