import { isNil, truncate } from 'lodash';
import { DateTime } from 'luxon';

import { typedValue } from '../../execution/fieldSchemas';
import { type FieldValues, splitList } from '../../execution/fields';
import type { Item } from '../../execution/item';
import { utcText } from '../../payloads/dates';
import { MissingPart } from '../../payloads/identity';
import type { RowType } from './fields';

/** A row as the user entered it. Fields that the user left empty are missing. */
export interface Row {
	key?: unknown;
	type?: RowType;
	content?: unknown;
	mayBeEmpty?: boolean;
}

/** What becomes of a row without a value. `undefined` leaves out the row. */
interface EmptyRowHandlers {
	/** Returns the value of a row whose `content` is empty. */
	whenEmpty: () => unknown;
	/** Returns the value of a row whose `content` lacks a part. */
	whenMissing: (missing: MissingPart, key: string) => unknown;
}

/**
 * Returns the values of rows, by key.
 *
 * @param label display name of the parameter with the rows
 * @throws NodeOperationError if a row is invalid
 */
export function valuesOfRows(
	item: Item,
	label: string,
	rows: unknown,
	{ whenEmpty, whenMissing }: EmptyRowHandlers,
): FieldValues {
	const pairs = (Array.isArray(rows) ? (rows as Row[]) : []).flatMap((row) => {
		const key = typeof row.key === 'string' ? row.key.trim() : '';
		const { type = 'string', content = '' } = row;
		if (key === '')
			return item.throwIssue({ field: `"Key" in "${label}"`, issue: 'must not be empty' });
		const isLeftEmpty = content === '' || isEmptyPart(content);
		const typed = isLeftEmpty
			? whenEmpty()
			: content instanceof MissingPart
				? whenMissing(content, key)
				: convertContent(item, rowName(key, label), type, content);
		return typed === undefined ? [] : [[key, typed] as const];
	});
	return Object.fromEntries(pairs);
}

/** Whether a value has a single part that gave nothing, as for an empty column of a table. */
const isEmptyPart = (value: unknown) =>
	value instanceof MissingPart && value.isAlone && isNil(value.gave);

/** Returns the name of a row for error messages. */
export const rowName = (key: string, label: string): string =>
	`${truncate(key, { length: 60 })} in "${label}"`;

function convertContent(item: Item, field: string, type: Row['type'], value: unknown): unknown {
	const reject = (issue: string) => item.throwIssue({ field, issue, value });
	switch (type) {
		case 'number': {
			const number = typedValue('number', value);
			return Number.isFinite(number) ? number : reject('must be a number');
		}
		case 'boolean': {
			const choice = typedValue('boolean', value);
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
			return utcText(value);
	}
}
