import {
	type BinaryField,
	documentExtension,
	MIME_TYPES,
	UNKNOWN_TYPE,
} from '../../../../execution/binary';
import { isTextHead } from '../../../../execution/fileText';
import { isHtml } from '../../../../transport/answer';

export const OLD_OFFICE =
	'is of an old Office format, or locked with a password: servers cannot read it. Save it as .docx, .xlsx or .pptx, without a password';

const ZIP_FORMATS = ['docx', 'epub', 'pptx', 'xlsx'];

/**
 * Detects the format of a file from its first bytes.
 *
 * @param named the format that the file name and the MIME type give
 * @returns the file extension or OLD_OFFICE; `undefined` if the bytes show no format, or text under a fitting name
 */
export function shownFormat(
	head: Buffer,
	{ extension, isText }: FileType,
	{ binary: { fileName = '', mimeType } }: BinaryField,
): string | undefined {
	const bytes = head.toString('latin1');
	if (bytes.startsWith('\xd0\xcf\x11\xe0')) return OLD_OFFICE;
	const readsAsText = isTextHead(head, mimeType);
	if (/^\s*%PDF-/.test(bytes)) return 'pdf';
	// Some PDFs have extra bytes before `%PDF-`. Text files may mention `%PDF-`.
	if (bytes.includes('%PDF-') && !(isText && readsAsText)) return 'pdf';
	const [, old] = /\.(doc|ppt|xls)$/i.exec(fileName) ?? [];
	const oldAsNew = old && `${old.toLowerCase()}x`;
	if (bytes.startsWith('PK'))
		return [extension, fileType('', mimeType).extension, oldAsNew].find(
			(one) => one !== undefined && ZIP_FORMATS.includes(one),
		);
	// A text that is named like an old Office file, e.g. an HTML page called `report.xls`.
	if (!old || extension !== undefined || !readsAsText) return undefined;
	return isHtml(bytes) ? 'html' : 'txt';
}

/**
 * File extensions of tables. Servers cannot read tables with their own type, so the node sends the type `txt` (see
 * `test/recordings/sheets-as-txt.json`).
 */
const TABLE_TYPES = ['csv', 'tsv', 'xlsx'];

export type FileType = ReturnType<typeof fileType>;

/**
 * Determines the name and the format of a file.
 *
 * @param statedType a MIME type; parameters such as `charset` are ignored
 * @param given the file extension that the user entered as type
 */
export function fileType(name: string, statedType = '', given?: string | null) {
	const essence = (statedType.split(';')[0] ?? '').trim().toLowerCase();
	const ownExtension = documentExtension(name);
	// `findLast` prefers `html` to `htm`, and `md` to `markdown`.
	const extension =
		ownExtension ??
		documentExtension(`.${given}`) ??
		Object.keys(MIME_TYPES).findLast((known) => MIME_TYPES[known] === essence);
	const mimeType = MIME_TYPES[extension ?? ''] ?? (essence || UNKNOWN_TYPE);
	const isText = /^text\/|[/+-](json|xml|yaml|ndjson|jsonl|javascript)$/.test(mimeType);
	const isTable = TABLE_TYPES.includes(extension ?? '');
	return {
		/** The file name, with an extension if the format is known. */
		name: ownExtension === undefined && extension !== undefined ? `${name}.${extension}` : name,
		/** The extension of the format, if known. */
		extension,
		/** The `type` of the record. Tells servers how to read the file. */
		type: isTable ? 'txt' : extension,
		mimeType: isTable && isText ? 'text/plain' : mimeType,
		/** Whether the content is text, in any encoding. */
		isText,
		isTable,
	};
}
