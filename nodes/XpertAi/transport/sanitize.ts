import compact from 'lodash/compact';
import escapeRegExp from 'lodash/escapeRegExp';
import forOwn from 'lodash/forOwn';
import truncate from 'lodash/truncate';
import uniq from 'lodash/uniq';

/** Characters of a text that are read: pages of servers and proxies may have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/** Redacts a credential's token in a text. */
export type Redact = (text: string) => string;

/**
 * Sanitizes foreign text for an error or a hint: one line of at most 500 characters, without markup, which n8n would
 * render. Takes time linear in the length. Texts of servers are redacted where they are read (`redactWords`).
 *
 * @returns `undefined` if nothing is left
 */
export function sanitize(text: string): string | undefined {
	// Tags are removed; any other `<` that could start a tag gets a space after it.
	const plain = text
		.slice(0, READ_LENGTH)
		.replace(/<[a-z/!?][^<>]*>/gi, ' ')
		.replace(/<(?=[a-z/!?])/gi, '< ');
	const line = plain.replace(/\s+/g, ' ').trim();
	return line === '' ? undefined : truncate(line, { length: MAX_LENGTH });
}

/** The title of an HTML page. */
export function titleOf(page: string): string | undefined {
	return /<title[^<>]*>([^<]*)<\/title>/i.exec(page.slice(0, READ_LENGTH))?.[1]?.trim();
}

/**
 * Makes a function that redacts a token in a text, and whatever follows the word Bearer. A text with an encoded token is
 * returned decoded. Case is ignored, as some servers repeat a token in lower case.
 */
export function redactor(token: string): Redact {
	const spellings = spellingsOf(token);
	const pattern = new RegExp(spellings.map(escapeRegExp).join('|') || '(?!)', 'gi');
	return (text) => {
		const plain = text
			.replace(/\bBearer\s+(?=\S*\d)\S{8,}/gi, 'Bearer ***')
			.replace(pattern, '***');
		const decoded = decode(plain);
		// `search` ignores the state of the pattern.
		return decoded.search(pattern) < 0 ? plain : decoded.replace(pattern, '***');
	};
}

/** Keys of the words that a server says of a failure; records in `tasks` also have a name, failed tools an output. */
const WORD_KEYS = /^(?:error|processMsg|embeddingRebuildError)$/;
const MAY_HOLD_WORDS = /"(?:error|processMsg|embeddingRebuildError|tasks|output)"|\\u00[67]/i;

/** How the output of a tool that failed begins. */
const TOOL_ERROR = 'Error: ';

/** How the notes begin that the node stores as the `processMsg` of documents: they are read again as they are. */
export const OWN_NOTE = 'n8n-memory-';

/**
 * Redacts the words of a server in its answer, in place; answers of assistants, documents and titles stay as they are.
 *
 * @param text the answer as received
 */
export function redactWords(answer: unknown, text: string, redact: Redact): void {
	if (MAY_HOLD_WORDS.test(text)) redactBelow(answer, redact);
}

/** Keeps a list of what is left, as an answer may be nested deeper than calls can be. */
function redactBelow(answer: unknown, redact: Redact): void {
	const left = [{ value: answer, parent: '', isWord: false }];
	for (let next = left.pop(); next; next = left.pop()) {
		const { value, parent, isWord } = next;
		if (typeof value !== 'object' || value === null) continue;
		forOwn(value as Record<string, unknown>, (one, key, record) => {
			// Documents have metadata of any form.
			if (key === 'metadata' && !isWord) return;
			const isName = parent === 'tasks' && key === 'name';
			const isOneWord = isWord || isName || WORD_KEYS.test(key);
			if (typeof one !== 'string')
				left.push({ value: one, parent: Array.isArray(value) ? parent : key, isWord: isOneWord });
			else if ((isOneWord && !one.startsWith(OWN_NOTE)) || isToolError(key, one))
				record[key] = redact(one);
		});
	}
}

const isToolError = (key: string, text: string) => key === 'output' && text.startsWith(TOOL_ERROR);

/** A character as JSON, URLs and HTML encode it, also nested. */
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

/** Shorter parts of encoded secrets also occur in ordinary words. */
const MIN_PART_LENGTH = 8;

/**
 * All spellings in which servers may repeat a token: plain, as hexadecimal digits, and as base64, alone or within other
 * text. Encodings of single characters, as in URLs, JSON and HTML, are decoded when redacting.
 */
function spellingsOf(token: string): string[] {
	const bytes = Buffer.from(token);
	const inBase64 = [0, 1, 2].map((before) => {
		const text = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
		// The part that no neighbouring byte changes.
		return text.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3));
	});
	const inAddresses = inBase64.map((part) => part.replace(/\+/g, '-').replace(/\//g, '_'));
	const encoded = [bytes.toString('hex'), ...inBase64, ...inAddresses];
	const parts = encoded.filter(({ length }) => length >= MIN_PART_LENGTH);
	return uniq(compact([token, decode(token), ...parts]));
}
