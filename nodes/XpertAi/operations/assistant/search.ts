import isEmpty from 'lodash/isEmpty';
import type { INodeProperties } from 'n8n-workflow';

import { fieldCollection, filledOnly } from '../../execution/fields';
import type { FieldValues } from '../../execution/fields';
import { declare } from '../../execution/operation';
import { assistantFilter } from '../../payloads/bodies';
import { ID_PLACEHOLDER } from '../../pickers/locators';
import { isJsonObject } from '../../transport/answer';

/** The filters of E7 and E9. */
const assistantFilters: INodeProperties = fieldCollection('filters', [
	{
		displayName: 'Graph ID',
		name: 'graph_id',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the graph that the assistant runs; in Get Many, Xpert AI servers ignore it',
	},
	{
		displayName: 'Metadata',
		name: 'metadata',
		type: 'json',
		default: '{}',
		placeholder: 'e.g. {"slug": "helper"}',
		description:
			'Further data the assistant must have, as a JSON object; Xpert AI servers ignore it',
	},
	{
		displayName: 'Slug',
		name: 'slug',
		type: 'string',
		default: '',
		placeholder: 'e.g. helper',
		description: 'Short name of the assistant, as in its address',
	},
	{
		displayName: 'Type',
		name: 'type',
		type: 'string',
		default: '',
		placeholder: 'e.g. agent',
		description: 'Kind of the assistant',
	},
	{
		displayName: 'Workspace ID',
		name: 'workspaceId',
		type: 'string',
		default: '',
		placeholder: ID_PLACEHOLDER,
		description: 'ID of the workspace the assistant is in',
	},
]);

/** The server filters by slug, type and workspace as parts of the metadata (E7, E9). */
function withMetadata({ slug, type, workspaceId, metadata, ...rest }: FieldValues): FieldValues {
	const fields = filledOnly({ slug, type, workspaceId });
	if (isEmpty(fields)) return metadata === undefined ? rest : { ...rest, metadata };
	// The schema refuses a value that is not an object.
	if (metadata !== undefined && !isJsonObject(metadata)) return { ...rest, metadata };
	return { ...rest, metadata: { ...metadata, ...fields } };
}

/** The body of E7 and E9. */
export const filterBody = {
	fields: [assistantFilters],
	schema: assistantFilter,
	compose: withMetadata,
	sources: {
		'metadata.slug': 'slug',
		'metadata.type': 'type',
		'metadata.workspaceId': 'workspaceId',
	},
	ids: ['metadata.workspaceId', 'graph_id'],
	notShown: true,
};

export const search = declare({
	value: 'search',
	name: 'Get Many',
	action: 'Get many assistants',
	description: 'Get the assistants you may use',
	endpoint: 'E7',
	method: 'POST',
	path: '/assistants/search',
	body: {
		...filterBody,
		example: '{\n  "metadata": { "slug": "helper" },\n  "limit": 50\n}',
	},
	paging: {},
	repeatable: true,
});
