import type { Hash } from 'crypto';
import { pick } from 'lodash';

import { type BinaryField, throwFileIssue, withBinaryHead } from '../../../../execution/binary';
import { DOCUMENT_MIME_TYPES } from '../../../../execution/mimeTypes';
import { NUL } from './fileText';
import type { Item } from '../../../../execution/item';
import type { DocumentRecord } from '../../../../payloads/document';
import { isHtml } from '../../../../transport/unreadable';
import { type FileContent, nonTextContent, textContent } from './fileContent';
import { detectFormat, type FileFormat, fileFormatOf } from './fileFormat';
import type { InputDocument } from './inputDocument';
import { readyRecord } from './readyRecord';

type NamedRecord = DocumentRecord & { name: string };

/** Makes a document whose text is uploaded as a file. */
export function documentFromText(item: Item, given: NamedRecord, text: string): InputDocument {
	// Plain text is valid Markdown.
	const extension = isHtml(text) ? 'html' : 'md';
	const named = fileFormatOf(
		given.name,
		given.mimeType ?? DOCUMENT_MIME_TYPES[extension],
		given.type,
	);
	// A text with a name such as `report.pdf` gets a second extension. Servers would otherwise expect a PDF.
	const isOtherType = named.extension !== undefined && !named.isText;
	const format = isOtherType ? fileFormatOf(`${given.name}.${extension}`) : named;
	const clean = text.replaceAll(NUL, '');
	// Encodes the text only when it is hashed or uploaded, to save memory.
	const read = async () => ({ content: Buffer.from(clean), hadNul: clean !== text, format });
	return fileDocument(item, { size: Buffer.byteLength(clean), ...given }, format, read);
}

/** Makes a document from a binary field. Text is converted to UTF-8, the only encoding that servers read. */
export function binaryDocument(item: Item, given: NamedRecord, field: BinaryField): InputDocument {
	const named = fileFormatOf(given.name, given.mimeType ?? field.binary.mimeType, given.type);
	let reading: ReturnType<typeof readBinary> | undefined;
	// A run may call this twice: for the hash, and for the upload. The second call gets the same result. Content that was
	// not kept is read again while it is uploaded.
	const read = async (hasher?: Hash) =>
		await (reading ??= readBinary(item, given, field, named, hasher));
	return fileDocument(item, given, named, read);
}

/**
 * Reads a stored file, and determines its type by its content.
 *
 * @throws NodeOperationError if the file is empty, or servers cannot read its format. A Type that the user entered
 * allows any format.
 */
async function readBinary(
	item: Item,
	given: NamedRecord,
	field: BinaryField,
	named: FileFormat,
	hasher?: Hash,
): Promise<FileContent & { format: FileFormat }> {
	return await withBinaryHead(item, field, async (head, pieces) => {
		const detected = detectFormat(head, named, field);
		if (detected.isOldOffice && !given.type) throwFileIssue(item, field, OLD_OFFICE_ISSUE);
		const format = formatByContent(given, named, detected.extension);
		const opened = { item, field, pieces };
		const read = format.isText
			? await textContent(opened, given.mimeType ?? field.binary.mimeType, hasher)
			: await nonTextContent(opened, hasher);
		const { content } = read;
		const size = Buffer.isBuffer(content) ? content.length : content.size;
		if (size === 0) throwFileIssue(item, field, 'is empty: nothing could be found in it');
		const isNoWorkbook = format.extension === 'xlsx' && detected.extension !== 'xlsx';
		if (isNoWorkbook && !given.type) throwFileIssue(item, field, NO_WORKBOOK_ISSUE);
		return { ...read, format };
	});
}

/** The type of a file by its content, if the user entered neither a type nor a MIME type. */
function formatByContent(given: NamedRecord, named: FileFormat, detected?: string): FileFormat {
	const isByHand = given.type ?? given.mimeType;
	if (isByHand || detected === undefined || detected === named.extension) return named;
	return fileFormatOf(`${given.name}.${detected}`);
}

const OLD_OFFICE_ISSUE =
	'is of an old Office format, or locked with a password: servers cannot read it. Save it as .docx, .xlsx or .pptx, without a password';

const NO_WORKBOOK_ISSUE =
	'is no .xlsx workbook inside: nothing could be found. Save it as .xlsx again';

/**
 * Makes a document with a file to upload.
 *
 * @param named the format according to the file name and the MIME type
 * @param read reads the content of the file and detects its format
 */
function fileDocument(
	item: Item,
	given: DocumentRecord,
	named: FileFormat,
	read: (hasher?: Hash) => Promise<FileContent & { format: FileFormat }>,
): InputDocument {
	const readyFor = ({ name, type, mimeType, isTable }: FileFormat) =>
		readyRecord(item, {
			...given,
			name,
			// The charset is left out, because texts are uploaded in UTF-8.
			mimeType: (given.mimeType ?? mimeType).replace(/;\s*charset=.*/i, ''),
			type: isTable ? type : (given.type ?? type),
		});
	const { hadNul: recordHadNul, ...ready } = readyFor(named);
	const readFile = async (begun?: Hash) => {
		const { content, hasher, format, hadNul: fileHadNul } = await read(begun);
		// The content may show another format than the name.
		const { record } = format === named ? ready : readyFor(format);
		const recordFields = pick(record, ['name', 'type', 'mimeType']);
		const name = recordFields.name ?? '';
		return {
			name,
			mimeType: format.mimeType,
			content,
			hasher,
			// `recordHadNul` is true or unset.
			hadNul: recordHadNul ?? fileHadNul,
			recordFields,
		};
	};
	return { ...ready, readFile };
}
