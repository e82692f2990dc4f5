import isEmpty from 'lodash/isEmpty';
import omit from 'lodash/omit';
import pick from 'lodash/pick';

import { quoted } from '../../../execution/badInput';
import { binaryChunks, uploadFile } from '../../../execution/binary';
import type { BinaryField, Item } from '../../../execution/item';
import { derivedId } from '../../../payloads/derivedId';
import { withTextSplitter } from '../../../ingest/textSplitter';
import { document } from '../../../payloads/document';
import type { DocumentRecord } from '../../../payloads/document';
import { readUrl } from '../../../transport/baseUrl';
import type { UploadFile } from '../../../transport/multipart';
import { documentSettings, nameField } from './fields';
import { fileType, textMimeType } from './fileTypes';
import type { FileType } from './fileTypes';
import type { FoundDocument } from './sources';

const PARSER_SETTINGS = ['chunkSize', 'chunkOverlap', 'delimiter'];

/** Where in a document each setting ends up. */
const SETTINGS_NAMING = {
	fields: [documentSettings, nameField],
	sources: Object.fromEntries(
		(documentSettings.options ?? []).map(({ name }) => [
			PARSER_SETTINGS.includes(name) ? `parserConfig.${name}` : name,
			`${documentSettings.name}.${name}`,
		]),
	),
};

/** The document of an item that is a text. */
export function textDocument(item: Item, owner: string): FoundDocument {
	const text = item.filledText('text');
	item.checkWhole(text, `"${item.labelOf('text')}"`);
	const name = item.filledText('name').trim();
	item.checkWhole(name, `"${item.labelOf('name')}"`);
	const { key, id } = idOf(item, owner, name);
	return { key, ...textFile(item, settingsOf(item), { name, id }, text) };
}

/**
 * A document whose text is uploaded as its file.
 *
 * @param settings what else the document says; its own type and MIME type win
 */
export function textFile(
	item: Item,
	settings: DocumentRecord,
	{ name, id }: { name: string; id?: string },
	text: string,
): Omit<FoundDocument, 'key'> {
	const file = fileType(name, settings.mimeType ?? textMimeType(text));
	const { mimeType } = file;
	return {
		...documentOf(item, file, { id, size: Buffer.byteLength(text), ...settings }),
		file: () => ({ name: file.name, mimeType, content: Buffer.from(text) }),
		contents: () => [text],
	};
}

/** A document that has a file: what is sent of it, and whether that is a table sent as text. */
function documentOf(
	item: Item,
	{ name, type, mimeType, asText }: FileType,
	{ id, ...rest }: DocumentRecord,
): Pick<FoundDocument, 'record' | 'readAsText'> {
	const record = withTextSplitter({
		...(id === undefined ? {} : { id }),
		name,
		...(type === undefined ? {} : { type }),
		mimeType,
		...rest,
	});
	item.checkText(record, SETTINGS_NAMING);
	return { record, ...(asText ? { readAsText: true } : {}) };
}

/** The document of an item that is a file. */
export function fileDocument(item: Item, owner: string): FoundDocument {
	const field = item.binary();
	const { fileName, directory, mimeType } = field.binary;
	const settings = settingsOf(item);
	const given = item.text('name').trim() || fileName || field.property;
	const file = fileType(given, settings.mimeType ?? mimeType);
	const place = [directory, fileName ?? field.property].filter(Boolean).join('/');
	const { key, id } = idOf(item, owner, place);
	return {
		key,
		...documentOf(item, file, { id, ...settings }),
		file: async () => ({
			...(await filledFile(item, field, file.mimeType)),
			name: file.name,
			mimeType: file.mimeType,
		}),
		contents: () => binaryChunks(item, field),
	};
}

/** Bytes of a file that may be nothing but blanks; such files are small. */
const LOOKED_AT_BYTES = 4096;

/**
 * The file of an item, if there is something in it: servers take an empty one, and find nothing in it.
 *
 * @throws NodeOperationError when it is empty, or a text of blanks
 */
async function filledFile(item: Item, field: BinaryField, mimeType: string): Promise<UploadFile> {
	const upload = await uploadFile(item, field);
	const { content } = upload;
	const size = Buffer.isBuffer(content) ? content.length : content.size;
	const mayBeBlank = size <= LOOKED_AT_BYTES && /^text\//.test(mimeType);
	if (size === 0 || (mayBeBlank && (await isBlank(binaryChunks(item, field))))) {
		const demand = `names ${quoted(field.property)}, whose file is empty: nothing could be found in it`;
		throw item.refusal({ subject: `"${field.parameter}"`, demand });
	}
	return upload;
}

async function isBlank(chunks: AsyncIterable<Uint8Array>): Promise<boolean> {
	const pieces: Uint8Array[] = [];
	for await (const chunk of chunks) pieces.push(chunk);
	// Trimming takes a byte order mark for a blank as well.
	return Buffer.concat(pieces).toString().trim() === '';
}

/** The document of an item that is an address the server fetches by itself. */
export function addressDocument(item: Item, owner: string): FoundDocument {
	const url = item.text('url').trim();
	if (!/^https?:\/\/[^/]/i.test(url) || !readUrl(url)) {
		const demand = 'must be a web address such as https://example.com/manual.pdf';
		return item.refuse({ subject: `"${item.labelOf('url')}"`, demand, value: url });
	}
	const { key, id } = idOf(item, owner, url);
	const name = item.text('name').trim() || lastPart(url);
	const record = withTextSplitter({ id, name, fileUrl: url, ...settingsOf(item) });
	item.checkText(record, SETTINGS_NAMING);
	return { key, record };
}

/** The last part of an address's path, or its host where it has none. */
function lastPart(url: string): string {
	const { pathname, hostname } = new URL(url);
	const last = pathname.split('/').filter(Boolean).at(-1);
	if (last === undefined) return hostname;
	try {
		return decodeURIComponent(last);
	} catch {
		return last;
	}
}

/** The key a document is known by, and the id made of it. */
function idOf(item: Item, owner: string, otherwise: string): { key: string; id: string } {
	const key = item.text('documentKey').trim() || otherwise;
	item.checkWhole(key, `"${item.labelOf('documentKey')}"`);
	return { key, id: derivedId(owner, key) };
}

/** What Document Settings say, as the document has it. */
function settingsOf(item: Item): DocumentRecord {
	const { documentSettings: given = {} } = item.values([documentSettings]);
	const settings = given as Record<string, unknown>;
	const parserConfig = pick(settings, PARSER_SETTINGS);
	const rest = omit(settings, PARSER_SETTINGS);
	const made = { ...rest, ...(isEmpty(parserConfig) ? {} : { parserConfig }) };
	return item.check(document, made, SETTINGS_NAMING);
}
