import { fieldCollection, filledOnly, idField, jsonField, textField } from '../../execution/fields';
import type { FieldValues } from '../../execution/fields';
import { declare } from '../../execution/operation';
import { assistantFilter } from '../../payloads/bodies';
import { withFields } from '../shared/fields';

const assistantFilters = fieldCollection('filters', [
	idField(
		'graph_id',
		'Graph ID',
		'ID of the graph that the assistant runs; in Get Many, Xpert AI servers ignore it',
	),
	jsonField(
		'metadata',
		'Metadata',
		'Further data the assistant must have, as a JSON object; Xpert AI servers ignore it',
		{ placeholder: 'e.g. {"slug": "helper"}' },
	),
	textField('slug', 'Slug', 'Short name of the assistant, as in its address', {
		placeholder: 'e.g. helper',
	}),
	textField('type', 'Type', 'Kind of the assistant', { placeholder: 'e.g. agent' }),
	idField('workspaceId', 'Workspace ID', 'ID of the workspace the assistant is in'),
]);

/** The server filters by slug, type and workspace as parts of the metadata. */
const withMetadata = ({ slug, type, workspaceId, metadata, ...rest }: FieldValues): FieldValues =>
	filledOnly({ ...rest, metadata: withFields(metadata, { slug, type, workspaceId }) });

/** The body of Get Many and Count. */
export const filterBody = {
	fields: [assistantFilters],
	schema: assistantFilter,
	compose: withMetadata,
	fieldByPath: {
		'metadata.slug': 'slug',
		'metadata.type': 'type',
		'metadata.workspaceId': 'workspaceId',
	},
	ids: ['metadata.workspaceId', 'graph_id'],
};

export const search = declare({
	value: 'search',
	name: 'Get Many',
	action: 'Get many assistants',
	endpoint: 'E7',
	description: 'Get the assistants you may use',
	method: 'POST',
	path: '/assistants/search',
	body: filterBody,
	paging: {},
	repeatable: true,
});
