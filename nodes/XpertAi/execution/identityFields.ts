import { get, isObject } from 'lodash';
import { isExpression } from 'n8n-workflow';

import { jsonValueSchema } from './jsonValueSchema';
import { hasLostDigits, type IdentityOptions, MissingPart } from '../payloads/identity';
import { canonicalKey, conversationKeyIssue, keyIssue } from '../payloads/keys';
import { partsOf } from '../payloads/template';
import {
	evaluateByPartsAndCacheWhole,
	type ExpressionScope,
	expressionValueByParts,
	readsSiblingParameter,
	templateParserOf,
} from './expressions';
import { LOST_DIGITS_ADVICE, LOST_DIGITS_ISSUE } from './fieldSchemas';
import { isBlank, isParameterFilled, unresolvedValue } from './givenValues';
import type { ParameterReader } from './parameterReader';
import { throwMissingPart } from './missingExpressionPart';

/** An item whose expressions are evaluated in its `expressionScope`. */
export type ItemParameterReader = ParameterReader & { expressionScope: ExpressionScope };

/**
 * Reads an identity field. A Fixed field gives text. An expression gives its value, without conversion, or a `MissingPart`
 * if a part of it is missing. An expression for the whole collection is not split into parts.
 */
export function valueOrMissing(
	item: ItemParameterReader,
	name: string,
	options: IdentityOptions,
): unknown {
	const [collection = '', ...path] = name.split('.');
	// An expression may return the whole collection. Then the node parameters contain no single field.
	if (path.length > 0 && isExpression(item.node.parameters[collection])) {
		const whole: unknown = jsonValueSchema.safeParse(item.parameter(collection)).data;
		return get(whole, path);
	}
	const given = unresolvedValue(item.node, name);
	if (!isExpression(given)) return item.text(name);
	return expressionValueByParts(item.expressionScope, given, name, name, options);
}

/** Reads an identity field as text. Returns a `MissingPart` if a part of its expression is missing. */
function textOrMissing(
	item: ItemParameterReader,
	name: string,
	options: IdentityOptions,
): string | MissingPart {
	const value = valueOrMissing(item, name, options);
	return value instanceof MissingPart ? value : item.asText(name, value);
}

/** Whether an identity field is filled in. If an expression returns the collection, its result decides. */
export function isGiven(item: ItemParameterReader, name: string): boolean {
	const [collection = '', ...path] = name.split('.');
	const isCollectionExpression = path.length > 0 && isExpression(item.node.parameters[collection]);
	return isCollectionExpression
		? textOrMissing(item, name, {}) !== ''
		: isParameterFilled(item.node, name);
}

/* Keys and names */
export interface KeyOptions extends IdentityOptions {
	/** What the message about a part without a value says in addition. */
	issueAddition?: string;
	/** Whether equal keys share a record. Then a key that contains a word such as `undefined` is rejected. */
	isShared?: boolean;
}

/**
 * Reads a key in canonical form (see `canonicalKey`).
 *
 * @throws NodeOperationError if a part of the key is missing, or the key is not valid
 */
export function keyOf(item: ItemParameterReader, name: string, options: KeyOptions = {}): string {
	const found = textOrMissing(item, name, options);
	const field = `"${item.labelOf(name)}"`;
	const text =
		found instanceof MissingPart
			? throwMissingText(item, name, found, options.issueAddition)
			: found;
	if (text.trim() === '') item.throwEmptyIfExpression(name, text);
	return checkedKey(item, text, field, options);
}

/** Throws an error about a missing part of a text. */
function throwMissingText(
	item: ItemParameterReader,
	name: string,
	missing: MissingPart,
	issueAddition?: string,
): never {
	// An object or an invalid date is no text: `asText` throws, and its error tells the type.
	if (missing.isAlone && isObject(missing.gave)) item.asText(name, missing.gave);
	return throwMissingPart(item, `"${item.labelOf(name)}"`, missing, { issueAddition });
}

/**
 * Reads an optional key in canonical form; undefined if the user left the field empty.
 *
 * @throws NodeOperationError if a part of the key is missing, or the key is not valid
 */
export const keyIfGiven = (
	item: ItemParameterReader,
	name: string,
	options?: KeyOptions,
): string | undefined => (isGiven(item, name) ? keyOf(item, name, options) : undefined);

/**
 * Converts a value to a key in canonical form.
 *
 * @throws NodeOperationError if the key is invalid
 */
export function checkedKey(
	item: ParameterReader,
	value: unknown,
	label: string,
	{ isShared }: KeyOptions = {},
): string {
	const key = canonicalKey(String(value));
	const textIssue = isShared ? conversationKeyIssue(key) : keyIssue(key);
	if (hasLostDigits(value))
		return item.throwIssue({ label, issue: LOST_DIGITS_ISSUE, advice: LOST_DIGITS_ADVICE });
	return textIssue === undefined ? key : item.throwIssue({ label, issue: textIssue });
}

/* Optional fields that select records */

/**
 * Throws an error if the expression of an optional field lacks a part, or is blank. Without this value, the request
 * would also select other records. A lone `$fromAI` may be blank, because the model of an agent may leave out the value.
 * Skips an expression that reads a sibling (see `readsSiblingParameter`).
 *
 * @param options `needsEveryPart`: whether each of several parts needs a visible character. A lone part needs one.
 */
export function throwIfPartMissing(
	item: ItemParameterReader,
	name: string,
	options: IdentityOptions,
): void {
	const given = unresolvedValue(item.node, name);
	if (!isExpression(given) || !isParameterFilled(item.node, name) || readsSiblingParameter(given))
		return;
	const parts = partsOf(templateParserOf(item.node)(given));
	const needsEveryPart = options.needsEveryPart === true || parts.length <= 1;
	const value = evaluateByPartsAndCacheWhole(item.expressionScope, given, name, name, {
		takesObjects: true,
		needsEveryPart,
	});
	if (!(value instanceof MissingPart)) return;
	if (value.isAlone && /^\$fromAI\b/i.test(value.code) && isBlank(value.gave)) return;
	throwMissingPart(item, `"${item.labelOf(name)}"`, value, {
		howToCorrect: WOULD_SELECT_OTHERS_ADVICE,
	});
}

const WOULD_SELECT_OTHERS_ADVICE =
	'Correct the expression, or clear the field: without a value, others would be meant as well.';

/* Addresses, folders and rows */

/**
 * Reads and trims a required text that identifies something, e.g. the address of a file. A Fixed field that is empty
 * gives an empty text.
 *
 * @throws NodeOperationError if the expression of the field gives an empty text, or lacks a part
 */
export function identityText(item: ItemParameterReader, name: string): string {
	const found = textOrMissing(item, name, {});
	if (found instanceof MissingPart) return throwMissingText(item, name, found);
	if (found.trim() === '') item.throwEmptyIfExpression(name, found);
	return found.trim();
}

/**
 * Returns the value of a field that may be empty.
 *
 * @param value the value of the field, or a `MissingPart` (see `resolveParameter`)
 * @returns the value; undefined or an object if the missing part is alone (see `MissingPart.isAlone`)
 * @throws NodeOperationError if the missing part is not alone
 */
export function valueOrThrowIfMissing(
	item: ItemParameterReader,
	field: string,
	value: unknown,
): unknown {
	if (!(value instanceof MissingPart)) return value;
	// The caller rejects an object, because of its type.
	if (value.isAlone) return isObject(value.gave) ? value.gave : undefined;
	return throwMissingPart(item, field, value);
}
