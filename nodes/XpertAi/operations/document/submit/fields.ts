import type { INodeProperties } from 'n8n-workflow';

import { displayedIf } from '../../../execution/fields';
import type { Field } from '../../../execution/fields';
import { knowledgebaseLocator } from '../../../pickers/locators';
import { submitOptions } from './options';
import { identityFields, ownFields, settingsFields, sourceField } from './sources';

const mode: INodeProperties = {
	displayName: 'Runs Again',
	name: 'mode',
	type: 'options',
	options: [
		{
			name: 'Send Everything',
			value: 'all',
			description: 'Each run sends all documents, and remembers nothing',
		},
		{
			name: 'Send What Is New or Changed',
			value: 'changed',
			description:
				'Documents stored earlier with the same content are left out, as long as they are still there',
		},
		{
			name: 'Equal the Source',
			value: 'mirror',
			description:
				'What is gone from the source is also taken out of answers: each run has to bring all of it',
			// n8n refuses nodes with a hint on a field called mode, but shows those of its options.
			builderHint: {
				propertyHint:
					'For schedules that bring the whole source; "changed" where they bring a part.',
			},
		},
	],
	default: 'all',
	description:
		'What the next run of this node does. What is stored is remembered in the knowledgebase itself, in disabled documents. Needs document IDs.',
};

/** The name of the source, which tells its memory and its IDs from those of others. */
export const sourceName: INodeProperties = {
	displayName: 'Source Name',
	name: 'sourceName',
	type: 'string',
	default: '',
	placeholder: 'e.g. handbook',
	description:
		'What the documents come from; left empty, this node in this workflow. Sources are remembered apart, and may bring the same keys. A source that gets a name later sends everything once more; its earlier copies stay until Document: Disable takes them out.',
};

const resendAll: INodeProperties = {
	displayName: 'Resend All',
	name: 'resendAll',
	type: 'boolean',
	default: false,
	description:
		'Whether to forget the contents that earlier runs have stored and to send everything. What is stored is still known.',
};

const maxGonePercent: INodeProperties = {
	displayName: 'Max Share Gone (Percent)',
	name: 'maxGonePercent',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 100 },
	default: 20,
	description:
		'If more of what this source stored earlier is missing, none is disabled and the run fails after storing what came. Fewer than ten may be missing if that is less than half, except with 0. Only a whole run disables any: nothing rejected, unreadable or stopped. Manual executions only say what they would do.',
};

/** Every parameter of Document: Submit, in the order a user sees them. */
export const submitFields: Field[] = [
	knowledgebaseLocator,
	sourceField,
	...ownFields,
	...identityFields,
	mode,
	...displayedIf({ show: { mode: ['changed', 'mirror'] } }, [sourceName, resendAll]),
	...displayedIf({ show: { mode: ['mirror'] } }, [maxGonePercent]),
	...settingsFields,
	submitOptions,
];
