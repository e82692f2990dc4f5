import { compact, escapeRegExp, forOwn, truncate } from 'lodash';

/** The maximum number of characters that are read from a text. Error pages can have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/** Redacts the token of a credential in a text. */
export type Redact = (text: string) => string;

/**
 * Sanitizes text from a server for an error or a hint. The result is one line of at most 500 characters. It has no
 * markup, because n8n would render markup. Does not redact the token (see `redactor`).
 *
 * @returns `undefined` if no text remains
 */
export function sanitize(text: string): string | undefined {
	// Removes tags. Makes incomplete tags harmless with a space after `<`.
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
 * Returns a function that redacts a token in a text, even if the token is encoded or in lower case. A text with an
 * encoded token is returned decoded. The function also redacts other tokens after `Bearer`.
 */
export function redactor(token: string): Redact {
	// Matches the token and the decoded token, because `decode` can change the token in a text.
	const spellings = compact([token, decode(token)]).map(escapeRegExp);
	const pattern = new RegExp(spellings.join('|') || '(?!)', 'gi');
	return (text) => {
		const plain = text
			.replace(/\bBearer\s+(?=\S*\d)\S{8,}/gi, 'Bearer ***')
			.replace(pattern, '***');
		const decoded = decode(plain);
		// A global pattern remembers its position for `test`, but not for `search`.
		return decoded.search(pattern) < 0 ? plain : decoded.replace(pattern, '***');
	};
}

/**
 * Keys whose values are error texts of a server. `cleanAnswer` also treats the names of `tasks` and the outputs of
 * failed tools as error texts.
 */
const WORD_KEYS = /^(?:error|processMsg|embeddingRebuildError)$/;

/**
 * The prefix of texts that the node stores in the `processMsg` of documents. These texts are not redacted, because the
 * node must read them unchanged.
 */
export const OWN_NOTE = 'n8n-memory-';

/** Keys whose values belong to the user: of a document, of the store, and of the call of a tool. */
const USER_KEYS = /^(?:args|metadata|value)$/;

/**
 * Cleans an answer in place. Deletes `credentials`, which can contain API keys of model providers. Redacts error texts (see `WORD_KEYS`). Other texts stay unchanged. Uses no recursion, because answers can be nested deeply.
 */
export function cleanAnswer(answer: unknown, redact: Redact): void {
	const left = [{ value: answer, parent: '', isWord: false, isMetadata: false, isOwn: false }];
	for (let next = left.pop(); next; next = left.pop()) {
		const { value, parent, ...outer } = next;
		forOwn(value as Record<string, unknown>, (one, key, record) => {
			const isName = parent === 'tasks' && key === 'name';
			const isWord = outer.isWord || isName || WORD_KEYS.test(key);
			// The metadata of a document belongs to the user. A key `error` in metadata is not an error text.
			const isMetadata = outer.isMetadata || (key === 'metadata' && !outer.isWord);
			const isOwn = outer.isOwn || USER_KEYS.test(key);
			const ownParent = Array.isArray(value) ? parent : key;
			if (key === 'credentials' && (!isOwn || parent === 'modelProvider')) delete record[key];
			else if (typeof one !== 'string')
				left.push({ value: one, parent: ownParent, isWord, isMetadata, isOwn });
			else if (!isMetadata && ((isWord && !one.startsWith(OWN_NOTE)) || isToolError(key, one)))
				record[key] = redact(one);
		});
	}
}

/** Whether a text is the output of a tool that failed. */
const isToolError = (key: string, text: string) => key === 'output' && text.startsWith('Error: ');

/** Matches one character that was encoded up to three times for JSON, a URL or HTML. */
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
