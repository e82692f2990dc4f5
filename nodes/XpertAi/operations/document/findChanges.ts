import {
	choiceField,
	displayedIf,
	IF_TOOL,
	optionsField,
	switchOnWhenAdded,
	textField,
} from '../../execution/fieldBuilders';
import type { CodedOperation } from '../../execution/operation';
import { knowledgebaseLocator } from '../../pickers/locators';
import {
	disableInManualRunsField,
	dryRunField,
	maxGonePercentField,
	shardField,
	sourceNameField,
} from './submit/fields';

export const findChanges: CodedOperation = {
	value: 'findChanges',
	name: 'Find Changes',
	action: 'Find changed documents',
	endpoint: 'beyond',
	description: 'Pass on only the items whose documents are new or changed, before a download',
	builderHint:
		'Between the node that lists documents and the node that downloads them. Behind it, Submit with "Send New and Changed" and the same Source Name, Document Key and Document Version.',
	displayOptions: { hide: IF_TOOL },
	fields: [
		knowledgebaseLocator,
		{
			...sourceNameField,
			description:
				'What these items come from, in one name. The node that submits them needs the same.',
			required: true,
		},
		textField(
			'documentKey',
			'Document Key',
			'Tells the documents apart. The node that submits them needs the same.',
			{
				required: true,
				placeholder: 'e.g. {{ $json.path }}',
			},
		),
		textField(
			'documentVersion',
			'Document Version',
			'Compared. The node that submits them needs the same, in Document Settings. An item without it passes.',
			{
				placeholder: 'e.g. {{ $json.md5Checksum }}',
			},
		),
		choiceField(
			'whatIsGone',
			'What Is Gone',
			'What happens to documents that no item names. Behind this node, Submit is to "Send New and Changed".',
			{
				keep: { name: 'Leave It', description: 'Nothing is changed on the server' },
				disable: {
					name: 'Disable It: the Items Are the Whole Source',
					description:
						'In scheduled runs. A run by hand disables nothing without the option Disable in Manual Runs.',
				},
			},
		),
		optionsField([
			dryRunField,
			switchOnWhenAdded(
				'resendAll',
				'Pass All',
				'Whether to pass on all items, even unchanged ones',
			),
			shardField,
			...displayedIf({ show: { '/whatIsGone': ['disable'] } }, [
				maxGonePercentField,
				disableInManualRunsField,
			]),
		]),
	],
	// Imported at the first execution, because most n8n processes never run the node.
	execute: async (execution) =>
		await (await import('./submit/executeFindChanges')).executeFindChanges(execution),
};
