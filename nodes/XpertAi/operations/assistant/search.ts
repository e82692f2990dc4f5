import { isEmpty } from 'lodash';

import {
	type FieldValues,
	idField,
	panelGroupField,
	textField,
} from '../../execution/fieldBuilders';
import { declare } from '../../execution/operation';
import { assistantFilter } from '../../payloads/requestSchemas';

/** The request body of the operations Assistant: Get Many and Assistant: Count. */
export const assistantFilterBody = {
	fields: [
		panelGroupField('filters', [
			textField('slug', 'Slug', 'Short name of the assistant, as in its address', {
				placeholder: 'e.g. helper',
			}),
			textField('type', 'Type', 'Kind of the assistant', { placeholder: 'e.g. agent' }),
			idField('workspaceId', 'Workspace ID', 'ID of the workspace the assistant is in'),
		]),
	],
	schema: assistantFilter,
	compose: (metadata: FieldValues) => (isEmpty(metadata) ? {} : { metadata }),
	fieldByPath: {
		'metadata.slug': 'slug',
		'metadata.type': 'type',
		'metadata.workspaceId': 'workspaceId',
	},
};

/** The filters that identify assistants. If the expression of such a filter has no value, the node sends no request. */
export const IDENTITY_OPTIONS_BY_FILTER = { 'filters.slug': {}, 'filters.workspaceId': {} };

export const search = declare({
	value: 'search',
	name: 'Get Many',
	action: 'Get many assistants',
	endpoint: 'E7',
	description: 'Get the assistants you may use',
	route: 'POST /assistants/search',
	body: assistantFilterBody,
	selectingFieldOptions: IDENTITY_OPTIONS_BY_FILTER,
	paging: {},
});
