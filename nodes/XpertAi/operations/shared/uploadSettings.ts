import { jsonField } from '../../execution/fieldBuilders';

export const UPLOAD_TIMEOUT_SECONDS = 600;

export const targetField = jsonField(
	'target',
	'Target',
	'Where the server stores the file, as a JSON object',
	{ placeholder: 'e.g. {"kind": "storage", "directory": "manuals"}' },
);
