import truncate from 'lodash/truncate';
import { DateTime } from 'luxon';

import type { FieldValues } from '../../execution/fields';
import { splitList } from '../../execution/ids';
import type { Item } from '../../execution/item';
import { typedValue, utcText } from '../../execution/values';
import type { RowType } from './fields';

/** A row as read; empty fields are missing. */
export interface Row {
	key?: unknown;
	type?: RowType;
	content?: unknown;
	mayBeEmpty?: boolean;
}

/**
 * The values of rows, by key; a later row wins.
 *
 * @param label display name of the rows
 * @param whenEmpty the value of a row without one; default none
 * @throws NodeOperationError naming the row, the item and the requirement
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
		if (key === '') return item.refuse({ field: `"Key" in "${label}"`, rule: EMPTY_RULE });
		const typed =
			content === '' ? whenEmpty(row, key) : asTyped(item, rowName(key, label), type, content);
		return typed === undefined ? [] : [[key, typed] as const];
	});
	return Object.fromEntries(pairs);
}

/** Names a row in a message. */
export const rowName = (key: string, label: string): string =>
	`${truncate(key, { length: 60 })} in "${label}"`;

const EMPTY_RULE = 'must not be empty';

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
