import { isJsonObject } from '../transport/answer';

/** The id a resource locator, or an expression in its place, gives; what cannot be one stays as it is. */
export function chosenId(raw: unknown): unknown {
	const value = isLocator(raw) ? raw.value : raw;
	const id = typeof value === 'number' ? String(value) : value;
	return typeof id === 'string' ? idInAddress(id.trim()) : id;
}

/** What expressions give that found no value, or no text for it, and segments of a path that lead elsewhere. */
const NO_IDS = new Set([
	'.',
	'..',
	'undefined',
	'null',
	'NaN',
	'[object Object]',
	'Invalid Date',
	'Invalid DateTime',
]);

/** Whether a text may be an id of whatever kind. */
export function mayBeId(text: string): boolean {
	return isEncodable(text) && !NO_IDS.has(text);
}

/** Whether a text can stand in an address: half a surrogate pair cannot. */
function isEncodable(text: string): boolean {
	return !/\p{Surrogate}/u.test(text);
}

/** A pasted address stands for the last UUID in it. */
function idInAddress(text: string): string {
	if (!/^https?:\/\//i.test(text)) return text;
	return text.match(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/gi)?.at(-1) ?? text;
}

function isLocator(value: unknown): value is { value: unknown } {
	return isJsonObject(value) && 'value' in value;
}

/** The ids, or the names, in a text with commas. */
export function splitIds(text: string): string[] {
	return text
		.split(',')
		.map((id) => id.trim())
		.filter(Boolean);
}
