import type { ILoadOptionsFunctions, INodeProperties } from 'n8n-workflow';

import { ID_PLACEHOLDER } from '../execution/fieldBuilders';
import type { ListName } from './listPage';

/** Selects a knowledgebase by ID, because the contract has no endpoint that lists knowledgebases. */
export const knowledgebaseLocator: INodeProperties = idLocator(
	'knowledgebaseId',
	'Knowledgebase',
	'Its ID is in the output of Knowledgebase: Create, and in the address of its page on the server',
);

/** Selects a thread, from the list of conversations or by ID. */
export function threadLocator(description = 'The thread'): INodeProperties {
	return listLocator('threadId', 'Thread', description, 'searchThreads');
}

/** Selects the thread of an existing run. By default, the thread is the `threadId` of the input item. */
export const threadOfRunLocator: INodeProperties = {
	...threadLocator('The thread of the run: the threadId of Start Run, of the trigger or of a run'),
	default: { mode: 'id', value: '={{ $json.threadId }}' },
};

/** Selects an assistant, from the list or by ID. */
export function assistantLocator(description: string): INodeProperties {
	return listLocator('assistantId', 'Assistant', description, 'searchAssistants');
}

/** Selects an assistant, but can be left empty. */
export function optionalAssistantLocator(description: string): INodeProperties {
	return { ...assistantLocator(description), required: undefined };
}

/** Selects a conversation, from the list or by ID. */
export const conversationLocator: INodeProperties = listLocator(
	'conversationId',
	'Conversation',
	'Keep its ID like a password: with it, any key of the organization can read, change and delete it',
	'searchConversations',
);

/** Selects an uploaded file by ID. */
export const fileLocator: INodeProperties = idLocator(
	'fileId',
	'File',
	'The storageFileId that File Context: Upload gave. Xpert AI servers answer 403 to any other ID.',
	'Enter the storageFileId that File Context: Upload gave',
);

/** Returns a resource locator with only the mode "By ID". */
function idLocator(
	name: string,
	displayName: string,
	description: string,
	hint = 'Enter the ID, or paste the URL of its page',
): INodeProperties {
	return {
		displayName,
		name,
		type: 'resourceLocator',
		default: { mode: 'id', value: '' },
		required: true,
		description,
		modes: [
			{ displayName: 'By ID', name: 'id', type: 'string', placeholder: ID_PLACEHOLDER, hint },
		],
	};
}

/** Returns a resource locator with the modes "From List" and "By ID". */
function listLocator(
	name: string,
	displayName: string,
	description: string,
	searchListMethod: ListName,
): INodeProperties {
	const byId = idLocator(name, displayName, description);
	const typeOptions = { searchListMethod, searchable: true };
	return {
		...byId,
		default: { mode: 'list', value: '' },
		modes: [
			{ displayName: 'From List', name: 'list', type: 'list', typeOptions },
			...(byId.modes ?? []),
		],
	};
}

/* The imports below are dynamic, because most n8n processes never call these methods. */

export const listSearch = {
	searchAssistants: searchMethod('searchAssistants'),
	searchThreads: searchMethod('searchThreads'),
	searchConversations: searchMethod('searchConversations'),
} satisfies Record<ListName, unknown>;

function searchMethod(list: ListName) {
	return async function search(this: ILoadOptionsFunctions, ...args: [string?, string?]) {
		return await (await import('./listPage')).searchList(this, list, ...args);
	};
}

export const resourceMapping = {
	getDocumentFields: async () => await (await import('./documentFields')).getDocumentFields(),
};
