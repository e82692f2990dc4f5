import { compact, escapeRegExp, forOwn, truncate, uniq } from 'lodash';

/** The maximum number of characters that are read from a text. Error pages can have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/** Redacts secrets in the words of a server: the token of the credential, and other tokens after `Bearer`. */
export interface Redact {
	(words: string): string;
	/**
	 * Redacts only the token of the credential. Used for the inputs and outputs of tools, because workflows need all other
	 * text unchanged. Default: the function itself.
	 */
	tokenOnly?: (text: string) => string;
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
 * Returns a function that redacts a token in a text, in any of its `spellings`, and other tokens after `Bearer`. Its
 * property `tokenOnly` redacts only the token itself (see `Redact`). If the token is found only after single characters are
 * decoded (see `decode`), the text is returned decoded. Takes time linear in the length of the text.
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
	return Object.assign(redact, { tokenOnly: redactToken });
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
 * Keys whose values are error texts of a server. `cleanAnswer` also treats the names of `tasks` and the outputs of
 * failed tools as error texts.
 */
const ERROR_TEXT_KEYS = /^(?:error|processMsg|embeddingRebuildError)$/;

/**
 * The prefix of texts that the node stores in the `processMsg` of documents. These texts are not redacted, because the
 * node must read them unchanged.
 */
export const OWN_NOTE_PREFIX = 'n8n-memory-';

/** Keys whose values belong to the user: `args` of a tool call, `metadata` of a document, and `value` of the store. */
const USER_KEYS = /^(?:args|metadata|value)$/;

/** Where a field of an answer is. Decides how its value is cleaned. */
interface FieldPlace {
	/** The key of the field. For an entry of a list, the key of the list. */
	key: string;
	/** Whether the field or an outer field has a key of error texts. `isErrorText` makes exceptions. */
	hasErrorKey: boolean;
	isMetadata: boolean;
	/** Whether the field or an outer field is one of `USER_KEYS`. */
	isUserData: boolean;
	isOfTool: boolean;
}

const ROOT_PLACE: FieldPlace = {
	key: '',
	hasErrorKey: false,
	isMetadata: false,
	isUserData: false,
	isOfTool: false,
};

/**
 * Cleans an answer in place. Deletes `credentials`, which can contain API keys of model providers. Keeps a field of this
 * name in the user's own data (see `USER_KEYS`), unless it is directly in `modelProvider`. Redacts error texts
 * (see `ERROR_TEXT_KEYS`), and the token in the inputs and outputs of tools. Other texts stay unchanged. Uses no
 * recursion, because answers can be nested deeply.
 */
export function cleanAnswer(answer: unknown, redact: Redact): void {
	const redactToken = redact.tokenOnly ?? redact;
	const left = [{ value: answer, outer: ROOT_PLACE }];
	for (let next = left.pop(); next; next = left.pop()) {
		const { value, outer } = next;
		forOwn(value as Record<string, unknown>, (child, key, record) => {
			const place = placeOf(key, record, outer);
			const mayHoldApiKeys = !place.isUserData || outer.key === 'modelProvider';
			if (key === 'credentials' && mayHoldApiKeys) delete record[key];
			else if (typeof child !== 'string') left.push({ value: child, outer: place });
			else if (isErrorText(key, child, place)) record[key] = redact(child);
			else if (place.isOfTool) record[key] = redactToken(child);
		});
	}
}

/**
 * Returns the place of a field.
 *
 * @param record the object or the list that contains the field
 * @param outer the place of `record`
 */
function placeOf(key: string, record: Record<string, unknown>, outer: FieldPlace): FieldPlace {
	const isTaskName = outer.key === 'tasks' && key === 'name';
	return {
		key: Array.isArray(record) ? outer.key : key,
		hasErrorKey: outer.hasErrorKey || isTaskName || ERROR_TEXT_KEYS.test(key),
		// The metadata of a document belongs to the user. A key `error` in metadata is not an error text.
		isMetadata: outer.isMetadata || (key === 'metadata' && !outer.hasErrorKey),
		isUserData: outer.isUserData || USER_KEYS.test(key),
		isOfTool: outer.isOfTool || isToolKey(key, record),
	};
}

/** Whether a text is an error text of the server or of a tool. A note of the node is not. */
function isErrorText(key: string, text: string, place: FieldPlace): boolean {
	if (place.isMetadata) return false;
	return (place.hasErrorKey && !text.startsWith(OWN_NOTE_PREFIX)) || isToolError(key, text);
}

/** Whether a field holds the call or the result of a tool, in a part of an answer or in a message on a thread. */
const isToolKey = (key: string, { type, tool_call_id: callId }: Record<string, unknown>) =>
	(key === 'data' && type === 'component') ||
	(key === 'content' && typeof callId === 'string') ||
	key === 'tool_calls';

/** Whether a text is the output of a tool that failed. */
const isToolError = (key: string, text: string) => key === 'output' && text.startsWith('Error: ');

/**
 * Matches the backslashes that JSON writes before a quote, a backslash or a slash. Also matches those in a text that was
 * encoded up to three times.
 */
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
