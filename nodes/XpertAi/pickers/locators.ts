import type { ILoadOptionsFunctions, INodeProperties } from 'n8n-workflow';

import { ID_PLACEHOLDER } from '../execution/fields';
import type { ListName } from './listPage';

/** Selects a knowledgebase; the contract has no endpoint that lists them. */
export const knowledgebaseLocator: INodeProperties = locator(
	'knowledgebaseId',
	'Knowledgebase',
	'Knowledgebase: Create gives its ID; on the server, it stands in the address of its page',
);

/** Selects a thread, from the list of conversations or by ID. */
export function threadLocator(description = 'The thread'): INodeProperties {
	return listLocator('threadId', 'Thread', description, 'searchThreads');
}

/** The thread of an existing run; by default that of the input item, from a run, Start Run or the trigger. */
export const threadOfRun: INodeProperties = {
	...threadLocator('The thread of the run: the threadId of Start Run, of the trigger or of a run'),
	default: { mode: 'id', value: '={{ $json.threadId }}' },
};

/** Selects an assistant, from the list or by ID. */
export function assistantLocator(description: string, required = true): INodeProperties {
	return {
		...listLocator('assistantId', 'Assistant', description, 'searchAssistants'),
		required: required || undefined,
	};
}

/** Selects a conversation, from the list or by ID. Its ID works like a password. */
export const conversationLocator: INodeProperties = listLocator(
	'conversationId',
	'Conversation',
	'Keep its ID like a password: with it, any key of the organization can read, change and delete it',
	'searchConversations',
);

/** Selects the file of a file context, which has two IDs. */
export function fileLocator(description: string): INodeProperties {
	const hint = 'Enter the storageFileId that File Context: Upload gave';
	return locator('fileId', 'File', description, hint);
}

function locator(
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

/** A locator that also has a list. */
function listLocator(
	name: string,
	displayName: string,
	description: string,
	searchListMethod: ListName,
): INodeProperties {
	const byId = locator(name, displayName, description);
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

/* What the editor asks for is loaded then: most n8n processes only show the node. */

/** Gives a page of a list, by its name. */
export const listSearch = {
	searchAssistants: searchOf('searchAssistants'),
	searchThreads: searchOf('searchThreads'),
	searchConversations: searchOf('searchConversations'),
};

function searchOf(list: ListName) {
	return async function search(this: ILoadOptionsFunctions, ...args: [string?, string?]) {
		return await (await import('./listPage')).searchList(this, list, ...args);
	};
}

/** Gives the fields of a mapper, by the name of its method. */
export const resourceMapping = {
	getDocumentFields: async () => await (await import('./documentFields')).getDocumentFields(),
};
