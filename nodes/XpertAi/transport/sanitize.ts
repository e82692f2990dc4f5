import escapeRegExp from 'lodash/escapeRegExp';
import memoize from 'lodash/memoize';
import truncate from 'lodash/truncate';

/** Characters of a text that are read: pages of servers and proxies may have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/** Shorter parts of encoded secrets also occur in ordinary words. */
const MIN_PART_LENGTH = 8;

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

/** Redacts secrets in a text, and whatever follows the word Bearer. */
export function withoutSecrets(text: string, secrets: string[]): string {
	const withoutBearer = text.replace(/\bBearer\s+(?=\S*\d)\S{8,}/gi, 'Bearer ***');
	if (secrets.length === 0) return withoutBearer;
	const pattern = patternOf(secrets);
	const plain = withoutBearer.replace(pattern, '***');
	const { decoded, offsets } = decode(plain);
	let result = '';
	let end = 0;
	for (const { 0: found, index } of decoded.matchAll(pattern)) {
		result += `${plain.slice(end, offsets[index])}***`;
		end = offsets[index + found.length] ?? plain.length;
	}
	return result + plain.slice(end);
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

/**
 * Decodes a text.
 *
 * @returns also the offset of each decoded character in the text
 */
function decode(text: string): { decoded: string; offsets: number[] } {
	let decoded = '';
	const offsets: number[] = [];
	let end = 0;
	const addOffsets = (next: number) => {
		for (; end < next; end++) offsets.push(end);
	};
	for (const match of text.matchAll(ENCODED_CHARACTER)) {
		const { index } = match;
		const [encoded, hex, htmlHex, code, entity, escaped] = match;
		decoded += text.slice(end, index);
		addOffsets(index);
		const fromCode = () =>
			String.fromCharCode(code ? Number(code) : parseInt(hex ?? htmlHex ?? '', 16));
		decoded += escaped ?? ENTITIES[entity?.toLowerCase() ?? ''] ?? fromCode();
		offsets.push(index);
		end = index + encoded.length;
	}
	decoded += text.slice(end);
	addOffsets(text.length);
	return { decoded, offsets };
}

/**
 * All spellings in which servers may repeat a token: plain, URL-encoded, as JSON, as hexadecimal digits, and as
 * base64, alone or within other text. Other encodings of single characters are decoded when redacting.
 */
export function spellingsOf(token: string): string[] {
	if (token === '') return [];
	// A lone surrogate, which no token may hold, cannot be URL-encoded.
	const bytes = Buffer.from(token);
	const inBase64 = [0, 1, 2].map((before) => base64Part(bytes, before));
	const encoded = [
		...(bytes.length < MIN_PART_LENGTH ? [] : [bytes.toString('hex')]),
		...inBase64.filter(({ length }) => length >= MIN_PART_LENGTH),
	];
	const spellings = [
		token,
		decode(token).decoded,
		encodeURIComponent(bytes.toString()),
		JSON.stringify(token).slice(1, -1),
		...encoded,
		...encoded.map((part) => part.replace(/\+/g, '-').replace(/\//g, '_')),
	];
	return [...new Set(spellings)];
}

/**
 * The part of a text's base64 that depends on these bytes alone.
 *
 * @param before how many other bytes precede them
 */
function base64Part(bytes: Buffer, before: number): string {
	const bits = 8 * (before + bytes.length);
	const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
	return encoded.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
}

/** Removes tags; any other `<` that could start a tag gets a space after it. */
function withoutMarkup(text: string): string {
	return text.replace(/<[a-z/!?][^<>]*>/gi, ' ').replace(/<(?=[a-z/!?])/gi, '< ');
}
