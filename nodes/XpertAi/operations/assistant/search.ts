import { assistantFilter } from '../../payloads/assistant';
import { declare } from '../../execution/operation';
import { FILTER_IDS, METADATA_SOURCES, assistantFilters, withMetadata } from './filters';

export const search = declare({
	value: 'search',
	name: 'Get Many',
	action: 'Get many assistants',
	description: 'Get the assistants you may use',
	endpoint: 'E7',
	method: 'POST',
	path: '/assistants/search',
	body: {
		fields: [assistantFilters],
		schema: assistantFilter,
		compose: withMetadata,
		sources: METADATA_SOURCES,
		ids: FILTER_IDS,
		notShown: true,
		example: '{\n  "metadata": { "slug": "helper" },\n  "limit": 50\n}',
	},
	paging: {},
	repeatable: true,
});
