import { compact, escapeRegExp, forOwn, truncate, uniq } from 'lodash';

/** The maximum number of characters that are read from a text. Error pages can have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/** Redacts secrets in the words of a server: the token of the credential, and other tokens after `Bearer`. */
export interface Redact {
	(words: string): string;
	/** Redacts only the token of the credential. For the results of tools, which workflows use; default: as words. */
	token?: (text: string) => string;
}

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
 * Returns a function that redacts a token in a text, in any of its `spellings`. A text with an encoded token is returned
 * decoded. Takes time linear in the length of the text.
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
	return Object.assign(redact, { token: redactToken });
}

/** The minimum length of an encoded token. Shorter ones also occur in ordinary words. */
const MIN_ENCODED_LENGTH = 8;

/**
 * The spellings of a token in which servers may repeat it: as it is, decoded, as hexadecimal digits and in base64.
 * Base64 writes three bytes as four characters, so within other text a token has three spellings. Each is the part that
 * does not depend on the text around it. Encodings of single characters are not among them: `redactor` decodes these.
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
 * Cleans an answer in place. Deletes `credentials`, which can contain API keys of model providers. Redacts error texts
 * (see `WORD_KEYS`), and the token in what goes into tools and comes out of them. Other texts stay unchanged. Uses no
 * recursion, because answers can be nested deeply.
 */
export function cleanAnswer(answer: unknown, redact: Redact): void {
	const redactToken = redact.token ?? redact;
	const root = { isWord: false, isMetadata: false, isOwn: false, isOfTool: false };
	const left = [{ value: answer, parent: '', ...root }];
	for (let next = left.pop(); next; next = left.pop()) {
		const { value, parent, ...outer } = next;
		forOwn(value as Record<string, unknown>, (one, key, record) => {
			const isName = parent === 'tasks' && key === 'name';
			const isWord = outer.isWord || isName || WORD_KEYS.test(key);
			// The metadata of a document belongs to the user. A key `error` in metadata is not an error text.
			const isMetadata = outer.isMetadata || (key === 'metadata' && !outer.isWord);
			const isOwn = outer.isOwn || USER_KEYS.test(key);
			const isOfTool = outer.isOfTool || isToolKey(key, record);
			const ownParent = Array.isArray(value) ? parent : key;
			if (key === 'credentials' && (!isOwn || parent === 'modelProvider')) delete record[key];
			else if (typeof one !== 'string')
				left.push({ value: one, parent: ownParent, isWord, isMetadata, isOwn, isOfTool });
			else if (!isMetadata && ((isWord && !one.startsWith(OWN_NOTE)) || isToolError(key, one)))
				record[key] = redact(one);
			else if (isOfTool) record[key] = redactToken(one);
		});
	}
}

/** Whether a field holds the call or the result of a tool: of a part of an answer, or of a message on a thread. */
const isToolKey = (key: string, { type, tool_call_id: callId }: Record<string, unknown>) =>
	(key === 'data' && type === 'component') ||
	(key === 'content' && typeof callId === 'string') ||
	key === 'tool_calls';

/** Whether a text is the output of a tool that failed. */
const isToolError = (key: string, text: string) => key === 'output' && text.startsWith('Error: ');

/** Matches what JSON writes before a character, up to three times. A pattern of its own, because these are many. */
const ESCAPE = /\\{1,4}(?=["\\/])/g;

/** Matches one character that was encoded up to three times for JSON, a URL or HTML. */
const ENCODED_CHARACTER =
	/(?:\\{1,4}(?:u00|x)|%(?:25){0,2})([\da-f]{2})|&(?:amp;){0,2}(?:#x0{0,4}([\da-f]{2})|#0{0,4}(\d{2,3})|(amp|lt|gt|quot|apos));/gi;

const ENTITIES: Record<string, string> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function decode(text: string): string {
	return text
		.replace(ESCAPE, '')
		.replace(
			ENCODED_CHARACTER,
			(_, hex?: string, htmlHex?: string, code?: string, entity?: string) =>
				ENTITIES[entity?.toLowerCase() ?? ''] ??
				String.fromCharCode(code ? Number(code) : parseInt(hex ?? htmlHex ?? '', 16)),
		);
}
