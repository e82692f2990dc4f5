import { DateTime } from 'luxon';
import type { ILoadOptionsFunctions, INodeListSearchResult } from 'n8n-workflow';

import { listPage } from './listPage';

/**
 * Threads for the picker, newest first, by the conversations they belong to (E5).
 *
 * @throws NodeApiError, which the picker shows in place of a list
 */
export async function searchThreads(
	this: ILoadOptionsFunctions,
	filter?: string,
	paginationToken?: string,
): Promise<INodeListSearchResult> {
	const timezone = this.getTimezone();
	return await listPage(this, {
		path: '/conversations/search',
		resultsKey: 'items',
		body: { order: { updatedAt: 'DESC' } },
		filter,
		paginationToken,
		toEntry: ({ threadId: value, title, status, updatedAt }) => {
			if (typeof value !== 'string' || value === '') return undefined;
			const changed = DateTime.fromISO(String(updatedAt), { zone: timezone });
			const facts = [
				typeof title === 'string' && title !== '' ? title : 'Untitled',
				typeof status === 'string' ? status : '',
				changed.isValid ? changed.toFormat('yyyy-MM-dd HH:mm') : '',
			];
			return { value, name: facts.filter(Boolean).join(' · ') };
		},
	});
}
