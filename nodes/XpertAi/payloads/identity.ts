import { isDate, isEmpty, isObject } from 'lodash';
import { DateTime } from 'luxon';

import { type CodePart, partsOf, type Template } from './template';
import { EVERY_MISSING_VALUE_WORD } from './missingValues';

/**
 * Options for values that identify something (keys, source names, versions, folders, addresses, filter values), and for
 * metadata rows. A value with a missing part is not used, because two different things could get the same value. A
 * version or a metadata row is left out; with any other value, the item is rejected.
 */
export interface IdentityOptions {
	/** Whether each part needs a visible character. If false, one part with a visible character is enough. */
	needsEveryPart?: boolean;
	/** Whether the value may be an object or a list. */
	takesObjects?: boolean;
}

/** A part of an expression that has no value, or none that can be used (see `templateValueByParts`). */
export class MissingPart {
	/** The JavaScript code of the part, without braces. */
	readonly code: string;
	/** The result of the part, e.g. `undefined`. */
	readonly gave: unknown;
	/** Whether the expression has only this part, and no letters or digits around it. */
	readonly isAlone: boolean;

	constructor({ code, gave, isAlone }: { code: string; gave: unknown; isAlone: boolean }) {
		this.code = code;
		this.gave = gave;
		this.isAlone = isAlone;
	}
}

/**
 * Evaluates the parts of an expression one by one, to find a missing part. A part also counts as missing if its value
 * cannot be used: an object or a list (but see `takesObjects`), an integer that JavaScript may have rounded (unless the
 * part is the whole expression), or a text in which the code of the part wrote a word such as `undefined`.
 *
 * @param evaluate evaluates an n8n expression with braces
 * @returns the value that n8n computes for the whole expression; `MissingPart` if a part is missing, or if all parts
 * are blank. A single part that is alone may be blank (see `MissingPart.isAlone`), unless `needsEveryPart` is set.
 */
export function templateValueByParts(
	template: Template,
	evaluate: (expression: string) => unknown,
	{ needsEveryPart = false, takesObjects = false }: IdentityOptions = {},
): unknown {
	const parts = partsOf(template);
	// The expression is one part and nothing else. `isAlone` also allows signs around the part.
	const isWhole = template.kind === 'part';
	const isAlone = parts.length === 1 && !/[\p{L}\p{N}]/u.test(fixedText(template));
	const isMissing = (part: CodePart, value: unknown): boolean => {
		if (isWhole && takesObjects && isCollection(value)) return needsEveryPart && isEmpty(value);
		if (!isScalar(value)) return true;
		// The schema of the field checks a number that is the whole expression.
		if (!isWhole && hasLostDigits(value)) return true;
		if (needsEveryPart && !hasVisibleCharacter(value)) return true;
		return writesMissingValueWord(part, value, evaluate);
	};
	const values = new Map<Template, unknown>();
	for (const part of parts) {
		const value = evaluate(`{{ ${part.code} }}`);
		if (isMissing(part, value)) return new MissingPart({ code: part.code, gave: value, isAlone });
		values.set(part, value);
	}
	const [first] = parts;
	const isBlank = ![...values.values()].some(hasVisibleCharacter);
	// With blank parts, a key such as `user-{{ $json.id }}` would be the same for all users.
	if (first && !isAlone && isBlank)
		return new MissingPart({ code: first.code, gave: '', isAlone: false });
	return assembleValue(template, values, evaluate);
}

/** The fixed text of a template, as the user wrote it. */
function fixedText(template: Template): string {
	if (template.kind === 'fixed') return template.source;
	return 'pieces' in template ? template.pieces.map(fixedText).join('') : '';
}

/** Combines the values of the parts and the fixed text, as n8n and JavaScript do. */
function assembleValue(
	template: Template,
	values: Map<Template, unknown>,
	evaluate: (expression: string) => unknown,
): unknown {
	const inner = (piece: Template) => assembleValue(piece, values, evaluate);
	switch (template.kind) {
		case 'fixed':
			return template.expression === undefined ? template.source : evaluate(template.expression);
		case 'number':
			return template.value;
		case 'part':
			return values.get(template);
		case 'sum':
			return template.pieces.map(inner).reduce(plus);
		case 'literal':
			return template.pieces.map((piece) => String(inner(piece))).join('');
		case 'joined':
			return template.pieces.map((piece) => insertedText(inner(piece))).join('');
	}
}

/** JavaScript's `+`, which adds numbers and joins everything else. */
const plus = (one: unknown, other: unknown): unknown => (one as string) + (other as string);

/** The text that n8n inserts for the value of a pair of braces. */
const insertedText = (value: unknown): string => (Number.isNaN(value) ? '' : String(value));

/** Whether a value is an object or a list, other than a date. */
const isCollection = (value: unknown) => isObject(value) && !isDateOrDateTime(value);

const isDateOrDateTime = (value: unknown): value is Date | DateTime =>
	isDate(value) || DateTime.isDateTime(value);

/** Whether a value is a text, a number, `true` or `false`, or a valid date. */
function isScalar(value: unknown): boolean {
	if (isDateOrDateTime(value)) return !Number.isNaN(value.valueOf());
	return ['string', 'boolean'].includes(typeof value) || isNumber(value);
}

const isNumber = (value: unknown) => typeof value === 'number' && !Number.isNaN(value);

/** Whether a value is an integer that JavaScript may have rounded. */
export const hasLostDigits = (value: unknown) =>
	Number.isInteger(value) && !Number.isSafeInteger(value);

/** Whether a value has a visible character. A filled object or list counts, because it may have no text of its own. */
const hasVisibleCharacter = (value: unknown) =>
	isCollection(value) ? !isEmpty(value) : /[^\s\p{Cc}\p{Cf}]/u.test(String(value));

/**
 * Whether the code of a part wrote a word such as `undefined` for a missing value. A word that is already in the data
 * does not count, e.g. in the file name `null-safety.md`.
 */
function writesMissingValueWord(
	{ isPath, pathsRead }: CodePart,
	value: unknown,
	evaluate: (expression: string) => unknown,
): boolean {
	if (isPath || typeof value !== 'string') return false;
	const words = value.match(EVERY_MISSING_VALUE_WORD);
	if (!words) return false;
	// A path can give a list, e.g. in `$json.tags.join()`. Then each entry counts.
	const data = pathsRead.flatMap((path) => evaluate(`{{ ${path} }}`));
	const texts = data.filter((one) => typeof one === 'string').map((one) => one.toLowerCase());
	const isInData = (word: string) => texts.some((text) => text.includes(word.toLowerCase()));
	return !words.every(isInData);
}
