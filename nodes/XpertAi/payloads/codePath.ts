/** What this file needs to know of a token of JavaScript. */
interface CodeToken {
	type: string;
	text: string;
	/** The token that closes this bracket. */
	closing?: CodeToken;
}

/** Methods that return items of another node, e.g. `$('Node').first()`. */
const READING_METHODS = ['first', 'last', 'all', 'itemMatching'];

/** Functions that return a value from a language model. */
const FROM_AI = ['$fromAI', '$fromAi', '$fromai'];

/**
 * Finds the end of a path that starts with a name such as `$json`.
 *
 * @returns the index of the last token of the path; undefined if the name is a function that computes
 */
export function pathEnd(tokens: CodeToken[], start: number): number | undefined {
	const root = tokens[start]?.text ?? '';
	const isCall = tokens[start + 1]?.text === '(';
	if (isCall && FROM_AI.includes(root)) return closingIndex(tokens, start + 1);
	if (isCall && root !== '$') return undefined;
	let end = isCall ? closingIndex(tokens, start + 1) : start;
	for (;;) {
		const next = stepEnd(tokens, end);
		if (next === undefined) return end;
		end = next;
	}
}

/**
 * Finds the end of the step behind a path: of `.id`, `["id"]`, `[0]`, or a method such as `.first()`.
 *
 * @returns the index of the last token of the step; undefined if no step follows, or a method that computes
 */
function stepEnd(tokens: CodeToken[], endOfPath: number): number | undefined {
	const textAt = (index: number) => tokens[index]?.text ?? '';
	const mark = textAt(endOfPath + 1);
	const bracket = mark === '?.' ? endOfPath + 2 : endOfPath + 1;
	const hasOneToken = textAt(bracket) === '[' && closingIndex(tokens, bracket) === bracket + 2;
	if (hasOneToken && ['string', 'number'].includes((tokens[bracket + 1] as CodeToken).type))
		return bracket + 2;
	const name = endOfPath + 2;
	if (!['.', '?.'].includes(mark) || tokens[name]?.type !== 'word') return undefined;
	const isCall = textAt(name + 1) === '(';
	if (!isCall) return name;
	return READING_METHODS.includes(textAt(name)) ? closingIndex(tokens, name + 1) : undefined;
}

/** Returns the index of the token that closes a bracket. */
const closingIndex = (tokens: CodeToken[], opening: number): number =>
	tokens.indexOf(tokens[opening]?.closing as CodeToken);
