import type { INodeProperties } from 'n8n-workflow';

import { binaryFieldName, simplify } from '../../../../execution/fields';
import { documentIdMode, documentKeyField } from './shared';
import type { Source } from './source';

const textInRecord: INodeProperties = {
	displayName: 'Text Field',
	name: 'textField',
	type: 'string',
	default: '',
	placeholder: 'e.g. content',
	description:
		"Field of each record that holds its text, which is uploaded as a file. Without it, records are sent as they are, and the server finds only those with a file's address. Dots lead into objects.",
};

export const records: Source = {
	value: 'records',
	name: 'File of Records',
	description:
		'Each item brings a file with many documents: one JSON object a line, or a JSON array',
	fields: [binaryFieldName('the file of documents'), textInRecord],
	identity: [documentIdMode, documentKeyField],
	settings: [simplify],
	read: (item, { documentsInFile }) => documentsInFile(item),
};
