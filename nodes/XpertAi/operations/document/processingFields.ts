import type { INodeProperties } from 'n8n-workflow';

/** The ids of the documents, as text or as a list. */
export const documentIds: INodeProperties = {
	displayName: 'Document IDs',
	name: 'documentIds',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. 2f78e81b-096f-42ff-8ac0-8403fd81392d',
	description: 'IDs of the documents, separated by commas. An expression may give a list.',
};
