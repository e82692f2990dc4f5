import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { ID_PLACEHOLDER } from '../execution/fields';
import type { Field } from '../execution/fields';

/** Selects a knowledgebase; the contract has no endpoint that lists them. */
export const knowledgebaseLocator: Field = locator(
	'knowledgebaseId',
	'Knowledgebase',
	'Knowledgebase: Create gives its ID; on the server, it stands in the address of its page',
);

/** Selects a thread, from the list of conversations (E5) or by ID. */
export function threadLocator(description = 'The thread'): Field {
	return listLocator('threadId', 'Thread', description, 'searchThreads');
}

/** The thread of an existing run; by default that of the input item, from a run, Start Run or the trigger. */
export const threadOfRun: Field = {
	...threadLocator('The thread of the run: the threadId of Start Run, of the trigger or of a run'),
	default: { mode: 'id', value: '={{ $json.threadId }}' },
};

/** Selects an assistant, from the list (E7) or by ID. */
export function assistantLocator(description: string, required = true): Field {
	return {
		...listLocator('assistantId', 'Assistant', description, 'searchAssistants'),
		required: required || undefined,
	};
}

/** Selects a conversation, from the list (E5) or by ID. Its ID works like a password. */
export const conversationLocator: Field = listLocator(
	'conversationId',
	'Conversation',
	'Keep its ID like a password: with it, any key of the organization can read, change and delete it',
	'searchConversations',
);

/** Selects the file of a file context, which has two IDs. */
export function fileLocator(description: string): Field {
	const hint = 'Enter the storageFileId that File Context: Upload gave';
	return locator('fileId', 'File', description, hint);
}

function locator(
	name: string,
	displayName: string,
	description: string,
	hint = 'Enter the ID, or paste the URL of its page',
): Field {
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

/** A locator that also has a list, which is loaded when it is opened: most n8n processes only show the node. */
function listLocator(
	name: string,
	displayName: string,
	description: string,
	searchListMethod: 'searchAssistants' | 'searchThreads' | 'searchConversations',
): Field {
	const byId = locator(name, displayName, description);
	async function search(
		this: ILoadOptionsFunctions,
		...args: [filter?: string, paginationToken?: string]
	): Promise<INodeListSearchResult> {
		const { searchList } = await import('./listPage');
		return await searchList(this, searchListMethod, ...args);
	}
	return {
		...byId,
		default: { mode: 'list', value: '' },
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod, searchable: true },
			},
			...(byId.modes ?? []),
		],
		methods: { listSearch: { [searchListMethod]: search } },
	};
}
