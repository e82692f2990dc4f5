import isEmpty from 'lodash/isEmpty';
import type { INodeProperties } from 'n8n-workflow';

import { isJsonObject } from '../../transport/answer';
import type { FieldValues } from '../../execution/fields';
import { fieldCollection, filledOnly } from '../../execution/fields';
import { ID_PLACEHOLDER } from '../../pickers/locators';

/** The filters that E7 and E9 share. */
export const assistantFilters: INodeProperties = fieldCollection('filters', [
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

/** The fields that become metadata. */
export const METADATA_SOURCES = {
	'metadata.slug': 'slug',
	'metadata.type': 'type',
	'metadata.workspaceId': 'workspaceId',
};

/** Places of ids in the body these fields make. */
export const FILTER_IDS = ['metadata.workspaceId', 'graph_id'];

/** Slug, type and workspace are part of the metadata the server filters by (E7, E9). */
export function withMetadata({
	slug,
	type,
	workspaceId,
	metadata,
	...rest
}: FieldValues): FieldValues {
	const fields = filledOnly({ slug, type, workspaceId });
	if (isEmpty(fields)) return metadata === undefined ? rest : { ...rest, metadata };
	// What is no object is left to the schema to refuse.
	if (metadata !== undefined && !isJsonObject(metadata)) return { ...rest, metadata };
	return { ...rest, metadata: { ...metadata, ...fields } };
}
