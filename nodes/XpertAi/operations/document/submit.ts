import type { CodedOperation } from '../../execution/operation';
import { submitFields } from './submit/fields';

export const submit: CodedOperation = {
	value: 'submit',
	name: 'Submit',
	action: 'Submit documents to knowledgebase',
	endpoint: 'E3',
	description: 'Upload, store and process documents, also very many at once',
	builderHint:
		'Takes all items at once, so put no loop around it. Text that assistants are to find goes in as Text or Files, never as Fields or JSON with pages. The knowledgebase needs an embedding model.',
	fields: submitFields,
	// Imported at the first execution, because most n8n processes never run the node.
	execute: async (execution) =>
		await (await import('./submit/executeSubmit')).executeSubmit(execution),
};
