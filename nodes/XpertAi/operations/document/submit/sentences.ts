import trimEnd from 'lodash/trimEnd';

/** How many documents an error names. */
const MOST_NAMED = 10;

/** Texts as sentences, each with one full stop; what says nothing is left out. */
export function sentences(...texts: Array<string | undefined>): string {
	return texts.flatMap((text) => (text ? `${trimEnd(text, '. ')}.` : [])).join(' ');
}

/** Names in a row, or how many more there are. */
export function named(names: string[]): string {
	const more = names.length - MOST_NAMED;
	const first = names.slice(0, MOST_NAMED).join(', ');
	return more > 0 ? `${first} and ${more} more` : first;
}
