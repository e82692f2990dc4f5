import type { INodeProperties } from 'n8n-workflow';

import { fieldCollection } from '../shared/fields';

/** The filters that E7 and E9 share. */
export const assistantFilters: INodeProperties = fieldCollection('filters', [
	{
		displayName: 'Graph ID',
		name: 'graph_id',
		type: 'string',
		default: '',
		description: 'ID of the graph the assistant runs; some servers ignore it',
	},
	{
		displayName: 'Metadata',
		name: 'metadata',
		type: 'json',
		default: '{}',
		placeholder: 'e.g. {"slug": "helper"}',
		description:
			'Metadata the assistant must have, as a JSON object, such as slug, type or workspaceId',
	},
]);
