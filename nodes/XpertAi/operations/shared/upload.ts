import type { INodeProperties } from 'n8n-workflow';

/** The part `target` of E12 and E16. */
export const targetField: INodeProperties = {
	displayName: 'Target',
	name: 'target',
	type: 'json',
	default: '{}',
	placeholder: 'e.g. {"kind": "storage", "directory": "manuals"}',
	description: 'Where the server stores the file, as a JSON object',
};

/** Timeout of an upload without the option. */
export const UPLOAD_TIMEOUT_SECONDS = 600;
