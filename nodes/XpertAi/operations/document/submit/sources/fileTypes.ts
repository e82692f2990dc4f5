import findLastKey from 'lodash/findLastKey';

/** Kinds of files the server reads, by the extension of their name, which chooses its parser. */
const MIME_TYPES: Record<string, string> = {
	csv: 'text/csv',
	docx: 'application/vnd.openxmlformats-officedocument.wordprocessingml.document',
	epub: 'application/epub+zip',
	htm: 'text/html',
	html: 'text/html',
	json: 'application/json',
	markdown: 'text/markdown',
	md: 'text/markdown',
	pdf: 'application/pdf',
	pptx: 'application/vnd.openxmlformats-officedocument.presentationml.presentation',
	tsv: 'text/tab-separated-values',
	txt: 'text/plain',
	xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
	xml: 'application/xml',
};

/** Tables in plain text: the server fails to read them as sheets, and reads them as text (recorded). */
const PLAIN_TABLES = ['csv', 'tsv'];

/** How a document's file is called and read. */
export interface FileType {
	/** The name with an extension that fits the content. */
	name: string;
	/** The extension; none where none is known. */
	type?: string;
	mimeType: string;
	/** Whether a table is sent as text, because the server cannot read it otherwise. */
	asText: boolean;
}

/**
 * How a file is to be called and read, by its name and the type it is said to be of.
 *
 * @param mimeType what is known of the content, such as a binary field's; parameters of it do not matter
 */
export function fileType(name: string, mimeType: string): FileType {
	const said = (mimeType.split(';')[0] ?? '').trim().toLowerCase();
	const own = extensionOf(name);
	// Of two extensions for one type, such as htm and html, the last is the usual one.
	const type = own ?? findLastKey(MIME_TYPES, (known) => known === said);
	const named = own === undefined && type !== undefined ? `${name}.${type}` : name;
	if (type !== undefined && PLAIN_TABLES.includes(type))
		return { name: named, type: 'txt', mimeType: 'text/plain', asText: true };
	const known = type === undefined ? undefined : MIME_TYPES[type];
	return {
		name: named,
		type,
		mimeType: known ?? (said || 'application/octet-stream'),
		asText: false,
	};
}

/** The type of a text: a web page, or Markdown, as which plain text reads well. */
export function textMimeType(text: string): string {
	return /^\s*(<!doctype html|<html)/i.test(text) ? 'text/html' : 'text/markdown';
}

function extensionOf(name: string): string | undefined {
	const extension = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase();
	return extension !== undefined && Object.hasOwn(MIME_TYPES, extension) ? extension : undefined;
}
