import compact from 'lodash/compact';
import escapeRegExp from 'lodash/escapeRegExp';
import memoize from 'lodash/memoize';
import truncate from 'lodash/truncate';
import uniq from 'lodash/uniq';

/** Characters of a text that are read: pages of servers and proxies may have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/**
 * Sanitizes foreign text for an error or a hint: one line of at most 500 characters, without markup, which n8n would
 * render, and without secrets. Takes time linear in the length it reads.
 *
 * @param text the foreign text
 * @param secrets all spellings of the token (`spellingsOf`)
 * @returns `undefined` if nothing is left
 */
export function sanitize(text: string, secrets: string[] = []): string | undefined {
	// A secret that the limit cuts in two would not be recognized, so a margin is read and dropped.
	const margin = MAX_ENCODED_LENGTH * Math.max(0, ...secrets.map(({ length }) => length));
	const read = withoutSecrets(text.slice(0, READ_LENGTH + margin), secrets);
	const isCut = text.length > READ_LENGTH + margin;
	const plain = withoutMarkup(isCut ? read.slice(0, -margin || undefined) : read);
	const line = plain.replace(/\s+/g, ' ').trim();
	return line === '' ? undefined : truncate(line, { length: MAX_LENGTH });
}

/** The title of an HTML page. */
export function titleOf(page: string): string | undefined {
	return /<title[^<>]*>([^<]*)<\/title>/i.exec(page.slice(0, READ_LENGTH))?.[1]?.trim();
}

/**
 * Redacts secrets in a text, and whatever follows the word Bearer. A text with an encoded secret is returned decoded.
 */
export function withoutSecrets(text: string, secrets: string[]): string {
	const withoutBearer = text.replace(/\bBearer\s+(?=\S*\d)\S{8,}/gi, 'Bearer ***');
	if (secrets.length === 0) return withoutBearer;
	const pattern = patternOf(secrets);
	const plain = withoutBearer.replace(pattern, '***');
	const decoded = decode(plain);
	// `search` ignores the state of the pattern.
	return decoded.search(pattern) < 0 ? plain : decoded.replace(pattern, '***');
}

/** Compiled once per credential. Case is ignored, as some servers repeat a token in lower case. */
const patternOf = memoize(
	(secrets: string[]) => new RegExp(secrets.map(escapeRegExp).join('|'), 'gi'),
);
patternOf.cache = new WeakMap();

/** A character as JSON, URLs and HTML encode it, also nested. */
const ENCODED_CHARACTER =
	/(?:\\{1,4}(?:u00|x)|%(?:25){0,2})([\da-f]{2})|&(?:amp;){0,2}(?:#x0{0,4}([\da-f]{2})|#0{0,4}(\d{2,3})|(amp|lt|gt|quot|apos));|\\{1,4}(["\\/])/gi;

/** The longest match of `ENCODED_CHARACTER`. */
const MAX_ENCODED_LENGTH = 20;

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
export function spellingsOf(token: string): string[] {
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

/** Removes tags; any other `<` that could start a tag gets a space after it. */
function withoutMarkup(text: string): string {
	return text.replace(/<[a-z/!?][^<>]*>/gi, ' ').replace(/<(?=[a-z/!?])/gi, '< ');
}
