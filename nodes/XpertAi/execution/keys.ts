import { canonicalKey, keyDemand } from '../payloads/common';
import type { Item } from './item';
import { constantPart, givenFor, isFilled } from './rawParameters';

const LOST_DIGITS = 'must be text, as so large a number has lost its last digits';

/**
 * A text that tells records apart, in its one spelling (see `canonicalKey`).
 *
 * @param isShared whether people share what has the same key, so that parts of it for missing values are refused as well
 * @throws NodeOperationError where it is none, as these functions all do
 */
export function keyOf(item: Item, name: string, isShared = false): string {
	const text = identifyingText(item, name);
	const given = givenFor(item.context.getNode(), name);
	if (text === (isShared ? constantPart(given).trim() : '')) item.refuseIfExpression(name);
	return checkedKey(item, text, labelOf(item, name), isShared);
}

/** A text that may be left out, without surrounding blanks; an expression for it must give one for every item. */
export function textIfGiven(item: Item, name: string): string | undefined {
	if (!isFilled(item.context.getNode(), name)) return undefined;
	const text = identifyingText(item, name);
	if (text === '') item.refuseIfExpression(name);
	return text;
}

/** A key that may be left out. */
export function keyIfGiven(item: Item, name: string): string | undefined {
	const text = textIfGiven(item, name);
	return text === undefined ? text : checkedKey(item, text, labelOf(item, name));
}

/** A value as a key, in its one spelling. */
export function checkedKey(
	item: Item,
	value: string | number,
	subject: string,
	isShared = false,
): string {
	checkDigits(item, value, subject);
	const key = canonicalKey(String(value));
	const demand = keyDemand(key, isShared);
	return demand === undefined ? key : item.refuse({ subject, demand });
}

/** A text without surrounding blanks, of whose digits none is lost. */
function identifyingText(item: Item, name: string): string {
	checkDigits(item, item.parameter(name, ''), labelOf(item, name));
	return item.text(name).trim();
}

function checkDigits(item: Item, value: unknown, subject: string): void {
	if (Number.isInteger(value) && !Number.isSafeInteger(value))
		item.refuse({ subject, demand: LOST_DIGITS, value });
}

const labelOf = (item: Item, name: string): string => `"${item.labelOf(name)}"`;
