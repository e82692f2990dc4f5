import type { INodeProperties } from 'n8n-workflow';

import { displayedIf, optionsField, timeoutOption } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { ownBodyFields, withoutOwnBody } from '../../../execution/properties';
import { knowledgebaseLocator } from '../../../pickers/locators';
import { documentIds } from '../processingFields';
import { sourceName } from '../submit/fields';

const documentsBy: INodeProperties = {
	displayName: 'Documents By',
	name: 'documentsBy',
	type: 'options',
	options: [
		{
			name: 'Key',
			value: 'key',
			description: 'What the node that submits them has as their Document Key',
		},
		{ name: 'ID', value: 'id', description: 'Their IDs in the knowledgebase' },
	],
	default: 'key',
	description: 'What tells which documents are meant',
};

const documentKey: INodeProperties = {
	displayName: 'Document Key',
	name: 'documentKey',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'e.g. {{ $json.path }}',
	description: 'Key of the document, one for each item. All items go to the server together.',
};

const ofWhichSource: INodeProperties = {
	...sourceName,
	description:
		'That of the node that submits these documents: it is part of the IDs made of keys, and what is remembered of the source stays true. Left empty, only the documents themselves are changed.',
};

/** What tells which documents of a knowledgebase are meant. */
export const switchFields: Field[] = [
	knowledgebaseLocator,
	...withoutOwnBody([
		documentsBy,
		...displayedIf({ show: { documentsBy: ['key'] } }, [documentKey]),
		...displayedIf({ show: { documentsBy: ['id'] } }, [documentIds]),
	]),
	ofWhichSource,
	optionsField([timeoutOption()]),
	...ownBodyFields('[\n  { "id": "" }\n]'),
];
