import { isNil, truncate } from 'lodash';
import { DateTime } from 'luxon';

import { convertToType } from '../../execution/fieldSchemas';
import {
	choiceField,
	type FieldValues,
	rowsField,
	splitList,
	textField,
} from '../../execution/fieldBuilders';
import type { Item } from '../../execution/item';
import { dateAsUtcText } from '../../payloads/dates';
import { MissingPart } from '../../payloads/identity';
import type { INodeProperties } from 'n8n-workflow';

/** A row as the user entered it. Fields that the user left empty are missing. */
export interface Row {
	key?: unknown;
	type?: RowType;
	content?: unknown;
	mayBeEmpty?: boolean;
}

/** Functions that return the value of a row whose content is empty or missing. `undefined` leaves out the row. */
interface EmptyRowHandlers {
	/** Also called if `content` is an expression of one part that gives `null` or `undefined`. */
	whenEmpty: (key: string) => unknown;
	/** Called if a part of any other expression in `content` has no value. */
	whenMissing: (missing: MissingPart, key: string) => unknown;
}

/**
 * Converts the values of rows to their types.
 *
 * @param label display name of the parameter with the rows
 * @returns the values, by key
 * @throws NodeOperationError if a key is empty, or a value does not have the type of its row
 */
export function valuesOfRows(
	item: Item,
	label: string,
	rows: unknown,
	{ whenEmpty, whenMissing }: EmptyRowHandlers,
): FieldValues {
	const values = new Map<string, unknown>();
	const valueOf = (key: string, { type = 'string', content = '' }: Row): unknown => {
		if (content === '' || isEmptyPart(content)) return whenEmpty(key);
		if (content instanceof MissingPart) return whenMissing(content, key);
		return convertContent(item, rowName(key, label), type, content);
	};
	for (const row of Array.isArray(rows) ? (rows as Row[]) : []) {
		const key = typeof row.key === 'string' ? row.key.trim() : '';
		if (key === '') item.throwIssue({ label: `"Key" in "${label}"`, issue: 'must not be empty' });
		const value = valueOf(key, row);
		if (value !== undefined) values.set(key, value);
	}
	return Object.fromEntries(values);
}

/** Whether a value is an expression of one part that has no value, e.g. for an empty column of a table. */
const isEmptyPart = (value: unknown) =>
	value instanceof MissingPart && value.isAlone && isNil(value.gave);

/** Returns the name of a row for error messages. */
export const rowName = (key: string, label: string): string =>
	`${truncate(key, { length: 60 })} in "${label}"`;

/**
 * Converts the content of a row to the type of the row. For the type `string`, changes only dates (see `dateAsUtcText`), and
 * keeps e.g. a number. For the type `string[]`, keeps an array as it is.
 *
 * @throws NodeOperationError if the content does not have this type
 */
function convertContent(item: Item, label: string, type: Row['type'], value: unknown): unknown {
	const reject = (issue: string) => item.throwIssue({ label, issue, value });
	switch (type) {
		case 'number': {
			const number = convertToType('number', value);
			return Number.isFinite(number) ? number : reject('must be a number');
		}
		case 'boolean': {
			const choice = convertToType('boolean', value);
			return typeof choice === 'boolean' ? choice : reject('must be true or false');
		}
		case 'datetime': {
			const zone = item.context.getTimezone();
			const moment = DateTime.fromISO(String(value), { zone }).toUTC();
			return moment.isValid
				? moment.toISO()
				: reject('must be an ISO 8601 date, such as 2026-01-31');
		}
		case 'string[]':
			return Array.isArray(value) ? value : splitList(String(value), /[\n,]/);
		default:
			return dateAsUtcText(value);
	}
}

/** The types of the value in a row, with display names. */
const ROW_TYPES = {
	string: 'Text',
	number: 'Number',
	boolean: 'Yes or No',
	datetime: 'Date and Time',
	'string[]': 'List of Texts',
};

type RowType = keyof typeof ROW_TYPES;

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
