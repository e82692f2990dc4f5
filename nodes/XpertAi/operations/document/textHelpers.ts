import { compact, trimEnd, truncate } from 'lodash';

/** A number with the singular or plural of a word, such as `2 documents`. */
export function countWithNoun(count: number, one: string, many = `${one}s`): string {
	return `${count} ${count === 1 ? one : many}`;
}

/** Joins texts into sentences that each end in one full stop. Skips empty texts. */
export function joinSentences(...texts: Array<string | false | null | undefined>): string {
	return compact(texts)
		.map((text) => `${trimEnd(text, '. ')}.`)
		.join(' ');
}

export const MAX_HINT_LENGTH = 120;

/** Truncates a text to the length of a hint. */
export const truncateHint = (text: string) => truncate(text, { length: MAX_HINT_LENGTH });

/** Maximum number of names of documents or sources in one message. */
const MAX_NAMED = 10;

/** Lists at most MAX_NAMED names, and says how many more there are. */
export function nameListText(names: string[]): string {
	const more = names.length - MAX_NAMED;
	const first = names.slice(0, MAX_NAMED).join(', ');
	return more > 0 ? `${first} and ${more} more` : first;
}
