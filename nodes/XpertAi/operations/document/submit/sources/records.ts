import type { INodeProperties } from 'n8n-workflow';

import { binaryFieldName } from '../../../../execution/fields';
import { documentIdMode, documentKeyField } from './shared';
import type { DocumentSource } from './source';

const textInRecord: INodeProperties = {
	displayName: 'Text Field',
	name: 'textField',
	type: 'string',
	default: '',
	placeholder: 'e.g. content',
	description:
		'Field of each record with its text. Without it, only records with the address of a file can be found.',
};

export const records: DocumentSource = {
	value: 'records',
	name: 'File of Records',
	description:
		'Each item brings a file with many documents: one JSON object a line, or a JSON array',
	fields: [binaryFieldName('the file of documents'), textInRecord],
	settings: [documentIdMode, documentKeyField],
	simplifies: true,
	read: (item, { documentsInFile }) => documentsInFile(item),
};
