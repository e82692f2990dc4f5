/** A sentence that can be quoted, with the heading or the question it stands under. */
export interface Sentence {
	text: string;
	under: string;
}

const HEADING = /^#{1,6}\s+/;
const RULE_OF_TABLE = /^[|:\s-]*$/;
const LIST_MARK = /^\s*(?:>|[-*+]|\d+[.)])\s+/;
const TABLE_ROW = /^\s*\|(.*)\|\s*$/;
const EMPHASIS = /\*\*|__|`/g;
const BETWEEN_SENTENCES = /(?<=[.?!])\s+(?=[\p{Lu}\p{N}"“])|(?<=[。？！])/u;
const QUESTION = /[?？]$/;

/**
 * The sentences of a text or of Markdown, without its marks. Headings and questions are no sentences: they say
 * what the next ones are about. Of a table each row is one.
 */
export function sentencesOf(text: string, isTable = false): Sentence[] {
	const sentences: Sentence[] = [];
	let under = '';
	for (const line of isTable ? rowsOf(text) : linesOf(text)) {
		if (HEADING.test(line)) under = line.replace(HEADING, '');
		else {
			for (const sentence of isTable ? [line] : line.split(BETWEEN_SENTENCES)) {
				if (QUESTION.test(sentence)) under = sentence;
				else sentences.push({ text: sentence, under });
			}
		}
	}
	return sentences;
}

const rowsOf = (text: string): string[] =>
	text
		.split('\n')
		.map((row) => row.trim())
		.filter(Boolean);

/** Paragraphs in one line each; headings, list items and rows of tables are lines of their own. */
function linesOf(text: string): string[] {
	const lines: string[] = [];
	let open = false;
	for (const line of text.split('\n')) {
		const own = HEADING.test(line) || TABLE_ROW.test(line);
		if (open && !own && !LIST_MARK.test(line) && line.trim() !== '') {
			lines.push(`${lines.pop() ?? ''} ${plain(line)}`);
		} else if (!RULE_OF_TABLE.test(line)) lines.push(plain(line));
		open = !own && line.trim() !== '';
	}
	return lines;
}

const plain = (line: string): string =>
	line
		.replace(LIST_MARK, '')
		.replace(TABLE_ROW, (_row, cells: string) => cells.replace(/\s*\|\s*/g, ', '))
		.replace(EMPHASIS, '')
		.trim();
