import { get } from 'lodash';

/** A value that an expression reads or computes. n8n evaluates it by itself. */
export interface TemplatePart {
	kind: 'part';
	/** The JavaScript code, without braces. */
	code: string;
	/** Whether the code only reads, e.g. `$json.path`. */
	isRead: boolean;
	/** The paths that the code reads, e.g. `$json.path` for `$json.path.trim()`. */
	reads: string[];
}

/** Fixed text of an expression. */
export interface Fixed {
	kind: 'fixed';
	/** The text as the user wrote it. */
	source: string;
	/** An expression for n8n that gives the text. Undefined if the text is `source` itself. */
	escaped?: string;
}

/**
 * How an expression makes its value:
 * - `sum`: JavaScript adds the operands, e.g. `'user' + $json.id`.
 * - `literal`: a template literal of JavaScript.
 * - `joined`: n8n joins texts and braces.
 */
export type Template =
	| Fixed
	| TemplatePart
	| { kind: 'number'; value: number }
	| { kind: 'sum' | 'literal' | 'joined'; pieces: Template[] };

/** Code longer than this stays one part, to limit the time for parsing. */
const MAX_PARSED = 10_000;

/**
 * Takes an n8n expression apart, as n8n does it. Sums and template literals inside of braces are taken apart as well.
 *
 * @param expression without the leading `=`
 */
export function parseTemplate(expression: string): Template {
	const pieces = splitBraces(expression).filter((piece) => get(piece, 'source') !== '');
	const [only] = pieces;
	if (!only) return { kind: 'fixed', source: '' };
	return pieces.length === 1 ? only : { kind: 'joined', pieces };
}

/** Returns all parts of an expression, first to last. */
export function partsOf(template: Template): TemplatePart[] {
	if (template.kind === 'part') return [template];
	return 'pieces' in template ? template.pieces.flatMap(partsOf) : [];
}

/**
 * Splits an expression at its braces. A bracket after an odd number of backslashes is no bracket. This follows
 * `ExpressionSplitter` of n8n's package `@n8n/tournament`.
 */
function splitBraces(expression: string): Template[] {
	const pieces: Template[] = [];
	let bracket = '{{';
	let start = 0;
	let from = 0;
	for (;;) {
		const index = expression.indexOf(bracket, from);
		if (index < 0) break;
		from = index + bracket.length;
		if (isEscaped(expression, index)) continue;
		const piece = expression.slice(start, index);
		pieces.push(bracket === '{{' ? textBeforeBraces(piece) : parseCode(piece));
		bracket = bracket === '{{' ? '}}' : '{{';
		start = from;
	}
	const rest = expression.slice(start);
	// n8n also evaluates code without closing braces.
	if (rest !== '')
		pieces.push(bracket === '{{' ? { kind: 'fixed', source: rest } : parseCode(rest));
	return pieces;
}

/** Whether an odd number of backslashes stands before a position. */
function isEscaped(text: string, position: number): boolean {
	let isOdd = false;
	for (let at = position - 1; text[at] === '\\'; at--) isOdd = !isOdd;
	return isOdd;
}

/** n8n changes backslashes in a text that braces follow, so it is asked for such a text. */
const textBeforeBraces = (source: string): Fixed => ({
	kind: 'fixed',
	source,
	...(source.includes('\\') && { escaped: `${source}{{ '' }}` }),
});

/** Takes the code of a part apart. Code that this function does not understand stays one part. */
function parseCode(source: string): Template {
	const tokens = source.length > MAX_PARSED ? undefined : tokenize(source)?.tokens;
	if (tokens?.length) return parseTokens(source, tokens);
	return { kind: 'part', code: source.trim(), isRead: false, reads: [] };
}

/** @param tokens at least one token */
function parseTokens(source: string, tokens: Token[]): Template {
	const first = tokens[0] as Token;
	const last = tokens.at(-1) as Token;
	const code = source.slice(first.start, last.end);
	const inner = tokens.slice(1, -1);
	if (first.text === '(' && first.closing === last && inner.length > 0)
		return parseTokens(source, inner);
	const operands = operandsOf(tokens);
	if (operands) return { kind: 'sum', pieces: operands.map((one) => parseTokens(source, one)) };
	if (tokens.length === 1) {
		if (first.type === 'string') return literalPiece(code);
		if (/^(?:0|[1-9]\d*)$/.test(code)) return { kind: 'number', value: Number(code) };
		if (first.pieces) return { kind: 'literal', pieces: first.pieces };
	}
	const reads = readsIn(source, tokens);
	return { kind: 'part', code, isRead: reads[0] === code, reads };
}

/** The text of a string literal. n8n is asked for a text with escapes. */
function literalPiece(code: string): Fixed {
	const text = code.slice(1, -1);
	return { kind: 'fixed', source: text, ...(/[\\\r]/.test(text) && { escaped: `{{ ${code} }}` }) };
}

/* Tokens of JavaScript */

interface Token {
	type: 'word' | 'number' | 'string' | 'template' | 'regex' | 'sign';
	text: string;
	start: number;
	end: number;
	/** The number of open brackets around the token. */
	depth: number;
	/** The token that closes this bracket. */
	closing?: Token;
	/** The pieces of a template literal. */
	pieces?: Template[];
}

const BLANK = /(?:\s|\/\/[^\n]*|\/\*[^]*?\*\/)*/y;

/**
 * The forms of tokens. A template literal and a regular expression are found by `nextToken`. Other signs of several
 * characters, such as `===`, may come as several tokens: neither the first nor the rest of one is part of a sum.
 */
const TOKENS: Array<[Token['type'], RegExp]> = [
	['word', /[\p{ID_Start}$_][\p{ID_Continue}$]*/uy],
	['number', /0x\w+|\.?\d(?:e[+-]|[\w.])*/iy],
	['string', /"(?:[^"\\\n]|\\[^])*"|'(?:[^'\\\n]|\\[^])*'/y],
	['sign', /\?\.(?!\d)|\+\+|--|[^\w\s`'"\\#@]/y],
];

const REGEX_LITERAL = /\/(?:[^/\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+\/\w*/y;

const OPENING = ['(', '[', '{'];
const CLOSING = [')', ']', '}'];

/** Words before an operand. */
const WORD_OPERATORS = ['in', 'instanceof', 'typeof', 'void', 'delete', 'new', 'return', 'await'];

/**
 * Returns the tokens of JavaScript code, and where they end. Returns undefined if the code is not understood.
 *
 * @param start where the code of a template literal starts. It ends before a brace that it did not open.
 */
function tokenize(source: string, start?: number): { tokens: Token[]; end: number } | undefined {
	const tokens: Token[] = [];
	const open: Token[] = [];
	let at = start ?? 0;
	const match = (form: RegExp): string | undefined => {
		form.lastIndex = at;
		return form.exec(source)?.[0];
	};
	for (;;) {
		at += (match(BLANK) ?? '').length;
		const isEnd = start === undefined ? at === source.length : source[at] === '}';
		if (isEnd && open.length === 0) return { tokens, end: at };
		const token = nextToken(source, at, match, tokens.at(-1));
		if (!token) return undefined;
		if (CLOSING.includes(token.text)) {
			const opening = open.pop();
			if (!opening || OPENING.indexOf(opening.text) !== CLOSING.indexOf(token.text))
				return undefined;
			opening.closing = token;
		}
		token.depth = open.length;
		tokens.push(token);
		if (OPENING.includes(token.text)) open.push(token);
		at = token.end;
	}
}

/** Returns the token at a position. `match` matches a form there. */
function nextToken(
	source: string,
	start: number,
	match: (form: RegExp) => string | undefined,
	before?: Token,
): Token | undefined {
	const token = (type: Token['type'], end: number, pieces?: Template[]): Token => {
		const text = source.slice(start, end);
		return { type, text, start, end, depth: 0, pieces };
	};
	if (source[start] === '`') {
		const literal = templateLiteral(source, start);
		return literal && token('template', literal.end, literal.pieces);
	}
	const regex = !endsOperand(before) && match(REGEX_LITERAL);
	if (regex) return token('regex', start + regex.length);
	for (const [type, form] of TOKENS) {
		const text = match(form);
		if (text) return token(type, start + text.length);
	}
	return undefined;
}

/** Whether a token can be the last token of an operand. */
function endsOperand(token?: Token): boolean {
	if (!token) return false;
	const { type, text } = token;
	return type === 'sign'
		? CLOSING.includes(text)
		: !(type === 'word' && WORD_OPERATORS.includes(text));
}

/** Takes a template literal apart. Returns undefined if it has no end, or if a `${…}` has no readable code. */
function templateLiteral(source: string, start: number) {
	const pieces: Template[] = [];
	const text = /(?:[^`\\$]|\\[^]|\$(?!\{))*/y;
	for (let at = start + 1; ; ) {
		text.lastIndex = at;
		// The form also matches nothing, so it always matches.
		const [found] = text.exec(source) as RegExpExecArray;
		if (found !== '') pieces.push(literalPiece(`\`${found}\``));
		at += found.length;
		if (source[at] === '`') return { pieces, end: at + 1 };
		// Without `${`, the text ends here, and there is no code.
		const code = tokenize(source, at + 2);
		if (!code || code.tokens.length === 0) return undefined;
		pieces.push(parseTokens(source, code.tokens));
		at = code.end + 1;
	}
}

/** Signs that bind more tightly than `+`. */
const TIGHTER_THAN_PLUS = ['.', '?.', '*', '/', '%', '**', '!', '~'];

/** Words that begin code which has another meaning without the rest of the expression. */
const WORDS_OF_LARGER_CODE = [
	'in',
	'instanceof',
	'function',
	'class',
	'async',
	'await',
	'yield',
	'let',
];

/** Splits a sum into its operands. Returns undefined for other code. */
function operandsOf(tokens: Token[]): Token[][] | undefined {
	const level = Math.min(...tokens.map(({ depth }) => depth));
	const operands: Token[][] = [[]];
	for (const [index, token] of tokens.entries()) {
		const { depth, text, type } = token;
		const isOperator = depth === level && type === 'sign';
		const isBinary = endsOperand(tokens[index - 1]);
		if (isOperator && text === '+' && isBinary) {
			operands.push([]);
			continue;
		}
		const isBracket = OPENING.includes(text) || CLOSING.includes(text);
		const isSign = ['+', '-'].includes(text) && !isBinary;
		if (isOperator && !isBracket && !isSign && !TIGHTER_THAN_PLUS.includes(text)) return undefined;
		if (depth === level && WORDS_OF_LARGER_CODE.includes(text)) return undefined;
		(operands.at(-1) as Token[]).push(token);
	}
	const isSum = operands.length > 1 && operands.every((one) => one.length > 0);
	return isSum ? operands : undefined;
}

/* What code reads */

/** Methods of other nodes' output that only read. */
const READING_METHODS = ['first', 'last', 'all', 'itemMatching'];

/** Functions whose answer is read, e.g. what a model gives. */
const FROM_AI = ['$fromAI', '$fromAi', '$fromai'];

/** Returns the paths that code reads, e.g. `$json.path` and `$('Node').item.json.id`. */
function readsIn(source: string, tokens: Token[]): string[] {
	const reads: string[] = [];
	for (let at = 0; at < tokens.length; at++) {
		const { pieces = [], start, text } = tokens[at] as Token;
		for (const part of partsOf({ kind: 'literal', pieces })) reads.push(...part.reads);
		const isMember = ['.', '?.'].includes(tokens[at - 1]?.text ?? '');
		const end = text.startsWith('$') && !isMember && readEnd(tokens, at);
		if (end === false || end === undefined) continue;
		reads.push(source.slice(start, (tokens[end] as Token).end));
		at = end;
	}
	return reads;
}

/** Returns the index of the last token of a path, or undefined if a function is called instead. */
function readEnd(tokens: Token[], start: number): number | undefined {
	const textAt = (index: number) => tokens[index]?.text;
	const closingAt = (index: number) => tokens.indexOf(tokens[index]?.closing as Token);
	const root = textAt(start) as string;
	let end = start;
	if (textAt(start + 1) === '(') {
		if (root !== '$' && !FROM_AI.includes(root)) return undefined;
		end = closingAt(start + 1);
		if (root !== '$') return end;
	}
	for (;;) {
		const isDot = ['.', '?.'].includes(textAt(end + 1) ?? '');
		const bracket = textAt(end + 1) === '?.' ? end + 2 : end + 1;
		const isIndex = textAt(bracket) === '[' && closingAt(bracket) === bracket + 2;
		if (isIndex && ['string', 'number'].includes((tokens[bracket + 1] as Token).type)) {
			end = bracket + 2;
		} else if (isDot && tokens[end + 2]?.type === 'word') {
			if (textAt(end + 3) !== '(') end += 2;
			else if (READING_METHODS.includes(textAt(end + 2) as string)) end = closingAt(end + 3);
			// A method computes, so the path ends before it.
			else return end;
		} else return end;
	}
}
