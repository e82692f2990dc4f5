import type { INodePropertyMode, ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import type { Field } from '../execution/fields';

/** An example of an ID. */
export const ID_PLACEHOLDER = 'e.g. 335ccdfa-d2bb-4f15-9f4a-2b180f46d737';

const ENTER_ID = 'Enter the ID, or paste the URL of its page';

/** A list search, loaded when its list is opened: most n8n processes only show the node. */
const lazySearch = (name: 'searchAssistants' | 'searchThreads' | 'searchConversations') =>
	async function (
		this: ILoadOptionsFunctions,
		...args: [filter?: string, paginationToken?: string]
	): Promise<INodeListSearchResult> {
		const pickers = await import('./listPage');
		return await pickers[name].call(this, ...args);
	};

/** Assistants for the picker (E7). */
const searchAssistants = lazySearch('searchAssistants');

/** Threads for the picker (E5). */
const searchThreads = lazySearch('searchThreads');

/** Conversations for the picker (E5). */
const searchConversations = lazySearch('searchConversations');

/** Selects a knowledgebase; the contract has no endpoint that lists them. */
export const knowledgebaseLocator: Field = locator(
	'knowledgebaseId',
	'Knowledgebase',
	'Knowledgebase: Create gives its ID; on the server, it stands in the address of its page',
	[byId(ENTER_ID)],
);

/** Selects a thread, from the list of conversations (E5) or by ID. */
export function threadLocator(description = 'The thread'): Field {
	return {
		...locator('threadId', 'Thread', description, [fromList('searchThreads'), byId(ENTER_ID)]),
		methods: { listSearch: { searchThreads } },
	};
}

/** The thread of an existing run; by default that of the input item, from a run, Start Run or the trigger. */
export const threadOfRun: Field = {
	...threadLocator('The thread of the run: the threadId of Start Run, of the trigger or of a run'),
	default: { mode: 'id', value: '={{ $json.threadId }}' },
};

/** Selects an assistant, from the list (E7) or by ID. */
export function assistantLocator(description: string, required = true): Field {
	const modes = [fromList('searchAssistants'), byId(ENTER_ID)];
	return {
		...locator('assistantId', 'Assistant', description, modes),
		required,
		methods: { listSearch: { searchAssistants } },
	};
}

/** Selects a conversation, from the list (E5) or by ID. Its ID works like a password. */
export const conversationLocator: Field = {
	...locator(
		'conversationId',
		'Conversation',
		'Keep its ID like a password: with it, any key of the organization can read, change and delete it',
		[fromList('searchConversations'), byId(ENTER_ID)],
	),
	methods: { listSearch: { searchConversations } },
};

/** Selects the file of a file context, which has two IDs. */
export function fileLocator(description: string): Field {
	const hint = 'Enter the storageFileId that File Context: Upload gave';
	return locator('fileId', 'File', description, [byId(hint)]);
}

function locator(
	name: string,
	displayName: string,
	description: string,
	locatorModes: Mode[],
): Field {
	const modes = locatorModes.flatMap((mode) => mode.modes);
	return {
		displayName,
		name,
		type: 'resourceLocator',
		default: { mode: modes[0]?.name ?? 'id', value: '' },
		required: true,
		description,
		modes,
	};
}

/** Wrapped in `modes`, because the linter takes a bare mode for a parameter, which needs a default. */
type Mode = { modes: INodePropertyMode[] };

function byId(hint: string): Mode {
	return {
		modes: [
			{ displayName: 'By ID', name: 'id', type: 'string', placeholder: ID_PLACEHOLDER, hint },
		],
	};
}

function fromList(searchListMethod: string): Mode {
	return {
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod, searchable: true },
			},
		],
	};
}
