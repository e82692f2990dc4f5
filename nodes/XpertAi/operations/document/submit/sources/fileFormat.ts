import { compact } from 'lodash';

import type { BinaryField } from '../../../../execution/binary';
import {
	DOCUMENT_MIME_TYPES,
	documentExtension,
	UNKNOWN_MIME_TYPE,
} from '../../../../execution/mimeTypes';
import { isTextHead } from './fileText';
import { isHtml } from '../../../../transport/unreadable';

const ZIP_FORMATS = ['docx', 'epub', 'pptx', 'xlsx'];

/** The format that the first bytes of a file show. `extension` is unset if they show none. */
export interface DetectedFormat {
	extension?: string;
	/** Whether it is an old Office format. Servers cannot read such files. */
	isOldOffice?: boolean;
}

/**
 * Detects the format of a file from its first bytes. Detects no text formats, unless the name is that of an old Office
 * file.
 *
 * @param named the format that the file name and the MIME type give
 */
export function detectFormat(
	head: Buffer,
	named: FileFormat,
	{ binary: { fileName = '', mimeType } }: BinaryField,
): DetectedFormat {
	const bytes = head.toString('latin1');
	if (bytes.startsWith('\xd0\xcf\x11\xe0')) return { isOldOffice: true };
	const readsAsText = isTextHead(head, mimeType);
	if (/^\s*%PDF-/.test(bytes)) return { extension: 'pdf' };
	// Some PDFs have extra bytes before `%PDF-`. Text files may mention `%PDF-`.
	if (bytes.includes('%PDF-') && !(named.isText && readsAsText)) return { extension: 'pdf' };
	const [, oldExtension] = /\.(doc|ppt|xls)$/i.exec(fileName) ?? [];
	// All `ZIP_FORMATS` begin as a ZIP file, so the name or the MIME type must tell which one it is.
	if (bytes.startsWith('PK')) {
		const newExtension = oldExtension && `${oldExtension.toLowerCase()}x`;
		const likely = compact([named.extension, fileFormatOf('', mimeType).extension, newExtension]);
		return { extension: likely.find((one) => ZIP_FORMATS.includes(one)) };
	}
	// A text that is named like an old Office file, e.g. an HTML page called `report.xls`.
	const isTextInOldName = oldExtension && named.extension === undefined && readsAsText;
	return isTextInOldName ? { extension: isHtml(bytes) ? 'html' : 'txt' } : {};
}

/**
 * File extensions of tables. Servers cannot read tables with their own type, so the node sends the type `txt` (see
 * `test/recordings/sheets-as-txt.json`).
 */
const TABLE_EXTENSIONS = ['csv', 'tsv', 'xlsx'];

export type FileFormat = ReturnType<typeof fileFormatOf>;

/**
 * Determines the name and the format of a file. The extension in `name` comes first, then `given`, then the MIME type.
 *
 * @param statedType a MIME type; parameters such as `charset` are ignored
 * @param given the file extension that the user entered as type
 */
export function fileFormatOf(name: string, statedType = '', given?: string | null) {
	const essence = (statedType.split(';')[0] ?? '').trim().toLowerCase();
	const ownExtension = documentExtension(name);
	// If `given` is unset, the text is `.undefined` or `.null`. Neither is a known extension, so the MIME type decides.
	// `findLast` prefers `html` to `htm`, and `md` to `markdown`.
	const extension =
		ownExtension ??
		documentExtension(`.${given}`) ??
		Object.keys(DOCUMENT_MIME_TYPES).findLast((known) => DOCUMENT_MIME_TYPES[known] === essence);
	const mimeType = DOCUMENT_MIME_TYPES[extension ?? ''] ?? (essence || UNKNOWN_MIME_TYPE);
	const isText = /^text\/|[/+-](json|xml|yaml|ndjson|jsonl|javascript)$/.test(mimeType);
	const isTable = TABLE_EXTENSIONS.includes(extension ?? '');
	return {
		/** The file name, with an extension if the format is known. */
		name: ownExtension === undefined && extension !== undefined ? `${name}.${extension}` : name,
		/** The extension of the format, if known. */
		extension,
		/** The `type` of the record. Tells servers how to read the file. */
		type: isTable ? 'txt' : extension,
		mimeType: isTable && isText ? 'text/plain' : mimeType,
		/** Whether the MIME type is that of a text. */
		isText,
		isTable,
	};
}
