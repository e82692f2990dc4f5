import truncate from 'lodash/truncate';

/** How much of a text is read: pages of servers and proxies can have any size. */
const READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/** Parts of encoded secrets that are shorter stand in ordinary words as well. */
const SHORTEST_PART = 8;

/**
 * Words of a server as an error or a hint may quote them: one line of plain text of at most 500 characters,
 * without markup, which n8n would render, and without secrets. Takes time in proportion to the length it reads.
 *
 * @param text what the server said
 * @param secrets all ways to write what must not come out (`waysToWrite`)
 * @returns nothing where nothing is left
 */
export function serverWords(text: string, secrets: string[] = []): string | undefined {
	const isCut = text.length > READ_LENGTH;
	const read = withoutSecrets(text.slice(0, READ_LENGTH), secrets);
	// A secret that the cut went through is not known by its start.
	const unknown = isCut ? Math.max(0, ...secrets.map(({ length }) => length)) : 0;
	const plain = withoutMarkup(read.slice(0, read.length - unknown));
	const line = plain.replace(/\s+/g, ' ').trim();
	return line === '' ? undefined : truncate(line, { length: MAX_LENGTH });
}

/** The title of an HTML page. */
export function titleOf(page: string): string | undefined {
	return /<title[^<>]*>([^<]*)<\/title>/i.exec(page.slice(0, READ_LENGTH))?.[1]?.trim();
}

/** Takes secrets out of a text, and whatever else stands behind the word Bearer. */
export function withoutSecrets(text: string, secrets: string[]): string {
	const withoutBearer = text.replace(/\bBearer\s+(?=\S*\d)\S{8,}/gi, 'Bearer ***');
	return secrets.reduce((rest, secret) => rest.split(secret).join('***'), withoutBearer);
}

/**
 * The ways in which servers may repeat a token: as it is, in an address, in JSON, and in base64, alone or
 * in the middle of other words.
 */
export function waysToWrite(token: string): string[] {
	if (token === '') return [];
	// Half a surrogate pair, which no token may hold, cannot be encoded.
	const bytes = Buffer.from(token);
	const inBase64 = [0, 1, 2]
		.map((before) => base64Part(bytes, before))
		.filter(({ length }) => length >= SHORTEST_PART);
	const ways = [
		token,
		encodeURIComponent(bytes.toString()),
		JSON.stringify(token).slice(1, -1),
		...inBase64,
		...inBase64.map((part) => part.replace(/\+/g, '-').replace(/\//g, '_')),
	];
	return [...new Set(ways)];
}

/** What of the base64 of a text that holds the bytes behind `before` others is made of these bytes alone. */
function base64Part(bytes: Buffer, before: number): string {
	const bits = 8 * (before + bytes.length);
	const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64');
	return encoded.slice(Math.ceil((8 * before) / 6), Math.floor(bits / 6));
}

/** Takes tags out; what is left of a `<` that could begin one does not any more. */
function withoutMarkup(text: string): string {
	return text.replace(/<[a-z/!?][^<>]*>/gi, ' ').replace(/<(?=[a-z/!?])/gi, '< ');
}
