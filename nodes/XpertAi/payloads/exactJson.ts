/**
 * The value of a JSON text. Whole numbers that JavaScript would round become text, as they are IDs
 * whose last digits count.
 *
 * @throws SyntaxError
 */
export function exactJson(text: string): unknown {
	return JSON.parse(ROUNDABLE.test(text) ? withExactNumbers(text) : text) as unknown;
}

/** As many digits as the largest whole number has that no neighbour is rounded to. */
const ROUNDABLE = /\d{16}/;

function withExactNumbers(json: string): string {
	let inText = false;
	return json.replace(/\\.|"|-?\d[\d.eE+-]*/g, (token) => {
		if (token === '"') inText = !inText;
		const isRounded = !inText && /^-?[1-9]\d{15,}$/.test(token) && String(Number(token)) !== token;
		return isRounded ? `"${token}"` : token;
	});
}
