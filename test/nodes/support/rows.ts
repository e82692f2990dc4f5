import {
	panelGroupField,
	jsonField,
	rowsField,
	textField,
} from '../../../nodes/XpertAi/execution/fieldBuilders';

/** Rows with fields of several types, as a fixed collection has them. */
export const pagesField = rowsField('pages', 'Pages', 'Rows', 'Page', [
	textField('pageContent', 'Content', 'A text'),
	panelGroupField('additionalFields', [
		textField('createdAt', 'Created At', 'A text'),
		jsonField('metadata', 'Metadata', 'An object'),
		jsonField('parent', 'Parent', 'Any JSON'),
	]),
]);

/** The same under another name. */
export const chunksField = { ...pagesField, name: 'chunks', displayName: 'Chunks' };
