import { compact, escapeRegExp, forOwn, truncate } from 'lodash';

/** Only this many characters of a text are read, because pages of servers and proxies can have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/** Redacts the token of a credential in a text. */
export type Redact = (text: string) => string;

/**
 * Sanitizes text from outside the node for an error or a hint. The result is one line of at most 500 characters,
 * without markup, because n8n would render markup. Does not redact the token: see `redactor`.
 *
 * @returns `undefined` if nothing is left
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

/** The title of an HTML page; undefined if it has none. */
export const titleOf = (page: string): string | undefined =>
	/<title[^<>]*>([^<]*)<\/title>/i.exec(page.slice(0, READ_LENGTH))?.[1]?.trim();

/**
 * Returns a function that redacts a token in a text. It also redacts a word after `Bearer`, in case this is another
 * token: the word must have at least 8 characters and contain a digit. Upper and lower case are treated alike, because
 * some servers repeat a token in lower case. An encoded token is redacted too; the text is then returned decoded.
 */
export function redactor(token: string): Redact {
	// If the token itself contains encoded characters, a decoded text holds the decoded token.
	const spellings = compact([token, decode(token)]).map(escapeRegExp);
	const pattern = new RegExp(spellings.join('|') || '(?!)', 'gi');
	return (text) => {
		const plain = text
			.replace(/\bBearer\s+(?=\S*\d)\S{8,}/gi, 'Bearer ***')
			.replace(pattern, '***');
		const decoded = decode(plain);
		// Uses `search`, because `test` would start at the `lastIndex` that a global pattern keeps.
		return decoded.search(pattern) < 0 ? plain : decoded.replace(pattern, '***');
	};
}

/**
 * Keys whose values are error texts, in which a server describes a failure. `cleanAnswer` also treats `name` within
 * `tasks`, and `output` of a failed tool, as error texts.
 */
const WORD_KEYS = /^(?:error|processMsg|embeddingRebuildError)$/;

/**
 * The start of the notes that the node stores in the `processMsg` of documents. Notes are not redacted, because the
 * node has to read them again unchanged.
 */
export const OWN_NOTE = 'n8n-memory-';

/**
 * Cleans an answer, in place. Removes every key `credentials`, under which the record of a model provider holds API
 * keys that no workflow may see (E2, beyond the contract). Redacts error texts (see `WORD_KEYS`), including all texts
 * nested in them. Other texts, such as replies of assistants, documents and titles, stay unchanged. Uses a loop,
 * because an answer can be nested too deeply for recursion.
 */
export function cleanAnswer(answer: unknown, redact: Redact): void {
	const left = [{ value: answer, parent: '', isWord: false, isMetadata: false }];
	for (let next = left.pop(); next; next = left.pop()) {
		const { value, parent, ...outer } = next;
		forOwn(value as Record<string, unknown>, (one, key, record) => {
			const isName = parent === 'tasks' && key === 'name';
			const isWord = outer.isWord || isName || WORD_KEYS.test(key);
			// The metadata of a document is the user's own data, in which a key such as `error` means nothing special.
			// It is not redacted.
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

/** Matches a character as JSON, URLs and HTML encode it, also if it was encoded two or three times. */
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
