export interface Token {
	type: 'word' | 'number' | 'string' | 'template' | 'regex' | 'sign';
	text: string;
	start: number;
	end: number;
	/** The number of open brackets around the token. */
	depth: number;
	/** The token that closes this bracket. */
	closingToken?: Token;
	/** The pieces of a template literal: its texts with all backslashes, and the tokens of the code in each `${…}`. */
	pieces?: Array<string | Token[]>;
}

const BLANKS_OR_COMMENTS = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;

/**
 * The forms of tokens, except template literals and regular expressions (see `nextToken`). A sign of several characters,
 * such as `===`, may become several tokens. This does no harm: `operandsOf` (in `template.ts`) does not split code that
 * has such a sign outside of brackets. An exception is `**`: its two tokens stay inside an operand, like everything in
 * brackets. The three dots of a spread are one token, because a name after a single dot is a property.
 */
const TOKEN_PATTERNS: Array<[Token['type'], RegExp]> = [
	['word', /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy],
	['number', /0x\w+|\.?\d(?:e[+-]|[\w.])*/iy],
	['string', /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y],
	['sign', /\.{3}|\?\.(?!\d)|\+\+|--|[^\w\s`'"\\#@]/y],
];

const REGEX_LITERAL = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;

export const OPENING_BRACKETS = ['(', '[', '{'];
export const CLOSING_BRACKETS = [')', ']', '}'];

/** Operators that are words. An operand follows them. */
const WORD_OPERATORS = ['in', 'instanceof', 'typeof', 'void', 'delete', 'new', 'return', 'await'];

/**
 * Splits JavaScript code into tokens.
 *
 * @param start where the code in a `${…}` starts. The code ends before the closing brace. If missing, the whole source is
 * the code.
 * @returns the tokens and the end of the code; undefined if a token or bracket is not valid, or if the end is missing
 */
export function tokenize(
	source: string,
	start?: number,
): { tokens: Token[]; end: number } | undefined {
	const tokens: Token[] = [];
	const openBrackets: Token[] = [];
	let at = start ?? 0;
	const match = (form: RegExp): string | undefined => {
		form.lastIndex = at;
		return form.exec(source)?.[0];
	};
	for (;;) {
		at += (match(BLANKS_OR_COMMENTS) ?? '').length;
		const isEnd = start === undefined ? at === source.length : source[at] === '}';
		if (isEnd && openBrackets.length === 0) return { tokens, end: at };
		const token = nextToken(source, at, match, tokens.at(-1));
		if (!token) return undefined;
		if (CLOSING_BRACKETS.includes(token.text)) {
			const opening = openBrackets.pop();
			if (
				!opening ||
				OPENING_BRACKETS.indexOf(opening.text) !== CLOSING_BRACKETS.indexOf(token.text)
			)
				return undefined;
			opening.closingToken = token;
		}
		token.depth = openBrackets.length;
		tokens.push(token);
		if (OPENING_BRACKETS.includes(token.text)) openBrackets.push(token);
		at = token.end;
	}
}

/**
 * Returns the token at a position; undefined if the code there is not valid or is the end of the source.
 *
 * @param match returns the text that matches a form at the position
 * @param before the token before the position
 */
function nextToken(
	source: string,
	start: number,
	match: (form: RegExp) => string | undefined,
	before?: Token,
): Token | undefined {
	const tokenUntil = (type: Token['type'], end: number, pieces?: Token['pieces']): Token => {
		const text = source.slice(start, end);
		return { type, text, start, end, depth: 0, pieces };
	};
	if (source[start] === '`') {
		const literal = splitTemplateLiteral(source, start);
		return literal && tokenUntil('template', literal.end, literal.pieces);
	}
	// Behind an operand, a slash is a division.
	const regex = !endsOperand(before) && match(REGEX_LITERAL);
	if (regex) return tokenUntil('regex', start + regex.length);
	for (const [type, form] of TOKEN_PATTERNS) {
		const text = match(form);
		if (text) return tokenUntil(type, start + text.length);
	}
	return undefined;
}

/** Whether a token can be the last token of an operand. */
export function endsOperand(token?: Token): boolean {
	if (!token) return false;
	const { type, text } = token;
	return type === 'sign'
		? CLOSING_BRACKETS.includes(text)
		: !(type === 'word' && WORD_OPERATORS.includes(text));
}

/**
 * Splits a template literal.
 *
 * @returns the pieces and the end of the literal; undefined if the literal has no end, or if the code of a `${…}` is
 * empty or not valid
 */
function splitTemplateLiteral(source: string, start: number) {
	const pieces: NonNullable<Token['pieces']> = [];
	const text = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
	for (let at = start + 1; ; ) {
		text.lastIndex = at;
		// The form can match an empty text, so the result is never null.
		const [found] = text.exec(source) as RegExpExecArray;
		if (found !== '') pieces.push(found);
		at += found.length;
		if (source[at] === '`') return { pieces, end: at + 1 };
		// Here is a `${`, or the source ends. At the end of the source, `tokenize` finds no code.
		const code = tokenize(source, at + 2);
		if (!code || code.tokens.length === 0) return undefined;
		pieces.push(code.tokens);
		at = code.end + 1;
	}
}
