import findLastKey from 'lodash/findLastKey';

import { MIME_TYPES, UNKNOWN_TYPE, documentExtension } from '../../../../execution/mimeTypes';

/** Tables: the server fails to read them as sheets, and reads them as text, a workbook row by row (recorded). */
const TABLES = ['csv', 'tsv', 'xlsx'];

/** How a document's file is called and read. */
export interface FileType {
	/** The name with an extension that fits the content. */
	name: string;
	/** The extension; none where none is known. */
	type?: string;
	mimeType: string;
	/** Whether its bytes are text, in whichever encoding. */
	isText: boolean;
	/** Whether it is a table, which is sent as text, because the server cannot read it otherwise. */
	asText: boolean;
}

/**
 * How a file is to be called and read, by its name and the type it is said to be of.
 *
 * @param mimeType what is known of the content, such as a binary field's; parameters of it do not matter
 * @param given the extension it is said to have where its name has none
 */
export function fileType(name: string, mimeType: string, given?: string | null): FileType {
	const said = (mimeType.split(';')[0] ?? '').trim().toLowerCase();
	const own = documentExtension(name);
	// Of two extensions for one type, such as htm and html, the last is the usual one.
	const type =
		own ?? documentExtension(`.${given}`) ?? findLastKey(MIME_TYPES, (known) => known === said);
	const called = {
		name: own === undefined && type !== undefined ? `${name}.${type}` : name,
		mimeType: (type === undefined ? undefined : MIME_TYPES[type]) ?? (said || UNKNOWN_TYPE),
	};
	const isText = /^text\/|[/+-](json|xml|yaml|ndjson|jsonl|javascript)$/.test(called.mimeType);
	if (type === undefined || !TABLES.includes(type))
		return { ...called, type, isText, asText: false };
	const asText = { type: 'txt', asText: true, isText };
	return { ...called, ...asText, ...(isText ? { mimeType: 'text/plain' } : {}) };
}

/** The type of a text: a web page, or Markdown, as which plain text reads well. */
export function textMimeType(text: string): string {
	return /^\s*(<!doctype html|<html)/i.test(text) ? 'text/html' : 'text/markdown';
}
