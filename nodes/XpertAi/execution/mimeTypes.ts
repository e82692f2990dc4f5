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
	xls: 'application/vnd.ms-excel',
	xlsx: 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
	xml: 'application/xml',
};

/** File extensions of pictures, which users attach to messages. */
const PICTURES = ['gif', 'jpeg', 'jpg', 'png', 'webp'];

/** The MIME type of an unknown file. */
export const UNKNOWN_TYPE = 'application/octet-stream';

/** The file extension of a name, if it is that of a document. */
export function documentExtension(name: string): string | undefined {
	const extension = extensionOf(name);
	return Object.hasOwn(MIME_TYPES, extension) ? extension : undefined;
}

/** The MIME type for a file without one, as Code nodes make them. */
export function mimeTypeOf(name = ''): string {
	const extension = extensionOf(name);
	if (PICTURES.includes(extension)) return `image/${extension.replace('jpg', 'jpeg')}`;
	return MIME_TYPES[documentExtension(name) ?? ''] ?? UNKNOWN_TYPE;
}

function extensionOf(name: string): string {
	return /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? '';
}
