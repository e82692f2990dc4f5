import { unescape } from 'lodash';

const TABLE = /\.(?:csv|tsv|xlsx)$/i;
const HTML = /\.x?html?$/i;
const CODE = /<(script|style)\b[^]*?<\/\1>/gi;
const HEADING_TAG = /<(?:h[1-6]|title)\b[^>]*>/gi;
const INLINE_TAG = /<\/?(?:a|b|code|em|i|small|span|strong|sub|sup|u)\b[^>]*>/gi;
const TAG = /<[^>]+>/g;

export interface Sentence {
	text: string;
	under: string;
}

const HEADING = /^#{1,6}\s+/;
const RULE_OF_TABLE = /^[|:\s-]*$/;
const LIST_MARK = /^\s*(?:>|[-*+]|\d+[.)])\s+/;
const ROW_OF_TABLE = /^\s*\|(.*)\|\s*$/;
const EMPHASIS = /\*\*|__|`/g;
const BETWEEN_SENTENCES = /(?<=[.?!])\s+(?=[\p{Lu}\p{N}"“])|(?<=[。？！])/u;
const QUESTION = /[?？]$/;

/** HTML as Markdown: a model says no tags. */
function withoutTags(html: string): string {
	const text = html.replace(CODE, '').replace(HEADING_TAG, '\n\n# ').replace(INLINE_TAG, '');
	return unescape(text.replace(TAG, '\n\n'));
}

/** A row of a table, that of a workbook without the braces of its JSON; a long row may be cut. */
function rowInWords(row: string): string {
	try {
		const cells = Object.entries(JSON.parse(row) as Record<string, unknown>);
		return cells.map(([heading, cell]) => `${heading}: ${String(cell)}`).join(', ');
	} catch {
		return row;
	}
}

/**
 * The sentences of a text or of Markdown, without its marks. Headings and questions are no sentences: they say
 * what the next ones are about. Of a table each row is one.
 */
export function sentencesOf(name: string, passage: string): Sentence[] {
	const isTable = TABLE.test(name);
	const text = HTML.test(name) ? withoutTags(passage) : passage;
	const sentences: Sentence[] = [];
	let under = '';
	for (const line of isTable ? rowsIn(text) : linesOf(text)) {
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

const rowsIn = (text: string): string[] =>
	text
		.split('\n')
		.map((row) => row.trim())
		.filter(Boolean)
		.map((row) => (row.startsWith('{') ? rowInWords(row) : row));

/** Paragraphs in one line each; headings, list items and rows of tables are lines of their own. */
function linesOf(text: string): string[] {
	const lines: string[] = [];
	let open = false;
	for (const line of text.split('\n')) {
		const own = HEADING.test(line) || ROW_OF_TABLE.test(line);
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
		.replace(ROW_OF_TABLE, (_row, cells: string) => cells.replace(/\s*\|\s*/g, ', '))
		.replace(EMPHASIS, '')
		.trim();
