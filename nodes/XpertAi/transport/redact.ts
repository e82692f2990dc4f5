import { compact, escapeRegExp, uniq } from 'lodash';

/** Redacts secrets in the words of a server: the token of the credential, and other tokens after `Bearer`. */
export interface Redact {
	(words: string): string;
	/**
	 * Redacts only the token of the credential. Used for the inputs and outputs of tools, because workflows need all other
	 * text unchanged. Default: the function itself.
	 */
	redactTokenOnly?: (text: string) => string;
}

/**
 * Returns a function that redacts a token in a text, in any of its `spellings`, and other tokens after `Bearer`. Its
 * property `redactTokenOnly` redacts only the token itself (see `Redact`). If a token remains that is found only after
 * single characters are decoded (see `decode`), the whole text is returned decoded. Takes time linear in the length of
 * the text.
 */
export function redactor(token: string): Redact {
	const pattern = new RegExp(spellings(token).map(escapeRegExp).join('|') || '(?!)', 'gi');
	const redactToken = (text: string) => {
		const plain = text.replace(pattern, '***');
		const decoded = decode(plain);
		// A global pattern remembers its position for `test`, but not for `search`.
		return decoded.search(pattern) < 0 ? plain : decoded.replace(pattern, '***');
	};
	const redact = (words: string) =>
		redactToken(words.replace(/\bBearer\s+(?=\S*\d)\S{8,}/gi, 'Bearer ***'));
	return Object.assign(redact, { redactTokenOnly: redactToken });
}

/** The minimum length of an encoded token. Shorter ones also occur in ordinary words. */
const MIN_ENCODED_LENGTH = 8;

/**
 * The spellings in which servers may repeat a token: unchanged, decoded, as hexadecimal digits and in base64. Base64
 * encodes groups of three bytes, so a token within other text has three spellings in base64. Each is the part that does
 * not depend on the text around the token. `redactor` decodes encodings of single characters itself.
 */
function spellings(token: string): string[] {
	const bytes = Buffer.from(token);
	const base64 = [0, 1, 2].map((before) => {
		const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
		return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
	});
	const base64url = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'));
	const encoded = [bytes.toString('hex'), ...base64, ...base64url];
	const long = encoded.filter(({ length }) => length >= MIN_ENCODED_LENGTH);
	// `redactor` also searches the decoded text. There the token has the form `decode(token)`.
	return uniq(compact([token, decode(token), ...long]));
}

/**
 * Matches the backslashes that JSON writes before a quote, a backslash or a slash. Also matches those in a text that was
 * encoded up to three times.
 */
const ESCAPE_PATTERN = /\\{1,4}(?=["\\/])/g;

/** Matches one character that was encoded up to three times for JSON, a URL or HTML. */
const ENCODED_CHARACTER_PATTERN =
	/(?:\\{1,4}(?:u00|x)|%(?:25){0,2})([\da-f]{2})|&(?:amp;){0,2}(?:#x0{0,4}([\da-f]{2})|#0{0,4}(\d{2,3})|(amp|lt|gt|quot|apos));/gi;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
	return text
		.replace(ESCAPE_PATTERN, '')
		.replace(
			ENCODED_CHARACTER_PATTERN,
			(_, hex?: string, htmlHex?: string, code?: string, entity?: string) =>
				ENTITIES[entity?.toLowerCase() ?? ''] ??
				String.fromCharCode(code ? Number(code) : parseInt(hex ?? htmlHex ?? '', 16)),
		);
}
