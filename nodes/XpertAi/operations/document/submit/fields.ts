import type { INodeProperties } from 'n8n-workflow';

import { simplify } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { knowledgebaseLocator } from '../../../pickers/locators';
import { submitOptions } from './options';
import { identityFields, ownFields, settingsFields, sourceField } from './sources';

const output: INodeProperties = {
	displayName: 'Output',
	name: 'output',
	type: 'options',
	options: [
		{
			name: 'One Item per Document',
			value: 'documents',
			description: 'What became of each document, in input order',
		},
		{
			name: 'Summary',
			value: 'summary',
			description:
				'One item with counts and the documents that were not stored; for very many documents',
		},
	],
	default: 'documents',
	description: 'What the node gives to the next one',
};

const afterStoring: INodeProperties = {
	displayName: 'After Storing',
	name: 'afterStoring',
	type: 'options',
	options: [
		{
			name: 'Nothing',
			value: 'nothing',
			description: 'Only store. Assistants do not find the documents until they are processed.',
		},
		{
			name: 'Process and Wait',
			value: 'wait',
			description: 'Have the server read the documents, and wait until assistants find them',
		},
		{
			name: 'Start Processing',
			value: 'process',
			description: 'Have the server read the documents, and go on at once',
		},
	],
	default: 'wait',
	description:
		'What happens when the documents are stored. Assistants find a document when it is processed.',
};

/** Every parameter of Document: Submit, in the order a user sees them. */
export const submitFields: Field[] = [
	{
		...knowledgebaseLocator('The knowledgebase that receives the documents'),
		hint: 'Knowledgebase: Create gives its ID; on the server, it stands in the address of its page',
	},
	sourceField,
	...ownFields,
	...identityFields,
	afterStoring,
	...settingsFields,
	output,
	{ ...simplify, displayOptions: { show: { output: ['documents'] } } },
	submitOptions,
];
