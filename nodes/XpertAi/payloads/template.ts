import { get } from 'lodash';

import { lastTokenIndexOfPath } from './codePathEnd';
import {
	CLOSING_BRACKETS,
	endsOperand,
	OPENING_BRACKETS,
	type Token,
	tokenize,
} from './codeTokens';

/** A piece of code inside of an expression. `templateValueByParts` has n8n evaluate each part separately. */
export interface CodePart {
	kind: 'part';
	/** The JavaScript code, without braces. */
	code: string;
	/** Whether the code is only a path, e.g. `$json.path`. */
	isPath: boolean;
	/** The paths that the code reads, e.g. `$json.path` for `$json.path.trim()`. */
	pathsRead: string[];
}

/** Fixed text of an expression. */
export interface FixedText {
	kind: 'fixed';
	/** The text as the user wrote it. */
	source: string;
	/** An expression for n8n that gives the text. Undefined if the text is `source` itself. */
	expression?: string;
}

/**
 * The structure of an expression:
 * - `sum`: JavaScript adds the operands, e.g. `'user' + $json.id`.
 * - `literal`: a template literal of JavaScript, e.g. `` `user-${$json.id}` ``.
 * - `joined`: n8n joins fixed text and the values of braces, e.g. `user-{{ $json.id }}`.
 */
export type Template =
	| FixedText
	| CodePart
	| { kind: 'number'; value: number }
	| { kind: 'sum' | 'literal' | 'joined'; pieces: Template[] };

/** Longer code is not parsed, to limit the time. It stays one part. */
const MAX_PARSED_LENGTH = 10_000;

/**
 * Splits an n8n expression into fixed text and parts, as n8n does. Also splits sums and template literals in braces.
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
export function partsOf(template: Template): CodePart[] {
	if (template.kind === 'part') return [template];
	return 'pieces' in template ? template.pieces.flatMap(partsOf) : [];
}

/**
 * Splits an expression at its braces. Braces after an odd number of backslashes are text. n8n does the same: see
 * `ExpressionSplitter` in its package `@n8n/tournament`.
 */
function splitBraces(expression: string): Template[] {
	const pieces: Template[] = [];
	let isInBraces = false;
	let pieceStart = 0;
	let searchStart = 0;
	for (;;) {
		const bracket = isInBraces ? '}}' : '{{';
		const index = expression.indexOf(bracket, searchStart);
		if (index < 0) break;
		searchStart = index + bracket.length;
		if (isEscaped(expression, index)) continue;
		const piece = expression.slice(pieceStart, index);
		pieces.push(isInBraces ? parseCode(piece) : textBeforeBraces(piece));
		isInBraces = !isInBraces;
		pieceStart = searchStart;
	}
	const rest = expression.slice(pieceStart);
	if (rest === '') return pieces;
	// n8n also evaluates code without closing braces.
	return [...pieces, isInBraces ? parseCode(rest) : { kind: 'fixed', source: rest }];
}

/** Whether an odd number of backslashes stands before a position. */
function isEscaped(text: string, position: number): boolean {
	let isOdd = false;
	for (let at = position - 1; text[at] === '\\'; at--) isOdd = !isOdd;
	return isOdd;
}

/**
 * Returns the piece for a text before braces. n8n changes backslashes in such a text, but not in a text after the last
 * braces. So a text with a backslash becomes an expression that n8n evaluates, with empty braces after the text.
 */
const textBeforeBraces = (source: string): FixedText => ({
	kind: 'fixed',
	source,
	...(source.includes('\\') && { expression: `${source}{{ '' }}` }),
});

/** Splits the code in braces. Code that is too long, or that `tokenize` cannot read, stays one part. */
function parseCode(source: string): Template {
	const tokens = source.length > MAX_PARSED_LENGTH ? undefined : tokenize(source)?.tokens;
	if (tokens?.length) return parseTokens(source, tokens);
	return { kind: 'part', code: source.trim(), isPath: false, pathsRead: [] };
}

/**
 * Splits code into the operands of a sum, or the pieces of a template literal. Other code becomes fixed text, a number, or
 * one part.
 *
 * @param tokens the tokens of the code, at least one
 */
function parseTokens(source: string, tokens: Token[]): Template {
	const first = tokens[0] as Token;
	const last = tokens.at(-1) as Token;
	const code = source.slice(first.start, last.end);
	const withoutBrackets = tokens.slice(1, -1);
	if (first.text === '(' && first.closingToken === last && withoutBrackets.length > 0)
		return parseTokens(source, withoutBrackets);
	const operands = operandsOf(tokens);
	if (operands) return { kind: 'sum', pieces: operands.map((one) => parseTokens(source, one)) };
	if (tokens.length === 1) {
		if (first.type === 'string') return literalPiece(code);
		if (/^(?:0|[1-9]\d*)$/.test(code)) return { kind: 'number', value: Number(code) };
		if (first.pieces) {
			const pieces = first.pieces.map((piece) =>
				typeof piece === 'string' ? literalPiece(`\`${piece}\``) : parseTokens(source, piece),
			);
			return { kind: 'literal', pieces };
		}
	}
	const pathsRead = pathsReadIn(source, tokens);
	return { kind: 'part', code, isPath: pathsRead[0] === code, pathsRead };
}

/**
 * Returns the fixed text of a literal. If the text has a backslash, or a carriage return, which JavaScript changes in a
 * template literal, n8n must evaluate the literal.
 *
 * @param code the literal, with its quotes
 */
function literalPiece(code: string): FixedText {
	const text = code.slice(1, -1);
	return {
		kind: 'fixed',
		source: text,
		...(/[\\\r]/.test(text) && { expression: `{{ ${code} }}` }),
	};
}

/** Signs that bind more tightly than `+`. They stay inside an operand. */
const TIGHTER_THAN_PLUS = ['.', '?.', '*', '/', '%', '!', '~'];

/** Words whose code cannot be split at a `+`, e.g. `function` or `in`. */
const UNSPLITTABLE_CODE_WORDS = [
	'in',
	'instanceof',
	'function',
	'class',
	'async',
	'await',
	'yield',
	'let',
];

/**
 * Splits a sum at each `+` outside of brackets.
 *
 * @returns the operands; undefined if the code is not a sum, or has another operator that binds as loosely as `+`
 * or more loosely, e.g. `?`
 */
function operandsOf(tokens: Token[]): Token[][] | undefined {
	// More than 0 if `parseTokens` removed outer brackets.
	const outerDepth = Math.min(...tokens.map(({ depth }) => depth));
	const operands: Token[][] = [[]];
	for (const [index, token] of tokens.entries()) {
		const isOuter = token.depth === outerDepth;
		const isBehindOperand = endsOperand(tokens[index - 1]);
		if (isOuter && isBehindOperand && isOneOfSigns(token, ['+'])) {
			operands.push([]);
			continue;
		}
		if (isOuter && !fitsInOperand(token, isBehindOperand)) return undefined;
		(operands.at(-1) as Token[]).push(token);
	}
	const isSum = operands.length > 1 && operands.every((one) => one.length > 0);
	return isSum ? operands : undefined;
}

const isOneOfSigns = ({ type, text }: Token, signs: string[]) =>
	type === 'sign' && signs.includes(text);

/** Whether a token outside of brackets can be a part of an operand. */
function fitsInOperand(token: Token, isBehindOperand: boolean): boolean {
	if (token.type !== 'sign') return !UNSPLITTABLE_CODE_WORDS.includes(token.text);
	// A `+` or `-` with no operand before it is unary: it belongs to the operand after it.
	const isUnary = !isBehindOperand && isOneOfSigns(token, ['+', '-']);
	return (
		isUnary || isOneOfSigns(token, [...OPENING_BRACKETS, ...CLOSING_BRACKETS, ...TIGHTER_THAN_PLUS])
	);
}

/** Returns the paths that code reads, e.g. `$json.path` and `$('Node').item.json.id`. */
function pathsReadIn(source: string, tokens: Token[]): string[] {
	const paths: string[] = [];
	for (let at = 0; at < tokens.length; at++) {
		const { pieces = [], start, text } = tokens[at] as Token;
		for (const piece of pieces)
			if (typeof piece !== 'string') paths.push(...pathsReadIn(source, piece));
		// The name behind a dot is a property, e.g. `a.$json`.
		const isMember = ['.', '?.'].includes(tokens[at - 1]?.text ?? '');
		const end = text.startsWith('$') && !isMember ? lastTokenIndexOfPath(tokens, at) : undefined;
		if (end === undefined) continue;
		paths.push(source.slice(start, (tokens[end] as Token).end));
		at = end;
	}
	return paths;
}
