import {
	choiceField,
	optionsField,
	textField,
	timeoutOptionWithDefault,
} from '../../execution/fieldBuilders';
import type { CodedOperation } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import { documentIdsField } from './processingOperations';
import { sourceNameField } from './submit/fields';

const documentsByField = choiceField(
	'documentsBy',
	'Documents By',
	'How the documents are identified',
	{
		key: { name: 'Key', description: 'Their Document Key in the node that submits them' },
		id: { name: 'ID', description: 'Their IDs in the knowledgebase' },
	},
);

const documentKeyField = textField('documentKey', 'Document Key', 'One for each item', {
	required: true,
	placeholder: 'e.g. {{ $json.path }}',
});

const sourceNameDescription =
	'As in the node that submits these documents. Leave it empty where it is empty there.';

/** The fields and the code that Disable and Enable share. */
const sharedPartsFor = (
	state: 'disabled' | 'enabled',
): Omit<CodedOperation, 'value' | 'name' | 'action' | 'description'> => ({
	endpoint: 'E3',
	fields: [
		knowledgebaseLocator,
		documentsByField,
		{ ...documentKeyField, displayOptions: { show: { documentsBy: ['key'] } } },
		{ ...documentIdsField, displayOptions: { show: { documentsBy: ['id'] } } },
		{ ...sourceNameField, description: sourceNameDescription },
		optionsField([timeoutOptionWithDefault()]),
	],
	// Imported on demand: a process that only displays the node does not need this code.
	execute: async (execution) =>
		await (await import('./executeDisableOrEnable')).executeDisableOrEnable(execution, state),
});

export const disable: CodedOperation = {
	value: 'disable',
	name: 'Disable',
	action: 'Disable documents',
	description: 'Exclude documents from all answers, without deleting them',
	builderHint:
		'For triggers that report deleted pages. Give Source Name if the node that submits has one.',
	...sharedPartsFor('disabled'),
};

export const enable: CodedOperation = {
	value: 'enable',
	name: 'Enable',
	action: 'Enable documents',
	description: 'Include disabled documents in answers again',
	...sharedPartsFor('enabled'),
};
