import attempt from 'lodash/attempt';
import cloneDeep from 'lodash/cloneDeep';
import compact from 'lodash/compact';
import get from 'lodash/get';
import has from 'lodash/has';
import identity from 'lodash/identity';
import isEmpty from 'lodash/isEmpty';
import isNil from 'lodash/isNil';
import omit from 'lodash/omit';
import unset from 'lodash/unset';
import { z } from 'zod';

import { quoted, type Naming } from '../../../../execution/inputIssues';
import { textChunks } from '../../../../execution/binary';
import type { Item } from '../../../../execution/item';
import { checkedKey, keyIfGiven, textIfGiven } from '../../../../execution/keys';
import type { ItemError } from '../../../../execution/outputs';
import { isFilled, isNothing } from '../../../../execution/rawParameters';
import { jsonRecords } from '../../../../ingest/jsonRecords';
import {
	documentList,
	documentWith,
	isDocumentField,
	unsignedAddress,
	type DocumentRecord,
} from '../../../../payloads/document';
import { isJsonObject } from '../../../../transport/answer';
import { SOURCES, type SourceValue } from './index';
import { DOCUMENT_NAMING, documentFromFields, mapColumns } from './mapping';
import {
	binaryDocument,
	readyRecord,
	refusedKeys,
	settingsOf,
	textDocument,
	type FoundDocument,
} from './sourceDocument';

/** The documents of an item; streamed, with the flaws of some, where they are too many to hold at once. */
export type SourceDocuments = FoundDocument[] | AsyncIterable<FoundDocument | ItemError>;

const sourceValue = z.enum(Object.keys(SOURCES) as [SourceValue, ...SourceValue[]]);

const READERS: Record<SourceValue, (item: Item) => SourceDocuments> = {
	text: (item) => readKeyed(item, readText, nameOfText, `"${item.labelOf(NAME)}"`),
	files: (item) => readKeyed(item, readFile, pathOfFile, 'The name of the file'),
	addresses: (item) => readKeyed(item, readAddress, stableAddress, `"${item.labelOf('url')}"`),
	fields: (item) => readKeyed(item, readFields),
	json: readJson,
	records: readRecords,
};

/**
 * Reads the documents of an item, in their order, by its source (Documents From).
 *
 * @throws NodeOperationError naming the field, the item and what is expected
 */
export function readDocuments(item: Item): SourceDocuments {
	return READERS[item.setting('source', sourceValue)](item);
}

/**
 * Reads the document of an item, and its key. One that is refused although it has a key is told from one without.
 *
 * @param defaultKey gives the key if none is set
 * @param field what the default key is called in messages
 */
function readKeyed(
	item: Item,
	read: (item: Item) => FoundDocument,
	defaultKey?: (item: Item) => string,
	field = '',
): FoundDocument[] {
	const readKey = () => keyGiven(item) ?? (defaultKey && checkedKey(item, defaultKey(item), field));
	try {
		const version = versionOf(item.text('documentSettings.documentVersion'));
		return [{ ...read(item), key: readKey(), version }];
	} catch (caught) {
		const key: unknown = attempt(readKey);
		const flaw = item.asError(caught);
		if (typeof key === 'string') refusedKeys.set(flaw, key);
		throw flaw;
	}
}

/** A document whose numeric ID serves as its key: it is sent as text, if at all. */
const withTextId = (one: unknown) =>
	isJsonObject(one) && typeof one.id === 'number' ? { ...one, id: String(one.id) } : one;

/**
 * How the documents of an item get their keys (Key Field) and versions (Version Field). Without a key, they keep their
 * own IDs; a version is compared, and not sent.
 *
 * @throws NodeOperationError if a path cannot be read
 */
export function identification(item: Item) {
	const path = textIfGiven(item, 'documentKeyField');
	const versionPath = textIfGiven(item, 'documentSettings.documentVersionField');
	const keyOf = (record: DocumentRecord, position?: string) => {
		if (path === undefined) return undefined;
		const key = ownValue(record, path);
		const field = compact([position, `"${item.labelOf('documentKeyField')}"`]).join(': ');
		if (isText(key) || typeof key === 'number') return checkedKey(item, key, field);
		const rule = `names ${quoted(path)}, which this document does not have`;
		return item.refuse({ field, rule });
	};
	return {
		/** Applied to a document before it is checked. */
		prepare: path === undefined ? identity : withTextId,
		/**
		 * Gives a document its key and its version.
		 *
		 * @param position where the document is, for messages, if the item has several
		 * @throws NodeOperationError if the document lacks its key
		 */
		identify(given: DocumentRecord, position?: string): FoundDocument {
			const key = keyOf(given, position);
			// The ID is derived from the key.
			const record = key === undefined ? given : { ...given, id: undefined };
			if (versionPath === undefined) return { record, key };
			const version = versionOf(ownValue(record, versionPath));
			return { record: omit(record, versionPath), key, version };
		},
	};
}

/** The version of a document, if a value is one. */
export const versionOf = (value: unknown): string | undefined =>
	isText(value) || typeof value === 'number' ? String(value).trim() : undefined;

/** Whether a value is a text that is not blank. */
const isText = (value: unknown): value is string =>
	typeof value === 'string' && value.trim() !== '';

/** The value at a path of a document's own keys; inherited keys such as `constructor` do not count. */
function ownValue(record: DocumentRecord, path: string): unknown {
	return has(record, path) ? get(record, path) : undefined;
}

const FILES_MEANT = 'must not be empty. The items hold files: set Documents From to Files';

function readText(item: Item): FoundDocument {
	if (item.hasFile && isNothing(item.resolved('text', ''))) item.refuseField('text', FILES_MEANT);
	const text = item.filledText('text');
	item.checkWhole(text, `"${item.labelOf('text')}"`);
	const name = nameOfText(item);
	item.checkWhole(name, `"${item.labelOf(NAME)}"`);
	return textDocument(item, { ...settingsOf(item), name }, text);
}

const NAME = 'documentSettings.name';
const NAME_RULE = 'must be given, as the item has no name and no title';
const NAME_FIX = 'Add "Name" in Document Settings.';

/** The name of a document made of a text: the given one or, in its item, that of one of the usual columns. */
function nameOfText(item: Item): string {
	if (isFilled(item.context.getNode(), NAME)) return item.filledText(NAME).trim();
	const { name } = mapColumns(item.json).fields;
	const text = isNil(name) ? '' : String(name).trim();
	const field = `"${item.labelOf(NAME)}"`;
	return text || item.refuse({ field, rule: NAME_RULE, fix: NAME_FIX });
}

const keyGiven = (item: Item) => keyIfGiven(item, 'documentKey');

function readFile(item: Item): FoundDocument {
	const field = item.binary();
	const { fileName, directory = '' } = field.binary;
	const name = item.text(NAME).trim() || fileName || field.property;
	const settings = settingsOf(item, directory);
	return binaryDocument(item, { ...settings, name }, field);
}

function pathOfFile(item: Item): string {
	const { binary, property } = item.binary();
	return compact([binary.directory, binary.fileName || property]).join('/');
}

function readAddress(item: Item): FoundDocument {
	const url = item.text('url').trim();
	if (!/^https?:\/\/[^/]/i.test(url) || !URL.canParse(url))
		item.refuseField('url', NO_ADDRESS, url);
	const name = item.text(NAME).trim() || lastPart(new URL(url));
	return readyRecord(item, { name, fileUrl: url, ...settingsOf(item) });
}

const NO_ADDRESS = 'must be a web address such as https://example.com/manual.pdf';

const stableAddress = (item: Item) => unsignedAddress(item.text('url').trim());

/** The last part of the path of an address, or its host if the path is empty. */
function lastPart({ pathname, hostname }: URL): string {
	const last = pathname.split('/').filter(Boolean).at(-1);
	if (last === undefined) return hostname;
	const decoded = attempt(decodeURIComponent, last);
	return typeof decoded === 'string' ? decoded : last;
}

function readFields(item: Item): FoundDocument {
	const key = keyGiven(item);
	const prepare = key === undefined ? identity : withTextId;
	const { record, unusedColumns } = documentFromFields(item, prepare);
	const found = jsonDocument(item, { record, key }, DOCUMENT_NAMING);
	if (!isEmptyDocument(found)) return { ...found, unusedColumns };
	const columns = Object.keys(item.json);
	const inItem = columns.length > 0 ? `; the item has ${columns.slice(0, 5).join(', ')}` : '';
	const rule = `must give the document a name, a text, a page, a chunk, a file ID or an address${inItem}`;
	return item.refuseField('documentFields', rule);
}

/** Whether nothing was mapped: with none of these fields, the server would store an empty row. */
function isEmptyDocument({ record, key }: FoundDocument): boolean {
	const { id, name, pages, chunks, storageFileId, fileUrl, filePath, disabled } = record;
	if (name || fileUrl || filePath || storageFileId) return false;
	if (!isEmpty(pages) || !isEmpty(chunks)) return false;
	// On Xpert, a document with only its ID and `disabled` is disabled or enabled.
	return !((id || key) && typeof disabled === 'boolean');
}

function readJson(item: Item): FoundDocument[] {
	const { prepare, identify } = identification(item);
	const records = item.jsonBody(documentList(prepare));
	const parameter = item.labelOf('jsonBody');
	const [only] = records.length === 1 ? records : [];
	if (only) refuseWrapped(item, `"${parameter}"`, only);
	return records.map((record, index) => {
		const position = records.length > 1 ? `Document ${index + 1} of "${parameter}"` : undefined;
		return jsonDocument(item, identify(record, position), { parameter });
	});
}

/** A document that an item gives as JSON or fields. */
function jsonDocument(item: Item, identified: FoundDocument, naming: Naming): FoundDocument {
	return { ...identified, ...readyRecord(item, identified.record, naming) };
}

/** Reads the documents of a file of records, one at a time. */
async function* readRecords(item: Item): AsyncGenerator<FoundDocument | ItemError> {
	const field = item.binary();
	const { parameter } = field;
	const { prepare, identify } = identification(item);
	const textField = textIfGiven(item, 'textField') ?? '';
	for await (const read of jsonRecords(textChunks(item, field))) {
		const { position } = read;
		let key: string | undefined;
		try {
			if ('flaw' in read) item.refuse({ field: position, rule: read.flaw });
			const record = item.check(documentWith(read.value), prepare(read.value), {
				parameter: position,
			});
			if (read.isWholeFile) refuseWrapped(item, 'The file', record, textField);
			const identified = identify(record, position);
			({ key } = identified);
			yield textField === ''
				? jsonDocument(item, identified, { parameter })
				: withText(item, identified, textField, position, field.binary.fileName);
		} catch (caught) {
			const flaw = item.asError(caught);
			flaw.description = RECORD_LEFT_OUT;
			if (key !== undefined) refusedKeys.set(flaw, key);
			yield flaw;
		}
	}
}

const RECORD_LEFT_OUT =
	'This record was not sent. Correct it in the file, then run the node again.';

/** Refuses an object that is no document itself, if it holds objects in its only list. */
function refuseWrapped(item: Item, field: string, record: DocumentRecord, textField = ''): void {
	const { name, id, fileUrl, filePath, storageFileId } = record;
	if (name || id || fileUrl || filePath || storageFileId || has(record, textField)) return;
	const [[list = '', documents] = [], ...others] = Object.entries(record).filter(([, inside]) =>
		Array.isArray(inside),
	);
	const isWrapped = others.length === 0 && list !== '' && !isDocumentField(list);
	if (!isWrapped || !(documents as unknown[]).every(isJsonObject)) return;
	const rule = `is one object whose list ${quoted(list)} holds the documents: give that list alone`;
	item.refuse({ field, rule });
}

/** A document whose text, at `path` in its record, is uploaded as a file. */
function withText(
	item: Item,
	found: FoundDocument,
	path: string,
	position: string,
	fileName?: string,
): FoundDocument {
	const text = ownValue(found.record, path);
	const field = `${position}: "${item.labelOf('textField')}"`;
	if (!isText(text))
		return item.refuse({ field, rule: `names ${quoted(path)}, which holds no text here` });
	item.checkWhole(text, field);
	const rest = cloneDeep(found.record);
	unset(rest, path);
	const { name } = rest;
	// The default name contains the file's name: records of several files would otherwise have the same name.
	const defaultName = fileName
		? `${fileName}, ${position.replace(' of the file', '').toLowerCase()}`
		: position;
	const title = isText(name) ? name : defaultName;
	return { ...found, ...textDocument(item, { ...rest, name: title }, text) };
}
