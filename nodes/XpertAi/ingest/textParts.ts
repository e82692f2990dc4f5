/** How a text is cut, in the terms of the contract's parserConfig. */
export interface CutOptions {
	/** Longest part, in characters. */
	chunkSize: number;
	/** How many characters of a part are repeated at the start of the next. */
	chunkOverlap: number;
	/** Characters to cut at where possible, separated by spaces; `\n` stands for a line break. */
	delimiter: string;
}

/**
 * Cuts a text into parts no longer than the chunk size, at a delimiter where one is in reach. Nothing
 * of the text is left out.
 */
export function cutText(
	text: string,
	{ chunkSize, chunkOverlap, delimiter }: CutOptions,
): string[] {
	const delimiters = delimiter.split(' ').filter(Boolean).map(unescape);
	const overlap = Math.min(chunkOverlap, chunkSize - 1);
	const parts: string[] = [];
	for (let start = 0; start < text.length; ) {
		const end =
			start + chunkSize >= text.length
				? text.length
				: cutAt(text, start, start + chunkSize, delimiters, overlap);
		parts.push(text.slice(start, end));
		if (end === text.length) break;
		start = overlap === 0 ? end : nextStart(text, start, end - overlap);
	}
	return parts;
}

/** The end of the part that starts at `start`: behind its last delimiter, or at the limit. */
function cutAt(
	text: string,
	start: number,
	limit: number,
	delimiters: string[],
	overlap: number,
): number {
	// Only what is in reach is searched, so that a long text takes no longer for each of its parts.
	const reach = text.slice(start, limit);
	const ends = delimiters
		.map((delimiter) => [reach.lastIndexOf(delimiter), delimiter.length] as const)
		// A part must reach beyond what it repeats, or the next would start at the same place.
		.filter(([place, length]) => place >= 0 && place + length > overlap)
		.map(([place, length]) => start + place + length);
	const end = ends.length > 0 ? Math.max(...ends) : limit;
	// Never between the halves of a surrogate pair.
	return isHighSurrogate(text.charCodeAt(end - 1)) && end - 1 > start + overlap ? end - 1 : end;
}

/** Where the next part starts: never between the halves of a surrogate pair, and always further on. */
function nextStart(text: string, start: number, wanted: number): number {
	if (!isHighSurrogate(text.charCodeAt(wanted - 1)) || !isLowSurrogate(text.charCodeAt(wanted)))
		return wanted;
	return wanted - 1 > start ? wanted - 1 : wanted + 1;
}

function isHighSurrogate(code: number): boolean {
	return code >= 0xd800 && code <= 0xdbff;
}

function isLowSurrogate(code: number): boolean {
	return code >= 0xdc00 && code <= 0xdfff;
}

function unescape(delimiter: string): string {
	return delimiter.replace(/\\n/g, '\n').replace(/\\t/g, '\t');
}
