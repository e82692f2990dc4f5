import { compact, escapeRegExp, forOwn, truncate } from 'lodash';

/** The maximum number of characters that are read from a text. Error pages can have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/** Redacts the token of a credential in a text. */
export type Redact = (text: string) => string;

/**
 * Sanitizes text from a server for an error or a hint. The result is one line of at most 500 characters, without
 * markup, because n8n renders markup. Does not redact the token (see `redactor`).
 *
 * @returns `undefined` if no text remains
 */
export function sanitize(text: string): string | undefined {
	// Removes tags. Any other `<` that could start a tag gets a space after it.
	const plain = text
		.slice(0, READ_LENGTH)
		.replace(/<[a-z/!?][^<>]*>/gi, ' ')
		.replace(/<(?=[a-z/!?])/gi, '< ');
	const line = plain.replace(/\s+/g, ' ').trim();
	return line === '' ? undefined : truncate(line, { length: MAX_LENGTH });
}

/** Returns the title of an HTML page, if any. */
export const titleOf = (page: string): string | undefined =>
	/<title[^<>]*>([^<]*)<\/title>/i.exec(page.slice(0, READ_LENGTH))?.[1]?.trim();

/**
 * Returns a function that redacts a token in a text. Ignores case, because some servers repeat the token in lower case.
 * Also redacts an encoded token, and a word after `Bearer` that looks like a token. A text with an encoded token is
 * returned decoded.
 */
export function redactor(token: string): Redact {
	// A token can contain encoded characters. Decoding a text also decodes the token in the text, so both spellings are
	// redacted.
	const spellings = compact([token, decode(token)]).map(escapeRegExp);
	const pattern = new RegExp(spellings.join('|') || '(?!)', 'gi');
	return (text) => {
		const plain = text
			.replace(/\bBearer\s+(?=\S*\d)\S{8,}/gi, 'Bearer ***')
			.replace(pattern, '***');
		const decoded = decode(plain);
		// `search`, unlike `test`, ignores the `lastIndex` of a global pattern.
		return decoded.search(pattern) < 0 ? plain : decoded.replace(pattern, '***');
	};
}

/**
 * Keys whose values are error texts of a server. `cleanAnswer` also redacts the `name` of tasks and the `output` of
 * failed tools.
 */
const WORD_KEYS = /^(?:error|processMsg|embeddingRebuildError)$/;

/**
 * The prefix of the notes that the node stores in the `processMsg` of documents. The node reads the notes back, so they
 * are not redacted.
 */
export const OWN_NOTE = 'n8n-memory-';

/**
 * Cleans an answer in place. Deletes every key `credentials`, because model providers have API keys there (E2, beyond
 * the contract). Redacts error texts (see `WORD_KEYS`), including nested texts. Other texts stay unchanged. Uses a
 * loop, because an answer can be nested too deeply for recursion.
 */
export function cleanAnswer(answer: unknown, redact: Redact): void {
	const left = [{ value: answer, parent: '', isWord: false, isMetadata: false }];
	for (let next = left.pop(); next; next = left.pop()) {
		const { value, parent, ...outer } = next;
		forOwn(value as Record<string, unknown>, (one, key, record) => {
			const isName = parent === 'tasks' && key === 'name';
			const isWord = outer.isWord || isName || WORD_KEYS.test(key);
			// The metadata of a document is the user's own data. There, a key such as `error` has no special meaning.
			const isMetadata = outer.isMetadata || (key === 'metadata' && !outer.isWord);
			if (key === 'credentials') delete record[key];
			else if (typeof one !== 'string')
				left.push({ value: one, parent: Array.isArray(value) ? parent : key, isWord, isMetadata });
			else if (!isMetadata && ((isWord && !one.startsWith(OWN_NOTE)) || isToolError(key, one)))
				record[key] = redact(one);
		});
	}
}

/** Whether a text is the output of a tool that failed. */
const isToolError = (key: string, text: string) => key === 'output' && text.startsWith('Error: ');

/** Matches one character in JSON, URL or HTML encoding, even if it was encoded two or three times. */
const ENCODED_CHARACTER =
	/(?:\\{1,4}(?:u00|x)|%(?:25){0,2})([\da-f]{2})|&(?:amp;){0,2}(?:#x0{0,4}([\da-f]{2})|#0{0,4}(\d{2,3})|(amp|lt|gt|quot|apos));|\\{1,4}(["\\/])/gi;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
	return text.replace(
		ENCODED_CHARACTER,
		(_, hex?: string, htmlHex?: string, code?: string, entity?: string, escaped?: string) =>
			escaped ??
			ENTITIES[entity?.toLowerCase() ?? ''] ??
			String.fromCharCode(code ? Number(code) : parseInt(hex ?? htmlHex ?? '', 16)),
	);
}
