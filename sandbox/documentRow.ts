import { createHash } from 'node:crypto';
import { extname } from 'node:path';
import { isEqual, pick } from 'lodash';
import { DOCUMENT_COLUMNS, OWNED, type Knowledgebase, type StoredDocument } from './entities';
import { badRequest, internal, noDate, notFound, tooLong, unreadable } from './errors';
import type { Store } from './store';
import { asObject, isUuid, type Loose } from './values';

const SOURCE_TYPE_LENGTH = 20;
const SPLITTER = 'recursive-character';
const SENT = ['id', 'sourceKey', 'sourceHash', ...DOCUMENT_COLUMNS];

/** Columns that processing writes: left out, they do not make a document another one. */
const OF_PROCESSING = ['status', 'progress', 'processMsg', 'jobId', 'chunkNum', 'tokenNum'];

const COMPARED = [
	'knowledgebaseId',
	'category',
	'parserConfig',
	'folder',
	'parentId',
	...SENT.filter((column) => !OF_PROCESSING.includes(column)),
];

/** Types whose documents are tables. */
const SHEETS = ['csv', 'xls', 'xlsx', 'ods'];

const isWhole = (text: string) => /^\s*-?\d+\s*$/.test(text);
const isNumber = (text: string) => text.trim() !== '' && !Number.isNaN(Number(text));

/** Columns the database reads strictly; all others take anything (`E03` "size text"). */
const STRICT: Record<string, (text: string) => boolean> = {
	tokenNum: isWhole,
	chunkNum: isWhole,
	progress: isNumber,
	processDuation: isNumber,
	processDuration: isNumber,
	disabled: (text) => /^(true|false|t|f|1|0|yes|no|on|off)$/i.test(text),
};

/** Refuses what the database cannot read in a column. */
export function checkColumns(row: Loose): void {
	for (const [column, reads] of Object.entries(STRICT)) {
		const value = row[column] ?? undefined;
		if (value !== undefined && !reads(String(value))) throw unreadable();
	}
	const begun = row.processBeginAt ?? undefined;
	if (begun !== undefined && Number.isNaN(Date.parse(String(begun)))) throw noDate();
	if (typeof row.sourceType === 'string' && row.sourceType.length > SOURCE_TYPE_LENGTH) {
		throw tooLong();
	}
}

/** Refuses the id of a file that is not there, and ids that are none. */
export function checkReferences({ files }: Store, sent: Loose): void {
	if (sent.storageFileId !== undefined && sent.storageFileId !== null) {
		if (!isUuid(sent.storageFileId)) throw internal();
		if (!files.has(sent.storageFileId)) throw notFound();
	}
	if (sent.id !== undefined && sent.id !== null && !isUuid(sent.id)) {
		throw unreadable();
	}
}

/** A document with what the server takes from its uploaded file: type and MIME type, unless these are sent. */
export function withFile({ files }: Store, sent: Loose): Loose {
	const file = isUuid(sent.storageFileId) ? files.get(sent.storageFileId) : undefined;
	if (file === undefined) return sent;
	const type = extname(file.originalName).slice(1).toLowerCase() || undefined;
	return {
		...sent,
		type: sent.type ?? type,
		mimeType: sent.mimeType ?? file.mimetype,
	};
}

/** What the server adds to the parser settings by the type of a document (`files-processed` "store all"). */
const BY_TYPE: Record<string, Loose> = {
	docx: { imageUnderstandingType: 'vlm-default' },
	pdf: {
		imageUnderstandingType: 'vlm-default',
		transformerType: 'pdf-visual',
		transformer: { renderPageImages: true, maxPages: 300, renderScale: 2 },
	},
};

/** The parser settings the server completes; only an object is taken (`E03` "parserConfig string"). */
function parserConfig(sent: unknown, type: string): Loose {
	if (sent === undefined && SHEETS.includes(type)) return {};
	const given = asObject(sent);
	const splitter = given.textSplitterType ?? SPLITTER;
	if (splitter === 'parent-child') {
		throw badRequest(
			'Inconsistent chunk structure between knowledgebase (general) and document (parent-child)',
		);
	}
	if (splitter !== SPLITTER) throw internal();
	return {
		textSplitterType: SPLITTER,
		textSplitter: { chunkSize: 1000, chunkOverlap: 200, separators: '\\n\\n,\\n, ,' },
		transformerType: 'default',
		...BY_TYPE[type],
		...given,
	};
}

/** Where a document comes from, by the first of its addresses there is. */
function sourceKeyOf({ filePath, fileUrl, storageFileId, sourceType }: Loose): string | null {
	const source = filePath || fileUrl || storageFileId;
	return source ? `${String(sourceType ?? 'unknown')}:${String(source)}` : null;
}

const hash = (...parts: unknown[]) =>
	createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/**
 * What of a document sent belongs to its row.
 *
 * @param asked the type as it was sent, without what the server takes from the file: the parser settings go by it
 */
export function rowOf(sent: Loose, id: string, owner: Knowledgebase, asked: unknown): Loose {
	const config = parserConfig(sent.parserConfig, String(asked));
	const { filePath, sourceType, fileUrl, storageFileId, type, mimeType } = sent;
	return {
		...OWNED,
		sourceKey: sourceKeyOf(sent),
		sourceHash: null,
		processingHash: hash(filePath, sourceType, fileUrl, storageFileId, type, mimeType, config),
		category: SHEETS.includes(String(type)) ? 'sheet' : 'text',
		...pick(sent, SENT),
		id,
		parserConfig: config,
		knowledgebaseId: owner.id,
	};
}

/**
 * Whether a document sent again is another one. If not, nothing happens: it stays processed, for instance. One with a
 * size always is: the database gives its number as text (`version` "write 2, the same content").
 */
export function isChanged(row: Loose, sent: Loose, before: StoredDocument): boolean {
	const asked = OF_PROCESSING.filter((column) => sent[column] !== undefined);
	const given = typeof sent.version === 'number' && sent.version !== before.version;
	return (
		given ||
		typeof sent.size === 'number' ||
		[...COMPARED, ...asked].some((column) => !isEqual(row[column] ?? null, before[column] ?? null))
	);
}

/** An existing document is replaced and its version goes on; one that is new or has a file is written twice. */
export function versionOf(sent: Loose, before: StoredDocument | undefined): number {
	const given = typeof sent.version === 'number' ? sent.version : undefined;
	if (before === undefined) return (given ?? 1) + 1;
	return given ?? before.version + (isUuid(sent.storageFileId) ? 2 : 1);
}
