import { isDate, isObject } from 'lodash';
import { DateTime } from 'luxon';

import { hasLoneSurrogate, LONE_SURROGATE_ISSUE } from './loneSurrogates';
import { partsOf, type Template, type TemplatePart } from './template';

/**
 * Options for fields that say which one something is, or whose: keys, names of sources, versions, folders, addresses,
 * values of filters. A value with a missing part would make two things one, so it is no value.
 */
export interface IdentityOptions {
	/** Whether each part needs a visible character. If false, a part may be an empty text. */
	everyPart?: boolean;
	/** Whether the value may be an object or a list. */
	takesObjects?: boolean;
}

/** A part of an expression that gave no value. */
export class MissingPart {
	readonly code: string;
	/** What the part gave instead of a value. */
	readonly gave: unknown;
	/** Whether the expression has no other part, and no letters or digits beside the part. */
	readonly isAlone: boolean;

	constructor({ code, gave, isAlone }: { code: string; gave: unknown; isAlone: boolean }) {
		this.code = code;
		this.gave = gave;
		this.isAlone = isAlone;
	}
}

/**
 * Makes the value of an expression from its parts. The value is the same as n8n makes of the whole expression.
 *
 * @param evaluate evaluates an n8n expression with braces. Called once for each part, until one is missing.
 * @returns the value, or the first part that is missing
 */
export function identityValue(
	template: Template,
	evaluate: (expression: string) => unknown,
	{ everyPart = false, takesObjects = false }: IdentityOptions = {},
): unknown {
	const parts = partsOf(template);
	const isWhole = template.kind === 'part';
	const isAlone = parts.length === 1 && !/[\p{L}\p{N}]/u.test(fixedText(template));
	const values = new Map<Template, unknown>();
	for (const part of parts) {
		const value = evaluate(`{{ ${part.code} }}`);
		const isTaken = isWhole && isCollection(value) && takesObjects;
		const isThere =
			isTaken ||
			(isScalar(value) &&
				// A lone number is checked with the type of its field.
				(isWhole || !hasLostDigits(value)) &&
				!(everyPart && !hasVisibleCharacter(value)) &&
				!writesMissingWord(part, value, evaluate));
		if (!isThere) return new MissingPart({ code: part.code, gave: value, isAlone });
		values.set(part, value);
	}
	const [first] = parts;
	if (first && !isAlone && ![...values.values()].some(hasVisibleCharacter))
		return new MissingPart({ code: first.code, gave: '', isAlone: false });
	return assembleValue(template, values, evaluate);
}

/** The fixed text of a template, without n8n's treatment of escapes. */
function fixedText(template: Template): string {
	if (template.kind === 'fixed') return template.source;
	return 'pieces' in template ? template.pieces.map(fixedText).join('') : '';
}

/** Puts the values of the parts together, as n8n and JavaScript do it. */
function assembleValue(
	template: Template,
	values: Map<Template, unknown>,
	evaluate: (expression: string) => unknown,
): unknown {
	const inner = (piece: Template) => assembleValue(piece, values, evaluate);
	switch (template.kind) {
		case 'fixed':
			return template.escaped === undefined ? template.source : evaluate(template.escaped);
		case 'number':
			return template.value;
		case 'part':
			return values.get(template);
		case 'sum':
			return template.pieces.map(inner).reduce(plus);
		case 'literal':
		case 'joined':
			return template.pieces.map((piece) => joinedText(inner(piece))).join('');
	}
}

/** JavaScript's `+`, which adds numbers and joins everything else. */
const plus = (one: unknown, other: unknown): unknown => (one as string) + (other as string);

/** The text that n8n makes of the value in a pair of braces. */
const joinedText = (value: unknown): string => (Number.isNaN(value) ? '' : String(value));

/** Whether a value is an object or a list, other than a date. */
const isCollection = (value: unknown) => isObject(value) && !isMoment(value);

const isMoment = (value: unknown): value is Date | DateTime =>
	isDate(value) || DateTime.isDateTime(value);

/** Whether a value is a text, a number, `true` or `false`, or a valid date. */
function isScalar(value: unknown): boolean {
	if (isMoment(value)) return !Number.isNaN(value.valueOf());
	return ['string', 'boolean'].includes(typeof value) || isNumber(value);
}

const isNumber = (value: unknown) => typeof value === 'number' && !Number.isNaN(value);

/** Whether a value is an integer that JavaScript may have rounded. */
export const hasLostDigits = (value: unknown) =>
	Number.isInteger(value) && !Number.isSafeInteger(value);

/** Whether a value has a visible character. */
const hasVisibleCharacter = (value: unknown) => /[^\s\p{Cc}\p{Cf}]/u.test(String(value));

/* Words for a missing value */

/** Texts that JavaScript makes of a missing value. */
const MISSING_VALUES = new Set(['undefined', 'null', 'NaN', 'Invalid Date', 'Invalid DateTime']);

const OBJECT_AS_TEXT = /\[object [A-Z]\w*\]/;

/** Matches `undefined`, `null` or `NaN` as a separate word. Skips names such as `john.null@example.com`. */
const SEPARATE_MISSING_WORD =
	/(?<![\p{L}\p{N}])undefined(?![\p{L}\p{N}])|(?<![\p{L}\p{N}.])(?:null|NaN)(?![\p{L}\p{N}.])/u;

/** Matches the texts of a missing value between other characters than letters and digits. */
const EVERY_MISSING_WORD =
	/\[object [A-Z]\w*\]|(?<![\p{L}\p{N}])(?:undefined|null|NaN|Invalid Date(?:Time)?)(?![\p{L}\p{N}])/gu;

/** Returns a text that stands for a missing value, such as `null`, or the `[object Object]` in a longer text. */
export const missingValueIn = (text: string): string | undefined =>
	MISSING_VALUES.has(text) ? text : OBJECT_AS_TEXT.exec(text)?.[0];

/** Returns the same as `missingValueIn`. Finds `undefined`, `null` and `NaN` also in a text such as `chat-undefined`. */
export const missingWordIn = (text: string): string | undefined =>
	missingValueIn(text) ?? SEPARATE_MISSING_WORD.exec(text)?.[0];

/**
 * Whether a part made a word such as `undefined` out of a missing value. A word in a text that the part reads is what
 * the source holds, e.g. in the file name `null-safety.md`.
 */
function writesMissingWord(
	{ isRead, reads }: TemplatePart,
	value: unknown,
	evaluate: (expression: string) => unknown,
): boolean {
	if (isRead || typeof value !== 'string') return false;
	const words = value.match(EVERY_MISSING_WORD);
	if (!words) return false;
	const read = reads.flatMap((path) => evaluate(`{{ ${path} }}`));
	const texts = read.filter((one) => typeof one === 'string').map((one) => one.toLowerCase());
	return words.some((word) => !texts.some((text) => text.includes(word.toLowerCase())));
}

/* Keys */

/** Normalizes a key. Conversion to NFC gives a name such as `Übersicht.txt` a single spelling in Unicode. */
export const canonicalKey = (text: string): string =>
	text.replaceAll('\0', '').trim().normalize('NFC');

/** Returns why a canonical key is not valid; undefined for a valid key. */
export function keyIssue(key: string): string | undefined {
	if (key === '') return 'must not be empty';
	if (hasLoneSurrogate(key)) return LONE_SURROGATE_ISSUE;
	const missing = missingValueIn(key);
	return missing && missingValueIssue(missing);
}

/** Returns why a canonical key that several users may share is not valid. A part for a missing value makes it invalid. */
export function sharedKeyIssue(key: string): string | undefined {
	const missing = missingWordIn(key);
	return keyIssue(key) ?? (missing && missingValueIssue(missing));
}

/** The issue of a text that stands for a missing value. */
export const missingValueIssue = (text: string) =>
	`holds "${text}", which stands for a missing value`;
