import type { CodedOperation } from '../../execution/operation';
import { BULK_REQUEST } from './paths';
import { switchFields } from './switch/fields';

export const enable: CodedOperation = {
	value: 'enable',
	name: 'Enable',
	action: 'Enable documents',
	description: 'Let disabled documents into answers again',
	endpoint: 'E3',
	fields: switchFields,
	request: BULK_REQUEST,
	// Loaded when it is first run: most processes of n8n only show the node.
	execute: async (execution) =>
		await (await import('./switch/execute')).switchAll(execution, false),
};
