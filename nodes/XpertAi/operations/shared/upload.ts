import { jsonField } from './fields';

/** The part `target` of E12 and E16. */
export const targetField = jsonField(
	'target',
	'Target',
	'Where the server stores the file, as a JSON object',
	{ placeholder: 'e.g. {"kind": "storage", "directory": "manuals"}' },
);

/** Timeout of an upload without the option. */
export const UPLOAD_TIMEOUT_SECONDS = 600;
