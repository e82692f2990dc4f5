import { randomUUID } from 'node:crypto';
import { extname } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isEqual, omit, pick, sortBy, uniq } from 'lodash';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import { DOCUMENT_COLUMNS, OWNED, type Knowledgebase, type StoredDocument } from '../entities';
import {
	ApiError,
	badRequest,
	duplicate,
	internal,
	missingReference,
	noDate,
	notFound,
	nulInText,
	tooLong,
	unreadable,
} from '../errors';
import { stateOf } from '../processing/stages';
import type { Store } from '../store';
import { asObject, hasNul, isObject, isUuid, type Loose } from '../values';
import { refuseWhileRebuilt } from './embedding';
import { checkWorkspace, knowledgebase } from './knowledgebases';
import { checkMetadata } from './metadataSchema';

const SOURCE_TYPE_LENGTH = 20;
const SPLITTER = 'recursive-character';
const SENT = ['id', 'sourceKey', 'sourceHash', ...DOCUMENT_COLUMNS];

/** Columns that processing writes: left out, they do not make a document another one. */
const OF_PROCESSING = ['status', 'progress', 'processMsg', 'jobId', 'chunkNum', 'tokenNum'];

const COMPARED = [
	...['knowledgebaseId', 'category', 'parserConfig', 'folder', 'parentId'],
	...SENT.filter((column) => !OF_PROCESSING.includes(column)),
];

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

function checkColumns(row: Loose): void {
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

function checkReferences({ files }: Store, { id, storageFileId }: Loose): void {
	if (storageFileId !== undefined && storageFileId !== null) {
		if (!isUuid(storageFileId)) throw internal();
		if (!files.has(storageFileId)) throw notFound();
	}
	if (id !== undefined && id !== null && !isUuid(id)) throw unreadable();
}

/** A document with what the server takes from its uploaded file: type and MIME type, unless these are sent. */
function withFile({ files }: Store, sent: Loose): Loose {
	const file = isUuid(sent.storageFileId) ? files.get(sent.storageFileId) : undefined;
	if (file === undefined) return sent;
	const type = extname(file.originalName).slice(1).toLowerCase() || undefined;
	return { ...sent, type: sent.type ?? type, mimeType: sent.mimeType ?? file.mimetype };
}

/** Only an object is taken as settings of the parser (`E03` "parserConfig string"). */
function parserConfig(sent: unknown): Loose {
	const given = asObject(sent);
	const { textSplitterType: splitter = SPLITTER } = given;
	if (splitter === 'parent-child') {
		throw badRequest(
			'Inconsistent chunk structure between knowledgebase (general) and document (parent-child)',
		);
	}
	if (splitter !== SPLITTER) throw internal();
	return given;
}

/** Where a document comes from, by the first of its addresses there is. */
function sourceKeyOf({ filePath, fileUrl, storageFileId, sourceType }: Loose): string | null {
	const source = filePath || fileUrl || storageFileId;
	return source ? `${String(sourceType ?? 'unknown')}:${String(source)}` : null;
}

/** A document sent, read and checked; throws what the server refuses it with. */
function checked({ store }: Call['context'], owner: Knowledgebase, element: unknown) {
	checkReferences(store, asObject(element));
	const sent = withFile(store, asObject(element));
	const id = isUuid(sent.id) ? sent.id : randomUUID();
	const row: Loose = {
		...OWNED,
		sourceKey: sourceKeyOf(sent),
		sourceHash: null,
		category: SHEETS.includes(String(sent.type)) ? 'sheet' : 'text',
		...pick(sent, SENT),
		id,
		parserConfig: parserConfig(sent.parserConfig),
		knowledgebaseId: owner.id,
	};
	checkColumns(row);
	if (hasNul(sent)) throw nulInText();
	checkMetadata(owner.metadataSchema, sent.metadata);
	const before = store.documents.get(id);
	const lower = id.toLowerCase();
	if (before === undefined && store.documents.has(lower)) throw duplicate('id', lower);
	refuseOtherChunks(before?.chunks, sent.chunks);
	return { id, sent, row, before };
}

/**
 * A document that has chunks cannot be sent with other ones, nor with fewer or none: the answer is an empty body, and
 * nothing is stored.
 */
function refuseOtherChunks(known: unknown, sent: unknown): void {
	if (!Array.isArray(known) || known.length === 0 || !Array.isArray(sent)) return;
	const idsOf = (chunks: unknown[]) => chunks.map((chunk) => asObject(chunk).id);
	const ids = idsOf(sent);
	if (ids.includes(undefined) || !isEqual(ids, idsOf(known))) throw new ApiError(400, {});
}

/**
 * Where a document is put that was sent: under the `parent` it names, in no folder with `null`, and without one where it was
 * (`folder-moves`). The path stands in it until it is sent again, whatever becomes of the folders meanwhile.
 */
function placeOf(store: Store, sent: Loose, before: StoredDocument | undefined) {
	const parentId = sent.parent === undefined ? before?.parentId : parentIn(store, sent.parent);
	const parent = store.documents.get(String(parentId ?? ''));
	return { parentId: parent?.id ?? null, folder: parent ? pathOf(parent) : '' };
}

/** The path below a row: a folder adds its name to its own, a document nothing. */
const pathOf = ({ folder, name, sourceType }: StoredDocument): string =>
	[folder, sourceType === 'folder' && name].filter(Boolean).map(String).join('/');

function parentIn(store: Store, parent: unknown): string | null {
	if (parent === null) return null;
	if (!isObject(parent) || parent.id === undefined) throw new ApiError(400, {});
	const { id } = parent;
	if (!isUuid(id)) throw unreadable();
	if (store.documents.has(id)) return id;
	throw missingReference('parentId', id, 'knowledge_document');
}

/**
 * Whether a document sent again is another one. If not, nothing happens: it stays processed, for instance. One with a
 * size always is: the database gives its number as text (`version` "write 2, the same content").
 */
function isChanged(row: Loose, sent: Loose, before: StoredDocument): boolean {
	const asked = OF_PROCESSING.filter((column) => sent[column] !== undefined);
	return (
		typeof sent.version === 'number' ||
		typeof sent.size === 'number' ||
		[...COMPARED, ...asked].some((column) => !isEqual(row[column] ?? null, before[column] ?? null))
	);
}

function storeOne(call: Call, owner: Knowledgebase, element: unknown): Loose {
	const { store, clock } = call.context;
	const { sent, row, before } = checked(call.context, owner, element);
	const placed = { ...row, ...placeOf(store, sent, before) };
	const family = pick(sent, 'children', 'parent', 'pages', 'chunks');
	if (before && !isChanged(placed, sent, before)) return { ...omit(placed, 'parentId'), ...family };
	const now = timestamp(clock);
	const stored = store.putDocument({
		...placed,
		...pick(sent, 'children', 'chunks'),
		knowledgebaseId: owner.id,
		version: (before?.version ?? 0) + 1,
		createdAt: before?.createdAt ?? now,
		updatedAt: now,
	});
	// Of a document that was there, the answer does not tell when it was created (`E03` "repeat existing id").
	const leftOut = ['parentId', ...(before ? ['createdAt'] : [])];
	return { ...omit({ ...placed, ...stored }, leftOut), ...family };
}

/**
 * Rows are stored one after another, without a transaction. The counter is read, and written back a turn
 * later, so requests at the same time overwrite each other's count as they do on the real server.
 */
async function bulk(call: Call): Promise<Loose[]> {
	const { body, context } = call;
	if (body === undefined) return [];
	if (!Array.isArray(body)) throw internal();
	if (body.length === 0) return [];
	const owner = knowledgebase(call);
	// Its first document sets its structure, which is a change of the knowledgebase (`folder-rows-keys`).
	if (owner.structure === null) checkWorkspace(call, owner);
	refuseWhileRebuilt(owner);
	const answers: Loose[] = [];
	for (const element of body as unknown[]) {
		const count = owner.documentNum ?? 0;
		const known = isObject(element) && context.store.documents.has(String(element.id));
		await nextTurn();
		answers.push(storeOne(call, owner, element));
		owner.documentNum = known ? count : count + 1;
	}
	owner.structure ??= 'general';
	return answers;
}

/** A server without Xpert's routes answers as to any unknown address. */
function checkRoute({ context, method, path }: Call): void {
	if (!context.processing) throw notFound(`Cannot ${method} ${path}`);
}

/**
 * The documents of the knowledgebase in the path that have these ids. Ids it does not have are left out, and
 * so are all when there is no such knowledgebase.
 */
function documentsWith({ context, params }: Call, ids: unknown[]): StoredDocument[] {
	if (!isUuid(params.id) || !ids.every(isUuid)) throw internal();
	return uniq(ids).flatMap((id) => {
		const document = context.store.documents.get(id);
		return document && document.knowledgebaseId === params.id ? [document] : [];
	});
}

/** Queues documents but for those that are queued already, and answers with them as they stand then. */
function start(call: Call): Loose[] {
	checkRoute(call);
	const { store, queue } = call.context;
	if (!Array.isArray(call.body)) throw internal();
	const owner = store.knowledgebases.get(String(call.params.id));
	if (owner) refuseWhileRebuilt(owner);
	const idle = documentsWith(call, call.body as unknown[]).filter(({ id }) => {
		const processing = store.processing.get(id);
		return processing === undefined || processing.end !== undefined;
	});
	queue.add(idle);
	return idle.map((document) => omit(document, 'parentId'));
}

/** Where the documents stand, in no order anyone asked for; those never processed show what is in their row. */
function status(call: Call): Loose[] {
	checkRoute(call);
	const { clock, store } = call.context;
	const { ids } = call.query;
	if (typeof ids !== 'string') throw internal();
	return sortBy(documentsWith(call, ids.split(',')), 'id').map((document) => {
		const processing = store.processing.get(document.id);
		if (processing && !processing.end) Object.assign(document, stateOf(processing, clock.now()));
		return pick(document, 'id', 'status', 'progress', 'processMsg');
	});
}

export const documentEndpoints: Endpoint[] = [
	{ id: 'E3', method: 'POST', path: '/knowledges/:id/bulk', status: 201, handle: bulk },
	{ id: 'process', method: 'POST', path: '/knowledges/:id/process', status: 201, handle: start },
	{ id: 'status', method: 'GET', path: '/knowledges/:id/status', status: 200, handle: status },
];
