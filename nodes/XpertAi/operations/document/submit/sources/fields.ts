import type { Field } from '../../../../execution/fields';
import { chunksField, pagesField } from './parts';
import { documentIdMode, documentKey } from './shared';
import type { DocumentSource } from './source';

const documentFields: Field = {
	displayName: 'Document Fields',
	name: 'documentFields',
	methods: {
		resourceMapping: {
			// Loaded when the mapper is opened: most n8n processes only show the node.
			getDocumentFields: async () =>
				await (await import('../../../../pickers/documentFields')).getDocumentFields(),
		},
	},
	type: 'resourceMapper',
	noDataExpression: true,
	default: { mappingMode: 'defineBelow', value: null },
	required: true,
	description:
		'Fields of the document. Servers read only its file (File URL). Map Automatically also takes title, text, path and URL.',
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

export const fields: DocumentSource = {
	value: 'fields',
	name: 'Fields',
	description: 'Each item is a document, field by field. Pages and chunks are stored, not found.',
	fields: [documentFields, pagesField, chunksField],
	settings: [documentIdMode, documentKey],
	simplifies: true,
	read: (item, { mappedDocument }) => [mappedDocument(item)],
};
