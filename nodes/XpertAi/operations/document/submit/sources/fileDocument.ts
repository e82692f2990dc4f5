import type { Hash } from 'crypto';
import { pick } from 'lodash';

import {
	type BinaryField,
	MIME_TYPES,
	openOnce,
	throwFileIssue,
} from '../../../../execution/binary';
import { NUL } from '../../../../execution/fileText';
import type { Item } from '../../../../execution/item';
import type { DocumentRecord } from '../../../../payloads/document';
import { isHtml } from '../../../../transport/answer';
import { type FileContent, otherContent, textContent } from './fileContent';
import { fileType, type FileType, OLD_OFFICE, shownFormat } from './fileType';
import type { FoundDocument } from './found';
import { readyRecord } from './readyRecord';

type Named = DocumentRecord & { name: string };

/** Makes a document whose text is uploaded as a file. */
export function textDocument(item: Item, given: Named, text: string): FoundDocument {
	// Plain text is valid Markdown.
	const extension = isHtml(text) ? 'html' : 'md';
	const named = fileType(given.name, given.mimeType ?? MIME_TYPES[extension], given.type);
	// A text with a name such as `report.pdf` gets a second extension. Servers would otherwise expect a PDF.
	const isOtherType = named.extension !== undefined && !named.isText;
	const file = isOtherType ? fileType(`${given.name}.${extension}`) : named;
	const whole = text.replaceAll(NUL, '');
	// Encodes the text when it is uploaded, to save memory.
	const read = async () => ({ content: Buffer.from(whole), hadNul: whole !== text, file });
	return fileDocument(item, { size: Buffer.byteLength(whole), ...given }, file, read);
}

/** Makes a document from a binary field. Text is converted to UTF-8, the only encoding that servers read. */
export function binaryDocument(item: Item, given: Named, field: BinaryField): FoundDocument {
	const mimeType = given.mimeType ?? field.binary.mimeType;
	const named = fileType(given.name, mimeType, given.type);
	const reject = (issue: string) => throwFileIssue(item, field, issue);
	const readOnce = async (digest?: Hash) =>
		await openOnce(item, field, async (head, pieces) => {
			const shown = shownFormat(head, named, field);
			if (shown === OLD_OFFICE && !given.type) reject(shown);
			const isOther = shown !== undefined && shown !== named.extension;
			const isByHand = given.type ?? given.mimeType;
			const file = isOther && !isByHand ? fileType(`${given.name}.${shown}`) : named;
			const opened = { item, field, pieces };
			const read = file.isText
				? await textContent(opened, mimeType, digest)
				: await otherContent(opened, digest);
			const { content } = read;
			const size = Buffer.isBuffer(content) ? content.length : content.size;
			if (size === 0) reject('is empty: nothing could be found in it');
			if (file.extension === 'xlsx' && shown !== 'xlsx' && !given.type) reject(NO_WORKBOOK);
			return { ...read, file };
		});
	let reading: ReturnType<typeof readOnce> | undefined;
	return fileDocument(item, given, named, async (digest) => await (reading ??= readOnce(digest)));
}

const NO_WORKBOOK = 'is no .xlsx workbook inside: nothing could be found. Save it as .xlsx again';

/**
 * Makes a document with a file to upload.
 *
 * @param named the format according to the file name and the MIME type
 * @param read reads the content of the file and detects its format
 */
function fileDocument(
	item: Item,
	given: DocumentRecord,
	named: FileType,
	read: (digest?: Hash) => Promise<FileContent & { file: FileType }>,
): FoundDocument {
	const recordOf = ({ name, type, mimeType, isTable }: FileType) =>
		readyRecord(item, {
			...given,
			name,
			// The charset is left out, because texts are uploaded in UTF-8.
			mimeType: (given.mimeType ?? mimeType).replace(/;\s*charset=.*/i, ''),
			type: isTable ? type : (given.type ?? type),
		});
	const { hadNul, ...ready } = recordOf(named);
	const readFile = async (given?: Hash) => {
		const { content, digest, file, hadNul: fileHadNul } = await read(given);
		const { record } = file === named ? ready : recordOf(file);
		const fields = pick(record, ['name', 'type', 'mimeType']);
		const name = fields.name ?? '';
		return { name, mimeType: file.mimeType, content, digest, hadNul: hadNul ?? fileHadNul, fields };
	};
	return { ...ready, file: readFile };
}
