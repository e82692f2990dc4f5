import truncate from 'lodash/truncate';
import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { isJsonObject } from '../transport/answer';
import { listPage } from './listPage';

/**
 * Assistants for the picker (E7), by title or name; where these are the same, also by what differs: slug,
 * name or description. Servers filter by metadata only, so what is typed is looked for here.
 *
 * @throws NodeApiError, which the picker shows in place of a list
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
			const { assistant_id: value, name, description, metadata } = assistant;
			if (typeof value !== 'string') return undefined;
			const { title = name, slug } = isJsonObject(metadata) ? metadata : {};
			return {
				value,
				name: isText(title) ? title : value,
				aliases: [slug, name, description].filter(isText).map((text) => truncate(text)),
			};
		},
	});
}

function isText(value: unknown): value is string {
	return typeof value === 'string' && value !== '';
}
