import { attempt, get, isObject } from 'lodash';
import { isExpression } from 'n8n-workflow';

import { jsonValue } from '../payloads/json';
import {
	canonicalKey,
	hasLostDigits,
	type IdentityOptions,
	keyIssue,
	MissingPart,
	missingPartIn,
	missingValueIn,
	sharedKeyIssue,
	missingValueIssue,
} from '../payloads/identity';
import { partsOf } from '../payloads/template';
import {
	identityForValueOf,
	identityOf,
	type Place,
	readsSibling,
	templatesOf,
} from './expressions';
import { LOST_DIGITS_ISSUE, typedValue } from './fieldSchemas';
import { givenFor, isBlank, isFilled, isNothing } from './given';
import { quoted } from './issueText';
import type { Reader } from './reader';

/** An item whose expressions are evaluated at its `place`. */
type ItemReader = Reader & { place: Place };

/** Reads the value of an identity field in its own type, or the part of it that is missing. */
function valueOrMissing(item: ItemReader, name: string, options: IdentityOptions): unknown {
	const [collection = '', ...path] = name.split('.');
	// An expression may return the whole collection. n8n has no single fields then.
	if (path.length > 0 && isExpression(item.node.parameters[collection])) {
		const whole: unknown = jsonValue.safeParse(item.parameter(collection)).data;
		return get(whole, path);
	}
	const given = givenFor(item.node, name);
	if (!isExpression(given)) return item.text(name);
	item.throwIfFixedExpression(name);
	return identityOf(item.place, given, name, name, options);
}

/** Reads the value of an identity field as text, or the part of it that is missing. */
function textOrMissing(
	item: ItemReader,
	name: string,
	options: IdentityOptions,
): string | MissingPart {
	const value = valueOrMissing(item, name, options);
	return value instanceof MissingPart ? value : item.asText(name, value);
}

/** Whether an identity field is filled in. In a collection that an expression returns, a missing value is not. */
function isGiven(item: ItemReader, name: string): boolean {
	const [collection = '', ...path] = name.split('.');
	const isWhole = path.length > 0 && isExpression(item.node.parameters[collection]);
	return isWhole ? textOrMissing(item, name, {}) !== '' : isFilled(item.node, name);
}

/* Errors about missing parts */

const missingPartErrors = new WeakSet<object>();

/** Whether an error is about a part that is missing. Such an item leaves unclear what the source contains. */
export const isMissingPart = (error: unknown): boolean =>
	isObject(error) && missingPartErrors.has(error);

/** Throws an error about a part that is missing. */
export function throwMissingPart(
	item: ItemReader,
	field: string,
	missing: MissingPart,
	howToCorrect = MISSING_PART_ADVICE,
): never {
	const { code, gave, isAlone } = missing;
	const part = `{{ ${code.length > 80 ? `${code.slice(0, 80)}…` : code} }}`;
	const isEmpty = isNothing(gave) || (typeof gave === 'string' && gave.trim() === '');
	const word = typeof gave === 'string' && !isEmpty ? missingPartIn(gave) : undefined;
	const issue = isEmpty
		? isAlone
			? 'is empty: its expression gave nothing for this item'
			: `lacks a part: ${part} gave nothing for this item`
		: word === undefined
			? `lacks a part: ${part} gave ${hasLostDigits(gave) ? 'a number without its last digits' : quoted(gave)}`
			: missingValueIssue(word);
	const advice = item.emptyItemAdvice ?? `${part} gave no value. ${howToCorrect}`;
	const error = attempt(() => item.throwIssue({ field, issue, advice }));
	missingPartErrors.add(error as object);
	throw error as Error;
}

const MISSING_PART_ADVICE =
	"Correct the expression, or leave such items out before. To read from a node further back, name that node: {{ $('Name of the Node').item.json.nameOfTheField }}";

/* Keys and names */

interface KeyOptions extends IdentityOptions {
	/** Whether all users of the same key share a record. Then a word such as `undefined` in the key is rejected. */
	isShared?: boolean;
}

/**
 * Reads a key in canonical form (see `canonicalKey`).
 *
 * @throws NodeOperationError if a part of the key is missing, or the key is not valid
 */
export function keyOf(item: ItemReader, name: string, options: KeyOptions = {}): string {
	const found = textOrMissing(item, name, options);
	const field = `"${item.labelOf(name)}"`;
	const text = found instanceof MissingPart ? textOfMissing(item, name, found) : found;
	if (text.trim() === '') item.throwIfExpression(name);
	return checkedKey(item, text, field, options);
}

/** Throws an error about a missing part. An object or an invalid date is rejected for its type. */
function textOfMissing(item: ItemReader, name: string, missing: MissingPart): string {
	if (missing.isAlone && isObject(missing.gave)) item.asText(name, missing.gave);
	return throwMissingPart(item, `"${item.labelOf(name)}"`, missing);
}

/**
 * Reads an optional key in canonical form; undefined if the user left the field empty.
 *
 * @throws NodeOperationError if a part of the key is missing, or the key is not valid
 */
export const keyIfGiven = (
	item: ItemReader,
	name: string,
	options?: KeyOptions,
): string | undefined => (isGiven(item, name) ? keyOf(item, name, options) : undefined);

/**
 * Converts a value to a key in canonical form.
 *
 * @throws NodeOperationError if the key is invalid
 */
export function checkedKey(
	item: Reader,
	value: unknown,
	field: string,
	{ isShared }: KeyOptions = {},
): string {
	const key = canonicalKey(String(value));
	const textIssue = isShared ? sharedKeyIssue(key) : keyIssue(key);
	const issue = hasLostDigits(value) ? LOST_DIGITS_ISSUE : textIssue;
	return issue === undefined ? key : item.throwIssue({ field, issue });
}

/** Each part of a name needs a sign: `tenant-` would be the source of all tenants without a name. */
const NAME: KeyOptions = { everyPart: true };

/** The source name and the shard of an item. */
export const sourceOf = (item: ItemReader) => ({
	sourceName: keyIfGiven(item, 'sourceName', NAME) ?? '',
	shard: item.has('options.shard') ? (keyIfGiven(item, 'options.shard', NAME) ?? '') : '',
});

/** Reads the key of a conversation. Strangers with the same key would share a conversation. */
export const conversationKeyOf = (item: ItemReader): string =>
	keyOf(item, 'conversationKey', { everyPart: true, isShared: true });

/* Optional fields that say which records are meant */

/**
 * Throws an error if the expression of an optional field lacks a part, or is blank. Without a value, other records
 * would be meant as well. In the tool of an agent, the model may leave out the value (`$fromAI`).
 *
 * @param options whether each part of the expression needs a sign. The only part always needs one.
 */
export function throwIfMissing(item: ItemReader, name: string, options: IdentityOptions): void {
	const given = givenFor(item.node, name);
	if (!isExpression(given) || !isFilled(item.node, name) || readsSibling(given)) return;
	const [, ...others] = partsOf(templatesOf(item.node)(given));
	const everyPart = options.everyPart === true || others.length === 0;
	const checked = { takesObjects: true, everyPart };
	const missing = identityForValueOf(item.place, given, name, name, checked);
	if (!(missing instanceof MissingPart)) return;
	if (missing.isAlone && /^\$fromAI\b/i.test(missing.code) && isBlank(missing.gave)) return;
	throwMissingPart(item, `"${item.labelOf(name)}"`, missing, OTHERS_ADVICE);
}

const OTHERS_ADVICE =
	'Correct the expression, or clear the field: without a value, others would be meant as well.';

/* Versions */

/**
 * Converts a value to a document version. Only numbers, dates and non-blank texts are versions.
 *
 * @returns undefined also for a text that stands for a missing value
 */
export function versionOf(value: unknown): string | undefined {
	const text = typeof value === 'boolean' ? undefined : typedValue('string', value);
	if (typeof text !== 'string' || text.trim() === '') return undefined;
	return missingValueIn(text.trim()) === undefined ? text.trim() : undefined;
}

/**
 * Reads the version of a document; undefined if the field is empty, a part of it is missing, or it is true or false.
 *
 * @throws NodeOperationError if the value has another type, e.g. a number without its last digits
 */
export function versionIn(item: ItemReader, name: string): string | undefined {
	const value = valueOrMissing(item, name, {});
	if (value instanceof MissingPart || typeof value === 'boolean') return undefined;
	return versionOf(item.asText(name, value));
}

/** Whether the user filled in the field for the version. */
export const wantsVersion = isGiven;

/* Fields that must not be Fixed */

/**
 * Throws an error if a version is the same for all documents: their changes would never be seen.
 *
 * @param count the number of documents
 */
export function throwIfFixedVersion(item: ItemReader, name: string, count: number): void {
	if (count > 1 && isFixed(item, name))
		item.throwFieldIssue(name, FIXED_VERSION_ISSUE, undefined, FIXED_VERSION_ADVICE);
}

/**
 * Throws an error if the key is the same for all documents of a source: each would replace the one before.
 *
 * @param count the number of documents of the source
 */
export function throwIfFixedKey(item: ItemReader, count: number): void {
	if (count > 1 && isFixed(item, DOCUMENT_KEY))
		item.throwFieldIssue(DOCUMENT_KEY, FIXED_KEY_ISSUE, undefined, FIXED_KEY_ADVICE);
}

/**
 * Whether a field is filled in with a text, or with an expression that reads nothing.
 *
 * @throws NodeOperationError if the text is an expression in a Fixed field
 */
function isFixed(item: ItemReader, name: string): boolean {
	const given = givenFor(item.node, name);
	if (!isFilled(item.node, name)) return false;
	if (isExpression(given) && partsOf(templatesOf(item.node)(given)).length > 0) return false;
	item.throwIfFixedExpression(name);
	return true;
}

const DOCUMENT_KEY = 'documentKey';

const FIXED_VERSION_ISSUE =
	'is Fixed, so all documents have the same version and none would ever count as changed';

const FIXED_VERSION_ADVICE =
	'Switch the field to Expression, and read the version from the item: {{ $json.updated_at }}. A JSON or a file of records has "Version Field" for the name of a field.';

const FIXED_KEY_ISSUE =
	'is Fixed, so all documents have the same key and only the last would be kept';

const FIXED_KEY_ADVICE =
	'Switch the field to Expression, and read the key from the item: {{ $json.path }}. A JSON or a file of records has "Key Field" for the name of a field.';

/* Addresses, folders and rows */

/**
 * Reads a required text that says which one something is, such as an address.
 *
 * @throws NodeOperationError if the text is empty or a part of it is missing
 */
export function identityText(item: ItemReader, name: string): string {
	const found = textOrMissing(item, name, {});
	if (found instanceof MissingPart) return textOfMissing(item, name, found);
	if (found.trim() === '') item.throwIfExpression(name);
	return found.trim();
}

/**
 * Returns the value of a field that may be empty.
 *
 * @param value from a collection (see `resolveParameter`)
 * @returns undefined if the only part of its expression is missing
 * @throws NodeOperationError if a part beside other text is missing
 */
export function presentOrEmpty(item: ItemReader, field: string, value: unknown): unknown {
	if (!(value instanceof MissingPart)) return value;
	// An object is rejected for its type.
	if (value.isAlone) return isObject(value.gave) ? value.gave : undefined;
	return throwMissingPart(item, field, value);
}
