import { assistantFilter } from '../../payloads/assistant';
import type { DeclaredOperation } from '../operation';
import { FILTER_IDS, METADATA_LABELS, assistantFilters, withMetadata } from './filters';

export const search: DeclaredOperation = {
	value: 'search',
	name: 'Search',
	action: 'Search assistants',
	description: 'List the assistants the token may use',
	endpoint: 'E7',
	method: 'POST',
	path: '/assistants/search',
	body: {
		fields: [assistantFilters],
		schema: assistantFilter,
		compose: withMetadata,
		labels: METADATA_LABELS,
		ids: FILTER_IDS,
		notShown: true,
		example: '{\n  "metadata": { "slug": "helper" },\n  "limit": 50\n}',
	},
	paging: {},
	repeatable: true,
};
