import type { Token } from './codeTokens';

/** Methods that return items of another node, e.g. `$('Node').first()`. */
const READING_METHODS = ['first', 'last', 'all', 'itemMatching'];

/** Functions that return a value from a language model. A call of such a function counts as a path. */
const FROM_AI_FUNCTIONS = ['$fromAI', '$fromAi', '$fromai'];

/**
 * Finds the end of a path that starts with a name such as `$json`.
 *
 * @returns the index of the last token of the path; undefined for a call that computes a value, e.g. `$max(…)`
 */
export function lastTokenIndexOfPath(tokens: Token[], start: number): number | undefined {
	const root = tokens[start]?.text ?? '';
	const isCall = tokens[start + 1]?.text === '(';
	if (isCall && FROM_AI_FUNCTIONS.includes(root)) return closingIndex(tokens, start + 1);
	if (isCall && root !== '$') return undefined;
	let end = isCall ? closingIndex(tokens, start + 1) : start;
	for (;;) {
		const next = lastTokenIndexOfStep(tokens, end);
		if (next === undefined) return end;
		end = next;
	}
}

/**
 * Finds the end of the step behind a path: of `.id`, `["id"]`, `[0]`, or a method such as `.first()`.
 *
 * @returns the index of the last token of the step; undefined if no step follows, or if the next step is a method that
 * computes a value, e.g. `.trim()`
 */
function lastTokenIndexOfStep(tokens: Token[], endOfPath: number): number | undefined {
	const textAt = (index: number) => tokens[index]?.text ?? '';
	const mark = textAt(endOfPath + 1);
	const bracketAt = mark === '?.' ? endOfPath + 2 : endOfPath + 1;
	const hasOneToken =
		textAt(bracketAt) === '[' && closingIndex(tokens, bracketAt) === bracketAt + 2;
	if (hasOneToken && ['string', 'number'].includes((tokens[bracketAt + 1] as Token).type))
		return bracketAt + 2;
	const nameAt = endOfPath + 2;
	if (!['.', '?.'].includes(mark) || tokens[nameAt]?.type !== 'word') return undefined;
	const isCall = textAt(nameAt + 1) === '(';
	if (!isCall) return nameAt;
	return READING_METHODS.includes(textAt(nameAt)) ? closingIndex(tokens, nameAt + 1) : undefined;
}

/** Returns the index of the token that closes a bracket. */
const closingIndex = (tokens: Token[], opening: number): number =>
	tokens.indexOf(tokens[opening]?.closingToken as Token);
