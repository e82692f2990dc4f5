import type { INodeProperties } from 'n8n-workflow';

import {
	choiceField,
	groupField,
	jsonField,
	numberField,
	rowsField,
	textField,
} from '../../execution/fields';

/** Timeout of an upload without the option. */
export const UPLOAD_TIMEOUT_SECONDS = 600;

/** The part `target` of uploads. */
export const targetField = jsonField(
	'target',
	'Target',
	'Where the server stores the file, as a JSON object',
	{ placeholder: 'e.g. {"kind": "storage", "directory": "manuals"}' },
);

/** The types of a row value, and their names. */
const ROW_TYPES = {
	string: 'Text',
	number: 'Number',
	boolean: 'Yes or No',
	datetime: 'Date and Time',
	'string[]': 'List of Texts',
};

export type RowType = keyof typeof ROW_TYPES;

/**
 * Rows of key, type and value, for users who do not write JSON.
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
			'What the value becomes: a date and time ends in Z, a list has commas or line breaks between its texts',
			ROW_TYPES,
		),
		textField('content', 'Value', 'The value itself, or an expression for it'),
		...further,
	]);
}

/** How documents are cut into chunks. Xpert AI servers store that of a knowledgebase, and do not use it. */
export function parserConfigField(description: string): INodeProperties {
	const whole = { typeOptions: { numberPrecision: 0 } };
	return groupField('parserConfig', 'Parser Config', description, [
		numberField(
			'chunkOverlap',
			'Chunk Overlap',
			'How much of a chunk is repeated in the next one',
			{ ...whole, default: 200 },
		),
		numberField('chunkSize', 'Chunk Size', 'How large a chunk is at most', {
			...whole,
			default: 1000,
		}),
		textField(
			'delimiter',
			'Delimiter',
			'Characters to cut at where possible, separated by spaces',
			{ placeholder: 'e.g. ; , .' },
		),
	]);
}
