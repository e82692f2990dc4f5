import isNil from 'lodash/isNil';

import type { FieldValues } from '../../../execution/fields';
import type { Item } from '../../../execution/item';
import { utcText } from '../../../execution/values';
import { MESSAGE_KEYS } from '../../../runs/input';
import { isJsonObject } from '../../../transport/answer';
import { rowSubject, valuesOfRows } from '../../shared/rowValues';
import type { Row } from '../../shared/rowValues';

/**
 * The values that filters of the assistant take from a message, by their keys: those of JSON, and of rows.
 *
 * @throws NodeOperationError where a key belongs to the message itself, or a value is empty: `contains` an empty text, or
 * `under` an empty folder, finds everything (recorded, `knowledge-filter-5`)
 */
export function filterValuesOf(
	item: Item,
	{ filterValues: rows, filterValuesJson: json = {} }: FieldValues,
): FieldValues {
	const [label, jsonLabel] = ['filterValues', 'filterValuesJson'].map((name) =>
		item.labelOf(`options.${name}`),
	) as [string, string];
	const allowed = new Set<string>();
	const ofRows = valuesOfRows(item, label, rows, ({ type, mayBeEmpty }: Row, key) => {
		if (mayBeEmpty && (type ?? 'string') === 'string') allowed.add(key);
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
	item.jsonText(ofRows, { parameter: label });
	check(item, label, ofRows, allowed);
	const ofJson = Object.entries(json).map(([key, value]) => [key, utcText(value)]);
	return { ...Object.fromEntries(ofJson), ...ofRows };
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

/** Of a folder, the slashes do not count (recorded, `knowledge-filter-2`). */
const isEmptyValue = (value: unknown): boolean =>
	isNil(value) ||
	(typeof value === 'string' && /^[\s/]*$/.test(value)) ||
	(Array.isArray(value) && value.length === 0);
