import isNil from 'lodash/isNil';

import type { FieldValues } from '../../../execution/fields';
import type { Item } from '../../../execution/item';
import { utcText } from '../../../execution/values';
import { MESSAGE_KEYS } from '../../../runs/input';
import { isJsonObject } from '../../../transport/answer';
import { rowSubject, valuesOfRows } from '../../shared/rowValues';
import type { Row } from '../../shared/rowValues';

/**
 * The values for the assistant's filters, by key, from JSON and from rows.
 *
 * @throws NodeOperationError if a key belongs to the message itself, or a value is empty: `contains` with an empty
 * text, or `under` with an empty folder, finds everything (recorded, `knowledge-filter-5`)
 */
export function filterValuesOf(
	item: Item,
	{ filterValues: rows, filterValuesJson: json = {} }: FieldValues,
): FieldValues {
	const [label, jsonLabel] = ['filterValues', 'filterValuesJson'].map((name) =>
		item.labelOf(`options.${name}`),
	) as [string, string];
	const mayBeEmptyKeys = new Set<string>();
	const rowValues = valuesOfRows(item, label, rows, ({ type, mayBeEmpty }: Row, key) => {
		if (mayBeEmpty && (type ?? 'string') === 'string') mayBeEmptyKeys.add(key);
		return '';
	});
	if (!isJsonObject(json))
		return item.refuse({
			subject: `"${jsonLabel}"`,
			demand: 'must be an object (JSON)',
			value: json,
		});
	item.jsonText(json, { parameter: jsonLabel });
	check(item, jsonLabel, json);
	item.jsonText(rowValues, { parameter: label });
	check(item, label, rowValues, mayBeEmptyKeys);
	const jsonEntries = Object.entries(json).map(([key, value]) => [key, utcText(value)]);
	return { ...Object.fromEntries(jsonEntries), ...rowValues };
}

function check(item: Item, label: string, values: FieldValues, allowed = new Set<string>()): void {
	for (const [key, value] of Object.entries(values)) {
		const subject = rowSubject(key, label);
		if (MESSAGE_KEYS.includes(key))
			item.refuse({ subject, demand: 'is a part of the message itself: choose another key' });
		if (isEmptyValue(value) && !allowed.has(key))
			item.refuse({ subject, demand: 'must not be empty', cure: EMPTY_CURE });
	}
}

const EMPTY_CURE =
	'With an empty value, some filters find everything. Where that is meant, give the value as a row with "May Be Empty".';

/** Slashes in a folder do not count (recorded, `knowledge-filter-2`). */
const isEmptyValue = (value: unknown): boolean =>
	isNil(value) ||
	(typeof value === 'string' && /^[\s/]*$/.test(value)) ||
	(Array.isArray(value) && value.length === 0);
