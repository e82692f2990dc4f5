import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

/** A list search, loaded when its list is opened: most processes of n8n only show the node. */
const opened = (name: 'searchAssistants' | 'searchThreads') =>
	async function (
		this: ILoadOptionsFunctions,
		...asked: [filter?: string, paginationToken?: string]
	): Promise<INodeListSearchResult> {
		const pickers = await import('./listPage');
		return await pickers[name].call(this, ...asked);
	};

/** Assistants for the picker (E7). */
export const searchAssistants = opened('searchAssistants');

/** Threads for the picker (E5). */
export const searchThreads = opened('searchThreads');
