import type { INodeProperties } from 'n8n-workflow';

import { choiceField, textField } from './fields';

/** The types of a row value. */
export const ROW_TYPES = ['string', 'number', 'boolean', 'datetime', 'string[]'] as const;

/** The names of a field of rows, and additional fields of each row. */
type RowsField = Pick<INodeProperties, 'displayName' | 'name' | 'placeholder' | 'description'> & {
	further?: INodeProperties[];
};

/** Rows of key, type and value, for users who do not write JSON. */
export function typedRows({ further = [], ...field }: RowsField): INodeProperties {
	const values = [
		textField('key', 'Key', 'What the value is kept or sent under', {
			placeholder: 'e.g. department',
		}),
		choiceField(
			'type',
			'Type',
			'What the value becomes: a date and time ends in Z, a list has commas or line breaks between its texts',
			ROW_TYPES,
			{
				string: 'Text',
				number: 'Number',
				boolean: 'Yes or No',
				datetime: 'Date and Time',
				'string[]': 'List of Texts',
			},
		),
		textField('content', 'Value', 'The value itself, or an expression for it'),
		...further,
	];
	return {
		...field,
		type: 'fixedCollection',
		typeOptions: { multipleValues: true },
		default: {},
		options: [{ displayName: 'Value', name: 'values', values }],
	};
}
