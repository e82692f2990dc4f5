import { simplify } from '../../../../execution/fields';
import type { Field } from '../../../../execution/fields';
import { chunksField, pagesField } from './parts';
import { documentIdMode, keyOrOwnId } from './shared';
import type { Source } from './source';

const documentFields: Field = {
	displayName: 'Document Fields',
	name: 'documentFields',
	methods: {
		resourceMapping: {
			// Loaded when the mapper is opened: most processes of n8n only show the node.
			getDocumentFields: async () =>
				await (await import('../../../../pickers/documentFields')).getDocumentFields(),
		},
	},
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	required: true,
	description:
		'What the document consists of. Map Automatically also takes columns such as title, text, content, path and URL. File URL is the address of its file, which is all that servers read. In Parser Config, a delimiter with a comma does not work on Xpert AI servers.',
	typeOptions: {
		resourceMapper: {
			resourceMapperMethod: 'getDocumentFields',
			mode: 'add',
			valuesLabel: 'Document Fields',
			fieldWords: { singular: 'field', plural: 'fields' },
			addAllFields: true,
			multiKeyMatch: false,
			supportAutoMap: true,
		},
	},
};

export const fields: Source = {
	value: 'fields',
	name: 'Fields',
	description: 'Each item is a document, field by field. Pages and chunks are stored, not found.',
	fields: [documentFields, pagesField, chunksField],
	identity: [documentIdMode, keyOrOwnId],
	settings: [simplify],
	read: (item, { mappedDocument }) => [mappedDocument(item)],
};
