import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

/** What is typed into a list, and the page that is asked for. */
type Asked = [filter?: string, paginationToken?: string];

/** Assistants for the picker (E7), loaded when its list is opened: most processes of n8n only show the node. */
export async function searchAssistants(
	this: ILoadOptionsFunctions,
	...asked: Asked
): Promise<INodeListSearchResult> {
	const pickers = await import('./assistants');
	return await pickers.searchAssistants.call(this, ...asked);
}

/** Threads for the picker (E5), loaded when its list is opened. */
export async function searchThreads(
	this: ILoadOptionsFunctions,
	...asked: Asked
): Promise<INodeListSearchResult> {
	const pickers = await import('./threads');
	return await pickers.searchThreads.call(this, ...asked);
}
