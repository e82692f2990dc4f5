import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { isMatch, omit, pick } from 'lodash';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import {
	checkColumns,
	checkReferences,
	isChanged,
	rowOf,
	versionOf,
	withFile,
} from '../documentRow';
import {
	AUTHORS,
	DOCUMENT_COLUMNS,
	TENANCY,
	type Knowledgebase,
	type Passage,
	type StoredDocument,
} from '../entities';
import { refuseWhileRebuilt } from '../embedding';
import { duplicate, internal, nulInText } from '../errors';
import { placeOf } from '../folders';
import { checkMetadata } from '../metadataSchema';
import { merged, read, refuseOtherChunks, type Parts } from '../parts';
import type { Store } from '../store';
import { asObject, hasNul, isObject, isUuid, type Loose } from '../values';
import { checkWorkspace, knowledgebase } from './knowledgebases';

/** The columns that only chunks have. */
const OF_CHUNKS = { contentHash: null, version: 1 };

type PartKind = 'pages' | 'chunks';

interface SentParts {
	pages?: Passage[];
	chunks?: Passage[];
}

const partsSent = (sent: Loose, id: string, now: string): SentParts => ({
	...(sent.pages !== undefined && { pages: read(sent.pages, id, now, {}) }),
	...(sent.chunks !== undefined && { chunks: read(sent.chunks, id, now, OF_CHUNKS) }),
});

function partsOf(store: Store, kind: PartKind, document: StoredDocument | undefined): Parts {
	const lost = document && store.lostParts.get(document.id)?.[kind];
	return { linked: document?.[kind] ?? [], lost: lost ?? new Map() };
}

/** What stays of a document's pages and chunks; chunks left out are kept. */
function partsAfter(store: Store, before: StoredDocument | undefined, sent: SentParts): SentParts {
	if (before === undefined) return sent;
	const pages = merged(partsOf(store, 'pages', before), sent.pages ?? []);
	const chunks = merged(partsOf(store, 'chunks', before), sent.chunks ?? before.chunks ?? []);
	if (pages.lost.size + chunks.lost.size > 0 || store.lostParts.has(before.id)) {
		store.lostParts.set(before.id, { pages: pages.lost, chunks: chunks.lost });
	}
	return {
		...(sent.pages !== undefined && { pages: pages.linked }),
		...((sent.chunks ?? before.chunks) !== undefined && { chunks: chunks.linked }),
	};
}

/** A document sent, read and checked; throws what the server refuses it with. */
function checked({ context }: Call, owner: Knowledgebase, element: unknown) {
	const { store } = context;
	checkReferences(store, asObject(element));
	const sent = withFile(store, asObject(element));
	const id = isUuid(sent.id) ? sent.id : randomUUID();
	const row = rowOf(sent, id, owner, asObject(element).type);
	checkColumns(row);
	if (hasNul(sent)) throw nulInText();
	checkMetadata(owner.metadataSchema, sent.metadata);
	const before = store.documents.get(id);
	if (before === undefined && store.documents.has(id.toLowerCase())) {
		throw duplicate('id', id.toLowerCase());
	}
	refuseOtherChunks(partsOf(store, 'chunks', before), sent.chunks);
	return { id, sent, row, before };
}

/** The document of the same source, where a knowledgebase keeps in step with sources by itself. */
function ofSameSource({ context }: Call, owner: Knowledgebase, element: unknown) {
	const { sourceType, sourceKey } = asObject(element);
	if (owner.incrementalSyncEnabled !== true || !sourceType || !sourceKey) return undefined;
	return context.store
		.documentsOf(owner.id)
		.find((one) => one.sourceType === sourceType && one.sourceKey === sourceKey);
}

/** It keeps its first id, and whatever processing has made of it, also when the file is another one. */
function updated({ context }: Call, known: StoredDocument, sent: Loose, row: Loose): Loose {
	const fields = omit(pick(row, Object.keys(sent), 'processingHash'), 'id');
	const isSame = isMatch(known, omit(fields, 'size')) && String(known.size) === String(sent.size);
	if (!isSame) {
		const { version, status } = known;
		Object.assign(known, fields, { status, version: version + 1 });
		known.updatedAt = timestamp(context.clock);
	}
	return omit(known, 'pages', 'chunks', 'parentId');
}

/** Stores one document and answers with it as the server does. */
function storeOne(call: Call, owner: Knowledgebase, element: unknown): Loose {
	const { store, clock } = call.context;
	const { id, sent, row: columns, before } = checked(call, owner, element);
	const known = ofSameSource(call, owner, element);
	if (known) return updated(call, known, sent, columns);
	const { folder, parentId } = placeOf(store, sent, before);
	const row: Loose = { ...columns, folder };
	const now = timestamp(clock);
	const parts = partsSent(sent, id, now);
	const kept = partsAfter(store, before, parts);
	const family = pick(sent, 'children', 'parent');
	const placed = { ...row, parentId };
	const answer = { ...row, ...parts, ...family, ...TENANCY, ...AUTHORS };
	if (before && !isChanged(placed, sent, before)) {
		Object.assign(before, kept);
		// The server then leaves out what it would have to read again, and without parts saves nothing at all.
		return Object.keys(parts).length > 0 ? answer : omit(answer, 'createdById', 'updatedById');
	}
	const stored = store.putDocument({
		...placed,
		...kept,
		...pick(sent, 'children'),
		knowledgebaseId: owner.id,
		version: versionOf(sent, before),
		createdAt: before?.createdAt ?? now,
		updatedAt: now,
	});
	const written = pick(stored, DOCUMENT_COLUMNS, 'createdAt', 'updatedAt', 'version');
	return omit({ ...answer, ...written }, before ? ['createdAt'] : []);
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
	// Its first document sets its structure, which is a change of the knowledgebase (`folder-rows-keys`).
	if (owner.structure === null) checkWorkspace(call, owner);
	refuseWhileRebuilt(owner);
	const answers: Loose[] = [];
	for (const element of body as unknown[]) {
		const count = owner.documentNum ?? 0;
		const known =
			(isObject(element) && call.context.store.documents.has(String(element.id))) ||
			ofSameSource(call, owner, element) !== undefined;
		await nextTurn();
		answers.push(storeOne(call, owner, element));
		owner.documentNum = known ? count : count + 1;
	}
	owner.structure ??= 'general';
	return answers;
}

/** E3. */
export const documentEndpoints: Endpoint[] = [
	{ id: 'E3', method: 'POST', path: '/knowledges/:id/bulk', status: 201, handle: bulk },
	{ id: 'E3', method: 'POST', path: '/v1/kb/:id/bulk', status: 201, handle: bulk },
];
