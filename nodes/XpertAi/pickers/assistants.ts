import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { isJsonObject } from '../transport/answer';
import { listPage } from './listPage';

/**
 * Assistants for the picker (E7), by title or name, and by slug where these are the same. Servers filter
 * by metadata only, so what is typed is looked for here.
 */
export async function searchAssistants(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	return await listPage(this, {
		path: '/assistants/search',
		body: {},
		filter,
		paginationToken,
		toEntry: (assistant) => {
			const { assistant_id: value, name, metadata } = assistant;
			if (typeof value !== 'string') return undefined;
			const { title = name, slug } = isJsonObject(metadata) ? metadata : {};
			return {
				value,
				name: typeof title === 'string' && title !== '' ? title : value,
				...(typeof slug === 'string' ? { alias: slug } : {}),
			};
		},
	});
}
