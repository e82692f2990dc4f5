/** MIME types of documents by file extension. */
export const MIME_TYPES: Record<string, string> = {
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

/** MIME types of other files, such as pictures, which users attach to messages. */
const OTHER_TYPES: Record<string, string> = {
	gif: 'image/gif',
	jpeg: 'image/jpeg',
	jpg: 'image/jpeg',
	png: 'image/png',
	webp: 'image/webp',
	xls: 'application/vnd.ms-excel',
};

/** A Map, as the extension `constructor` is a key of every object. */
const ALL_TYPES = new Map(Object.entries({ ...MIME_TYPES, ...OTHER_TYPES }));

/** The MIME type of an unknown file. */
export const UNKNOWN_TYPE = 'application/octet-stream';

/** The file extension of a name, if it is that of a document. */
export function documentExtension(name: string): string | undefined {
	const extension = extensionOf(name);
	return Object.hasOwn(MIME_TYPES, extension) ? extension : undefined;
}

/** The MIME type for a file without one, as Code nodes make them. */
export function mimeTypeOf(name = ''): string {
	return ALL_TYPES.get(extensionOf(name)) ?? UNKNOWN_TYPE;
}

function extensionOf(name: string): string {
	return /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}
