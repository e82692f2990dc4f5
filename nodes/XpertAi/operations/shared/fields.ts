import type { INodeProperties } from 'n8n-workflow';

import {
	choiceField,
	groupField,
	jsonField,
	numberField,
	rowsField,
	textField,
} from '../../execution/fieldBuilders';

export const UPLOAD_TIMEOUT_SECONDS = 600;

export const targetField = jsonField(
	'target',
	'Target',
	'Where the server stores the file, as a JSON object',
	{ placeholder: 'e.g. {"kind": "storage", "directory": "manuals"}' },
);

/** The types of the value in a row, with display names. */
const ROW_TYPES = {
	string: 'Text',
	number: 'Number',
	boolean: 'Yes or No',
	datetime: 'Date and Time',
	'string[]': 'List of Texts',
};

export type RowType = keyof typeof ROW_TYPES;

/**
 * Returns a field with rows of key, type and value. It replaces a JSON field for users who do not write JSON.
 *
 * @param further additional fields of each row
 */
export function typedRowsField(
	name: string,
	displayName: string,
	description: string,
	further: INodeProperties[] = [],
): INodeProperties {
	return rowsField(name, displayName, description, 'Value', [
		textField('key', 'Key', 'What the value is kept or sent under', {
			placeholder: 'e.g. department',
		}),
		choiceField(
			'type',
			'Type',
			'A date ends in Z; a list has commas or line breaks, or is JSON',
			ROW_TYPES,
		),
		textField('content', 'Value', 'The value itself, or an expression for it'),
		...further,
	]);
}

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
