/** Whether a value is an object as JSON has them, and nothing that only looks like one. */
export function isPlain(value: unknown): value is Record<string, unknown> {
	if (typeof value !== 'object' || value === null) return false;
	const prototype: unknown = Object.getPrototypeOf(value);
	return (prototype === Object.prototype || prototype === null) && !('then' in value);
}

/** Half of a pair that makes one character: sent as UTF-8, it becomes another character. */
const HALF = /\p{Surrogate}/u;

/** Any such half, also in its pair: not looked for in texts that hold no character beyond Latin 1. */
const PERHAPS_HALF = /[\ud800-\udfff]/;

/** Whether a text holds half of a character, as one does that was cut in the middle of an emoji. */
export function isCut(text: string): boolean {
	return PERHAPS_HALF.test(text) && HALF.test(text);
}

/** What is asked for where a text holds half of a character. */
export const CUT_DEMAND =
	'holds half of a character, as a text does that was cut in the middle of an emoji: cut it elsewhere';

/** How deep, and how large, a value may be to be looked through quickly. */
const MOST_LEVELS = 20;
const MOST_CHARACTERS = 1_000_000;

/**
 * Whether a value certainly has a JSON text that says all of it, told without making that text: nothing in
 * it is too deep or too large, a number JSON has not, half a character, or written by itself. To the rest it says no.
 */
export function isPlainJson(value: unknown): boolean {
	return plainLength(value, MOST_LEVELS) <= MOST_CHARACTERS;
}

/** About how many characters a value takes; no number of them is enough for what is not plain. */
function plainLength(value: unknown, levels: number): number {
	if (typeof value === 'string') return isCut(value) ? Infinity : value.length + 1;
	if (typeof value === 'number') return Number.isFinite(value) ? 1 : Infinity;
	if (value === null || value === undefined || typeof value === 'boolean') return 1;
	if (levels === 0 || typeof value !== 'object' || 'toJSON' in value) return Infinity;
	if (!Array.isArray(value) && !isPlain(value)) return Infinity;
	let length = 1;
	for (const [key, inner] of Object.entries(value)) {
		if (isCut(key)) return Infinity;
		length += plainLength(inner, levels - 1);
		if (length > MOST_CHARACTERS) return Infinity;
	}
	return length;
}
