import { truncate } from 'lodash';
import { DateTime } from 'luxon';

import { type FieldValues, splitList } from '../../execution/fields';
import type { Item } from '../../execution/item';
import { typedValue } from '../../execution/userInput';
import { utcText } from '../../payloads/common';
import type { RowType } from './fields';

/** A row as the user entered it. Fields that the user left empty are missing. */
export interface Row {
	key?: unknown;
	type?: RowType;
	content?: unknown;
	mayBeEmpty?: boolean;
}

/**
 * Returns the values of rows, by key.
 *
 * @param label display name of the parameter with the rows
 * @param whenEmpty returns the value of a row whose `content` is empty; `undefined` leaves out the row
 * @throws NodeOperationError if a row is invalid
 */
export function valuesOfRows(
	item: Item,
	label: string,
	rows: unknown,
	whenEmpty: (row: Row, key: string) => unknown = () => undefined,
): FieldValues {
	const pairs = (Array.isArray(rows) ? (rows as Row[]) : []).flatMap((row) => {
		const key = typeof row.key === 'string' ? row.key.trim() : '';
		const { type = 'string', content = '' } = row;
		if (key === '') return item.refuse({ field: `"Key" in "${label}"`, rule: 'must not be empty' });
		const typed =
			content === '' ? whenEmpty(row, key) : asTyped(item, rowName(key, label), type, content);
		return typed === undefined ? [] : [[key, typed] as const];
	});
	return Object.fromEntries(pairs);
}

/** Returns the name of a row for error messages. */
export const rowName = (key: string, label: string): string =>
	`${truncate(key, { length: 60 })} in "${label}"`;

function asTyped(item: Item, field: string, type: Row['type'], value: unknown): unknown {
	const refuse = (rule: string) => item.refuse({ field, rule, value });
	switch (type) {
		case 'number': {
			const number = typedValue('number', value);
			return Number.isFinite(number) ? number : refuse('must be a number');
		}
		case 'boolean': {
			const choice = typedValue('boolean', value);
			return typeof choice === 'boolean' ? choice : refuse('must be true or false');
		}
		case 'datetime': {
			const zone = item.context.getTimezone();
			const moment = DateTime.fromISO(String(value), { zone }).toUTC();
			return moment.isValid
				? moment.toISO()
				: refuse('must be an ISO 8601 date, such as 2026-01-31');
		}
		case 'string[]':
			return Array.isArray(value) ? value : splitList(String(value), /[\n,]/);
		default:
			return utcText(value);
	}
}
