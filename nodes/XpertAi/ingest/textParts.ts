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
		start = end - overlap;
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
	const ends = delimiters
		.map((delimiter) => text.lastIndexOf(delimiter, limit - delimiter.length) + delimiter.length)
		// A part must reach beyond what it repeats, or the next would start at the same place.
		.filter((end) => end > start + overlap && end <= limit);
	const end = ends.length > 0 ? Math.max(...ends) : limit;
	// Never between the halves of a surrogate pair.
	return isHighSurrogate(text.charCodeAt(end - 1)) && end - 1 > start + overlap ? end - 1 : end;
}

function isHighSurrogate(code: number): boolean {
	return code >= 0xd800 && code <= 0xdbff;
}

function unescape(delimiter: string): string {
	return delimiter.replace(/\\n/g, '\n').replace(/\\t/g, '\t');
}
