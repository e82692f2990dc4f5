import { canonicalKey, keyRule } from '../payloads/common';
import type { Item } from './item';
import { constantPart, givenFor, isFilled } from './rawParameters';

const LOST_DIGITS = 'must be text, as so large a number has lost its last digits';

/**
 * A key that identifies records, in canonical form (see `canonicalKey`).
 *
 * @param isShared whether people with the same key share a record; then keys with parts such as `undefined` are refused
 * @throws NodeOperationError if it is not a key, like all functions here
 */
export function keyOf(item: Item, name: string, isShared = false): string {
	const text = identifyingText(item, name);
	const given = givenFor(item.context.getNode(), name);
	if (text === (isShared ? constantPart(given).trim() : '')) item.refuseIfExpression(name);
	return checkedKey(item, text, labelOf(item, name), isShared);
}

/** An optional text, trimmed. If it is an expression, it must not be empty for any item. */
export function textIfGiven(item: Item, name: string): string | undefined {
	if (!isFilled(item.context.getNode(), name)) return undefined;
	const text = identifyingText(item, name);
	if (text === '') item.refuseIfExpression(name);
	return text;
}

/** An optional key. */
export function keyIfGiven(item: Item, name: string): string | undefined {
	const text = textIfGiven(item, name);
	return text === undefined ? text : checkedKey(item, text, labelOf(item, name));
}

/** Converts a value to a key in canonical form. */
export function checkedKey(
	item: Item,
	value: string | number,
	field: string,
	isShared = false,
): string {
	checkDigits(item, value, field);
	const key = canonicalKey(String(value));
	const rule = keyRule(key, isShared);
	return rule === undefined ? key : item.refuse({ field, rule });
}

/** A trimmed text; refuses numbers that have lost digits. */
function identifyingText(item: Item, name: string): string {
	checkDigits(item, item.parameter(name, ''), labelOf(item, name));
	return item.text(name).trim();
}

function checkDigits(item: Item, value: unknown, field: string): void {
	if (Number.isInteger(value) && !Number.isSafeInteger(value))
		item.refuse({ field, rule: LOST_DIGITS, value });
}

const labelOf = (item: Item, name: string): string => `"${item.labelOf(name)}"`;
