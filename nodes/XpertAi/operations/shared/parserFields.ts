import { groupField, numberField, textField } from '../../execution/fieldBuilders';

/** The fields of the settings for cutting documents into chunks. */
export const parserFields = [
	numberField('chunkOverlap', 'Chunk Overlap', 'How many characters two chunks share', {
		typeOptions: { minValue: 0, numberPrecision: 0 },
		default: 200,
	}),
	numberField('chunkSize', 'Chunk Size', 'How many characters a chunk has at most', {
		typeOptions: { minValue: 1, numberPrecision: 0 },
		default: 1000,
	}),
	textField('delimiter', 'Delimiter', 'Where to cut, separated by spaces; \\n is a line break', {
		placeholder: 'e.g. \\n\\n \\n .',
	}),
];

/**
 * Returns the field with the chunk settings of a knowledgebase. Xpert AI servers store these settings, but ignore them.
 */
export const parserConfigField = (description: string) =>
	groupField('parserConfig', 'Parser Config', description, { options: parserFields });
