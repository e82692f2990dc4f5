import trimEnd from 'lodash/trimEnd';
import truncate from 'lodash/truncate';

/** A number with a word in the right form: `counted(1, 'was', 'were')`. */
export function counted(count: number, one: string, many = `${one}s`): string {
	return `${count} ${count === 1 ? one : many}`;
}

/** Joins texts as sentences, each with one full stop; skips empty ones. */
export function sentences(...texts: Array<string | undefined>): string {
	return texts.flatMap((text) => (text ? `${trimEnd(text, '. ')}.` : [])).join(' ');
}

/** Characters of the longest hint. */
const HINT_LENGTH = 120;

/** Truncates a text to the length of a hint. */
export function asHint(text: string): string {
	return truncate(text, { length: HINT_LENGTH });
}
