import { createHash, randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isEqual, omit, pick } from 'lodash';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import { insertInto, selectById, tooLong, unreadable, type ColumnKind } from '../databaseErrors';
import {
	AUTHORS,
	DOCUMENT_COLUMNS,
	OWNED,
	PASSAGE_DEFAULTS,
	TENANCY,
	type Knowledgebase,
	type Passage,
	type StoredDocument,
} from '../entities';
import { badRequest, internal, notFound } from '../errors';
import { asObject, isObject, isUuid, type Loose } from '../values';
import { knowledgebase } from './knowledgebases';

const TABLE = 'knowledge_document';
const SOURCE_TYPE_LENGTH = 20;
const SPLITTER = 'recursive-character';
const SENT = ['id', 'folder', 'sourceKey', 'sourceHash', ...DOCUMENT_COLUMNS];

/** Columns the database reads strictly; all others take anything (`E03` "size text"). */
const STRICT: Array<[column: string, kind: ColumnKind, reads: (text: string) => boolean]> = [
	['tokenNum', 'integer', (text) => /^\s*-?\d+\s*$/.test(text)],
	['chunkNum', 'integer', (text) => /^\s*-?\d+\s*$/.test(text)],
	['progress', 'decimal', (text) => text.trim() !== '' && !Number.isNaN(Number(text))],
	['processDuation', 'decimal', (text) => text.trim() !== '' && !Number.isNaN(Number(text))],
	['processDuration', 'decimal', (text) => text.trim() !== '' && !Number.isNaN(Number(text))],
	['disabled', 'boolean', (text) => /^(true|false|t|f|1|0|yes|no|on|off)$/i.test(text)],
	['processBeginAt', 'date', (text) => !Number.isNaN(Date.parse(text))],
];

function checkColumns(row: Loose): void {
	for (const [column, kind, reads] of STRICT) {
		const value = row[column];
		if (value === undefined || value === null || reads(String(value))) continue;
		throw unreadable(insertInto(TABLE, row), kind, value);
	}
	if (typeof row.sourceType === 'string' && row.sourceType.length > SOURCE_TYPE_LENGTH) {
		throw tooLong(insertInto(TABLE, row));
	}
}

function checkReferences({ context }: Call, sent: Loose): void {
	if (sent.storageFileId !== undefined && sent.storageFileId !== null) {
		if (!isUuid(sent.storageFileId)) throw internal();
		if (!context.store.files.has(sent.storageFileId)) throw notFound();
	}
	if (sent.id !== undefined && sent.id !== null && !isUuid(sent.id)) {
		throw unreadable(selectById(TABLE, sent.id), 'uuid', sent.id);
	}
}

/** The parser settings the server completes; only an object is taken (`E03` "parserConfig string"). */
function parserConfig(sent: unknown): Loose {
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
		...given,
	};
}

const passages = (sent: unknown, documentId: string, now: string, extra: Loose): Passage[] =>
	(Array.isArray(sent) ? sent : []).map((passage) => ({
		...PASSAGE_DEFAULTS,
		...extra,
		...asObject(passage),
		documentId,
		id: isUuid(asObject(passage).id) ? String(asObject(passage).id) : randomUUID(),
		createdAt: now,
		updatedAt: now,
	}));

const hash = (...parts: unknown[]) =>
	createHash('sha256').update(JSON.stringify(parts)).digest('hex');

/** What of a document sent belongs to its row; pages and chunks come back with their own ids. */
function rowOf(sent: Loose, id: string, owner: Knowledgebase, now: string): Loose {
	const config = parserConfig(sent.parserConfig);
	const { filePath, sourceType } = sent;
	const sourceKey = filePath ? `${String(sourceType ?? 'unknown')}:${String(filePath)}` : null;
	return {
		...OWNED,
		sourceKey,
		sourceHash: null,
		processingHash: hash(filePath, sourceType, sent.fileUrl, sent.storageFileId, config),
		category: 'text',
		folder: '',
		...pick(sent, SENT),
		id,
		parserConfig: config,
		knowledgebaseId: owner.id,
		...(sent.pages !== undefined && { pages: passages(sent.pages, id, now, {}) }),
		...(sent.chunks !== undefined && {
			chunks: passages(sent.chunks, id, now, { contentHash: null, version: 1 }),
		}),
		...pick(sent, 'children', 'parent'),
	};
}

/** An existing document is replaced and its version goes on; a new one is written twice by the server. */
function versionOf(sent: Loose, before: StoredDocument | undefined): number {
	const given = typeof sent.version === 'number' ? sent.version : undefined;
	if (before === undefined) return (given ?? 1) + 1;
	return given ?? before.version + 1;
}

const sameColumns = (one: Loose, other: Loose) =>
	isEqual(pick(one, DOCUMENT_COLUMNS), pick(other, DOCUMENT_COLUMNS));

/** Stores one document and answers with it as the server does. */
function storeOne(call: Call, owner: Knowledgebase, element: unknown): Loose {
	const { store, clock } = call.context;
	const sent = asObject(element);
	checkReferences(call, sent);
	const id = isUuid(sent.id) ? sent.id : randomUUID();
	const now = timestamp(clock);
	const fields = rowOf(sent, id, owner, now);
	checkColumns(fields);
	const before = store.documents.get(id);
	const row = store.putDocument({
		...fields,
		knowledgebaseId: owner.id,
		version: versionOf(sent, before),
		createdAt: before?.createdAt ?? now,
		updatedAt: now,
	});
	const answer = { ...row, ...TENANCY, ...AUTHORS };
	if (before === undefined) return answer;
	if (!sameColumns(row, before)) return omit(answer, 'createdAt');
	// Nothing new in the row itself: the server then leaves out what it would have to read again.
	const silent = DOCUMENT_COLUMNS.filter((column) => sent[column] === undefined);
	return omit(answer, 'createdAt', 'updatedAt', 'version', ...silent);
}

/**
 * Rows are stored one after another, without a transaction. The counter is read, and written back a turn
 * later, so requests at the same time overwrite each other's count as they do on the real server.
 */
async function bulk(call: Call): Promise<Loose[]> {
	const { body } = call;
	if (body === undefined) return [];
	if (!Array.isArray(body)) throw internal();
	if (body.length === 0) return [];
	const owner = knowledgebase(call);
	const answers: Loose[] = [];
	for (const element of body as unknown[]) {
		const count = owner.documentNum ?? 0;
		const known = isObject(element) && call.context.store.documents.has(String(element.id));
		await nextTurn();
		answers.push(storeOne(call, owner, element));
		owner.documentNum = known ? count : count + 1;
	}
	return answers;
}

/** E3. */
export const documentEndpoints: Endpoint[] = [
	{ id: 'E3', method: 'POST', path: '/knowledges/:id/bulk', status: 201, handle: bulk },
];
