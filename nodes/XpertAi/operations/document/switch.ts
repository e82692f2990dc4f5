import type { INodeProperties } from 'n8n-workflow';

import {
	choiceField,
	displayedIf,
	optionsField,
	textField,
	timeoutOption,
} from '../../execution/fields';
import type { CodedOperation } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import { documentIds } from './processing';
import { sourceName } from './submit/fields';

const documentsBy = choiceField('documentsBy', 'Documents By', 'How the documents are identified', {
	key: { name: 'Key', description: 'What the node that submits them has as their Document Key' },
	id: { name: 'ID', description: 'Their IDs in the knowledgebase' },
});

const documentKey = textField(
	'documentKey',
	'Document Key',
	'Key of the document, one for each item. All items go to the server together.',
	{ required: true, placeholder: 'e.g. handbook/returns.md' },
);

const switchedSource: INodeProperties = {
	...sourceName,
	description:
		'Source Name of the node that submits these documents. Left empty, the memory of no source is changed.',
};

/** The common parts of Disable and Enable. */
const switching = (
	disabled: boolean,
): Omit<CodedOperation, 'value' | 'name' | 'action' | 'description'> => ({
	endpoint: 'E3',
	fields: [
		knowledgebaseLocator,
		documentsBy,
		...displayedIf({ show: { documentsBy: ['key'] } }, [documentKey]),
		...displayedIf({ show: { documentsBy: ['id'] } }, [documentIds]),
		switchedSource,
		optionsField([timeoutOption()]),
	],
	// Loaded on the first run: most n8n processes only show the node.
	execute: async (execution) => await (await import('./switchAll')).switchAll(execution, disabled),
});

export const disable: CodedOperation = {
	value: 'disable',
	name: 'Disable',
	action: 'Disable documents',
	description: 'Exclude documents from all answers, without deleting them',
	builderHint:
		'For triggers that report deleted pages. Give Source Name if the node that submits has one.',
	...switching(true),
};

export const enable: CodedOperation = {
	value: 'enable',
	name: 'Enable',
	action: 'Enable documents',
	description: 'Include disabled documents in answers again',
	...switching(false),
};
