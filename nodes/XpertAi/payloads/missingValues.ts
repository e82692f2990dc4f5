/** Texts that JavaScript writes for a missing value. */
const MISSING_VALUES = new Set(['undefined', 'null', 'NaN', 'Invalid Date', 'Invalid DateTime']);

const OBJECT_AS_TEXT = /\[object [A-Z]\w*\]/;

/** Matches `undefined`, `null` or `NaN` as a separate word. Does not match the name `john.null@example.com`. */
const SEPARATE_MISSING_VALUE_WORD =
	/(?<![\p{L}\p{N}])undefined(?![\p{L}\p{N}])|(?<![\p{L}\p{N}.])(?:null|NaN)(?![\p{L}\p{N}.])/u;

/** Matches every text for a missing value. Except for `[object …]`, no letter or digit may be directly beside it. */
export const EVERY_MISSING_VALUE_WORD =
	/\[object [A-Z]\w*\]|(?<![\p{L}\p{N}])(?:undefined|null|NaN|Invalid Date(?:Time)?)(?![\p{L}\p{N}])/gu;

/**
 * Finds a text for a missing value.
 *
 * @returns the whole text if it stands for a missing value, e.g. `null`; a part such as `[object Object]` of a longer
 * text; undefined for any other text
 */
export const missingValueOrObjectText = (text: string): string | undefined =>
	MISSING_VALUES.has(text) ? text : OBJECT_AS_TEXT.exec(text)?.[0];

/**
 * Like `missingValueOrObjectText`, but also finds `undefined`, `null` and `NaN` in a longer text such as
 * `chat-undefined`.
 */
export const missingValueWordIn = (text: string): string | undefined =>
	missingValueOrObjectText(text) ?? SEPARATE_MISSING_VALUE_WORD.exec(text)?.[0];

/** Returns the issue of a value with a text that `missingValueOrObjectText` or `missingValueWordIn` found. */
export const missingValueIssue = (text: string) =>
	`holds "${text}", which stands for a missing value`;
