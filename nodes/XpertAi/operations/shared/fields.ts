import isEmpty from 'lodash/isEmpty';
import type { INodeProperties, NodeParameterValueType, NodePropertyTypes } from 'n8n-workflow';

import { enumOptions, filledOnly } from '../../execution/fields';
import type { FieldValues } from '../../execution/fields';
import { ID_PLACEHOLDER } from '../../pickers/locators';
import { isJsonObject } from '../../transport/answer';

/** What a field has beyond its name, its label and its description. */
type Further = Partial<INodeProperties>;

/** Makes the function that makes the fields of a type. */
const fieldsOf =
	(type: NodePropertyTypes, initial: NodeParameterValueType, ofAll: Further = {}) =>
	(
		name: string,
		displayName: string,
		description: string | undefined,
		further: Further = {},
	): INodeProperties => {
		const all = { ...ofAll, ...further };
		return { displayName, name, type, default: initial, description, ...all };
	};

export const textField = fieldsOf('string', '');

/** The ID of a record, as text. */
export const idField = fieldsOf('string', '', { placeholder: ID_PLACEHOLDER });

/** A JSON object. */
export const jsonField = fieldsOf('json', '{}');

export const numberField = fieldsOf('number', 0);

/** Fields that belong together. */
export const groupField = (
	name: string,
	displayName: string,
	description: string,
	options: INodeProperties[],
) =>
	fieldsOf('collection', {}, { placeholder: 'Add field', options })(name, displayName, description);

/** Rows of fields. @param rowName what the panel calls a row */
export function rowsField(
	name: string,
	displayName: string,
	description: string,
	further: Further,
	values: INodeProperties[],
	rowName = displayName,
): INodeProperties {
	const options = [{ displayName: rowName, name: 'values', values }];
	return fieldsOf('fixedCollection', {}, further)(name, displayName, description, { options });
}

/** A choice between the values of an enum of the contract. @param initial the default, else the first */
export function choiceField<Value extends string>(
	name: string,
	displayName: string,
	description: string | undefined,
	values: readonly [Value, ...Value[]],
	names: Record<Value, string>,
	initial: Value = values[0],
): INodeProperties {
	const options = enumOptions(values, names);
	return fieldsOf('options', initial)(name, displayName, description, { options });
}

/**
 * The contract's parserConfig. Xpert stores that of a knowledgebase and does not use it (service behaviour, "How a file
 * is cut").
 */
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

/** A JSON object with further fields, as far as they are filled. The schema refuses a value that is no object. */
export function withFields(object: unknown, fields: FieldValues): unknown {
	const filled = filledOnly(fields);
	if (isEmpty(filled) || (object !== undefined && !isJsonObject(object))) return object;
	return { ...object, ...filled };
}
