import { badRequest } from './errors';

/** JSON bodies may be exactly this long (`E03` "body 52428801 bytes"). */
export const JSON_LIMIT = 52_428_800;

/** Newer JavaScript engines append the line and column, the recorded server does not. */
const withoutPlace = (message: string) => message.replace(/ \(line \d+ column \d+\)$/, '');

/**
 * Reads a JSON body as the server does: nothing reads as undefined, and only objects and arrays are taken
 * (`E03` "null", `E02` "string json").
 */
export function parseJson(text: string): unknown {
	if (text === '') return undefined;
	const [first] = /\S/.exec(text) ?? [''];
	if (first !== '' && first !== '{' && first !== '[') {
		throw badRequest(`Unexpected token '${first}', "${text}" is not valid JSON`);
	}
	try {
		return JSON.parse(text) as unknown;
	} catch (error) {
		throw badRequest(withoutPlace(error instanceof Error ? error.message : String(error)));
	}
}

/** Reads an HTML form body, which the server takes wherever it takes JSON (`E01` "form"). */
export const parseForm = (text: string): unknown => Object.fromEntries(new URLSearchParams(text));
