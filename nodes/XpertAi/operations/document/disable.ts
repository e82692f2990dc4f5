import type { CodedOperation } from '../../execution/operation';
import { BULK_REQUEST } from './paths';
import { switchFields } from './switch/fields';

export const disable: CodedOperation = {
	value: 'disable',
	name: 'Disable',
	action: 'Disable documents',
	description: 'Take documents out of every answer at once; nothing is deleted',
	builderHint:
		'Behind a trigger that tells of deleted pages. Give Source Name if the node that submits has one.',
	endpoint: 'E3',
	fields: switchFields,
	request: BULK_REQUEST,
	// Loaded when it is first run: most processes of n8n only show the node.
	execute: async (execution) => await (await import('./switch/execute')).switchAll(execution, true),
};
