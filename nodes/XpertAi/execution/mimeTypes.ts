export const DOCUMENT_MIME_TYPES: Record<string, string> = {
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

const PICTURE_EXTENSIONS = ['gif', 'jpeg', 'png', 'webp'];

export const UNKNOWN_MIME_TYPE = 'application/octet-stream';

/** The lower-case extension of a file name; undefined if `DOCUMENT_MIME_TYPES` does not contain the extension. */
export function documentExtension(name: string): string | undefined {
	const extension = extensionOf(name);
	return Object.hasOwn(DOCUMENT_MIME_TYPES, extension) ? extension : undefined;
}

/** Derives the MIME type from a file name. Used for files without a MIME type, e.g. from a Code node. */
export function mimeTypeOf(name = ''): string {
	const extension = extensionOf(name).replace('jpg', 'jpeg');
	if (PICTURE_EXTENSIONS.includes(extension)) return `image/${extension}`;
	// Missing in `DOCUMENT_MIME_TYPES`, because Submit detects the format of old Office files from their content.
	if (extension === 'xls') return 'application/vnd.ms-excel';
	return DOCUMENT_MIME_TYPES[documentExtension(name) ?? ''] ?? UNKNOWN_MIME_TYPE;
}

const extensionOf = (name: string) => /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
