import { truncate } from 'lodash';

/** The maximum number of characters that are read from a text. Error pages can have any size. */
const MAX_READ_LENGTH = 16 * 1024;

const MAX_LENGTH = 500;

/**
 * Sanitizes text from a server for an error or a hint. The result is one line of at most 500 characters. It has no
 * markup, because n8n would render markup. Does not redact the token (see `redactor`).
 *
 * @returns `undefined` if no text remains
 */
export function sanitizedLine(text: string): string | undefined {
	// Removes tags. Makes incomplete tags harmless with a space after `<`.
	const plain = text
		.slice(0, MAX_READ_LENGTH)
		.replace(/<[a-z/!?][^<>]*>/gi, ' ')
		.replace(/<(?=[a-z/!?])/gi, '< ');
	const line = plain.replace(/\s+/g, ' ').trim();
	return line === '' ? undefined : truncate(line, { length: MAX_LENGTH });
}

/** Returns the title of an HTML page, if any. */
export const htmlTitleOf = (page: string): string | undefined =>
	/<title[^<>]*>([^<]*)<\/title>/i.exec(page.slice(0, MAX_READ_LENGTH))?.[1]?.trim();
