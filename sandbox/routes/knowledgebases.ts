import { randomUUID } from 'node:crypto';
import { isEqual, mapValues, omit, pick } from 'lodash';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import {
	AUTHORS,
	DOCUMENT_COLUMNS,
	KNOWLEDGEBASE_DEFAULTS,
	OWNER,
	type Knowledgebase,
} from '../entities';
import { beginRebuild, needsRebuild, refuseWhileRebuilt, tryModel } from '../embedding';
import {
	badRequest,
	duplicate,
	forbidden,
	internal,
	missingReference,
	notFound,
	notNull,
	nulInText,
	tooLong,
	unreadable,
} from '../errors';
import { metadataSchema } from '../metadataSchema';
import { asObject, hasNul, isObject, isUuid, type Loose } from '../values';

const TABLE = 'knowledgebase';
const TYPE_LENGTH = 20;
const COLUMNS = ['id', 'name', ...Object.keys(KNOWLEDGEBASE_DEFAULTS)];

/** Whose it is; nothing is told of that where it is in a workspace (`knowledge` "create"). */
const tenancy = (row: Knowledgebase) =>
	row.workspaceId === null && {
		tenant: { id: row.tenantId },
		organization: row.organizationId === null ? null : { id: row.organizationId },
	};

/** The body as the server reads it; without one it fails. An array counts as an object of its places. */
function bodyOf({ body }: Call): Loose {
	if (body === undefined) throw internal();
	return { ...(body as Loose) };
}

/** A workspace's own key may not write into it, while a user's and an assistant's may. */
export function checkWorkspace({ context, caller }: Call, { workspaceId }: Loose): void {
	if (workspaceId === undefined || workspaceId === null) return;
	if (!isUuid(workspaceId)) throw internal();
	if (!context.store.workspaces.has(workspaceId)) {
		throw notFound(`Workspace '${workspaceId}' was not found`);
	}
	if (caller.kind === 'workspace') throw forbidden('Access denied to workspace');
}

function refuseNul(body: Loose): void {
	if (hasNul(body)) throw nulInText();
}

function checkType(body: Loose): void {
	if (typeof body.type === 'string' && body.type.length > TYPE_LENGTH) {
		throw tooLong();
	}
}

/** Names are unique; a missing name meets the first knowledgebase there is (`E01` "empty object"). */
function checkName({ context }: Call, name: unknown, ownId?: string): void {
	for (const row of context.store.knowledgebases.values()) {
		if (row.id === ownId) continue;
		if (name === undefined || name === null || isEqual(row.name, name))
			throw badRequest('Name Exist');
	}
}

function create(call: Call): Loose {
	const { store, clock } = call.context;
	const body = bodyOf(call);
	const fields: Loose = pick(body, COLUMNS);
	checkName(call, body.name);
	if (body.name === undefined || body.name === null) throw notNull(TABLE, 'name');
	checkWorkspace(call, body);
	fields.metadataSchema = metadataSchema(body);
	refuseNul(body);
	if (body.id !== undefined && !isUuid(body.id)) throw unreadable();
	checkType(fields);
	if (typeof body.copilotModelId === 'string') {
		throw missingReference('copilotModelId', body.copilotModelId, 'copilot_model');
	}
	const existing = isUuid(body.id) ? store.knowledgebases.get(body.id) : undefined;
	if (existing) return overwrite(call, existing, fields);
	const model = isObject(body.copilotModel) ? copilotModel(call, body.copilotModel) : undefined;
	const row = store.putKnowledgebase({
		...fields,
		...(model && { copilotModelId: model.id }),
		name: body.name,
		organizationId: call.caller.kind === 'user' ? null : OWNER.organizationId,
	});
	const children = nestedDocuments(body, row.id, timestamp(clock));
	children.forEach((child) => store.putDocument({ ...child, knowledgebaseId: row.id }));
	return {
		...row,
		...tenancy(row),
		...(row.workspaceId === null && AUTHORS),
		...(model && { copilotModel: model }),
		...(body.documents !== undefined && { documents: children }),
	};
}

/** A body with an existing id replaces that knowledgebase; what is left out becomes null (`E01` "client id existing"). */
function overwrite({ context }: Call, existing: Knowledgebase, fields: Loose): Loose {
	const nulls = mapValues(KNOWLEDGEBASE_DEFAULTS, () => null);
	const row = context.store.putKnowledgebase({
		...nulls,
		...pick(existing, 'id', 'createdAt', 'documentNum'),
		...fields,
		name: fields.name,
		metadataSchema: fields.metadataSchema ?? null,
		updatedAt: timestamp(context.clock),
	});
	return omit(
		{ ...row, ...tenancy(row), ...AUTHORS, documentNum: null },
		'createdAt',
		'deletedAt',
		'metadataSchema',
	);
}

/** The embedding model the server creates beside a knowledgebase (`E01` "copilotModel object"). */
function copilotModel({ context }: Call, sent: Loose, options: Loose | null = null): Loose {
	const now = timestamp(context.clock);
	const id = randomUUID();
	const model = {
		createdById: null,
		updatedById: null,
		options,
		copilotId: null,
		referencedId: null,
		...sent,
		tenantId: OWNER.tenantId,
		organizationId: OWNER.organizationId,
		id,
		createdAt: now,
		updatedAt: now,
	};
	context.store.copilotModels.set(id, model);
	return model;
}

/** Documents sent inside a knowledgebase, as they come back (`E01` "nested documents"). */
function nestedDocuments(body: Loose, knowledgebaseId: string, now: string): Loose[] {
	const sent = Array.isArray(body.documents) ? body.documents : [];
	return sent.map((document) => ({
		...Object.fromEntries(DOCUMENT_COLUMNS.map((column) => [column, null])),
		createdById: null,
		updatedById: null,
		tenantId: null,
		organizationId: null,
		sourceKey: null,
		sourceHash: null,
		processingHash: null,
		category: null,
		folder: null,
		parserConfig: null,
		...asObject(document),
		knowledgebaseId,
		id: randomUUID(),
		createdAt: now,
		updatedAt: now,
		version: 1,
	}));
}

function checkCopilot({ context }: Call, row: Knowledgebase, body: Loose): void {
	if (body.copilotModelId !== undefined && body.copilotModel === undefined) {
		throw badRequest('copilotModel is required when changing embedding model');
	}
	if (body.copilotModel === undefined) return;
	if (body.copilotModel === null) {
		const isEmbedded = row.embeddingCollectionName !== null;
		throw badRequest(
			isEmbedded
				? 'Embedding model is required'
				: 'copilotModel is required when changing embedding model',
		);
	}
	refuseWhileRebuilt(row);
	const { copilotId, model } = asObject(body.copilotModel);
	if (typeof copilotId !== 'string' || !context.store.copilots.has(copilotId)) {
		throw notFound(`Copilot not set for embedding model '${String(model)}'`);
	}
	tryModel(context.store, row, body.copilotModel);
}

function update(call: Call): Loose {
	const { store, clock } = call.context;
	if (call.caller.kind === 'user') throw forbidden('API key not found');
	const row = knowledgebase(call);
	const body = bodyOf(call);
	checkWorkspace(call, row);
	checkWorkspace(call, body);
	const schema = metadataSchema(body);
	checkCopilot(call, row, body);
	refuseNul(body);
	if (body.name !== undefined && body.name !== null) checkName(call, body.name, row.id);
	if (body.name === null) throw notNull(TABLE, 'name');
	if (body.id !== undefined && body.id !== row.id) {
		const { tenantId, organizationId } = OWNER;
		const value = [tenantId, organizationId, row.name].join(', ');
		throw duplicate('"tenantId", "organizationId", name', value);
	}
	checkType(body);
	Object.assign(row, pick(body, COLUMNS), { updatedAt: timestamp(clock) });
	if (schema !== undefined) row.metadataSchema = schema ?? [];
	const isRebuilt = isObject(body.copilotModel) && giveModel(call, row, body.copilotModel);
	if (asObject(body.graphRag).enabled === true) row.graphStatus = 'rebuild_required';
	store.knowledgebases.set(row.id, row);
	// The server answers with unknown fields too, but does not store them (`E02` "unknown field").
	const models = {
		copilotModel: modelOf(call, row.copilotModelId),
		pendingCopilotModel: modelOf(call, row.pendingCopilotModelId),
		...(!isRebuilt && { chatModel: null }),
	};
	return { ...row, ...omit(body, COLUMNS), ...models, ...tenancy(row) };
}

/** What was embedded with another model is embedded anew; tells whether that has begun. */
function giveModel(call: Call, row: Knowledgebase, sent: Loose): boolean {
	const isRebuilt = needsRebuild(call.context.store, row, sent);
	const model = copilotModel(call, sent, isRebuilt ? { context_size: 100_000 } : null);
	if (isRebuilt) beginRebuild(call.context, row, model);
	else row.copilotModelId = model.id;
	return isRebuilt;
}

const modelOf = ({ context }: Call, id: unknown): Loose | null =>
	context.store.copilotModels.get(String(id)) ?? null;

/** The knowledgebase the path names: 500 for a malformed id, 404 for an unknown one. */
export function knowledgebase({ context, params }: Call): Knowledgebase {
	if (!isUuid(params.id)) throw internal();
	const row = context.store.knowledgebases.get(params.id);
	if (row === undefined) throw notFound();
	return row;
}

function remove(call: Call): Loose {
	if (call.caller.kind === 'user') throw forbidden('API key not found');
	const row = knowledgebase(call);
	checkWorkspace(call, row);
	call.context.store.removeKnowledgebase(row.id);
	return { raw: [], affected: 1 };
}

/** E1, E2 and E17, each under both of its addresses. */
export const knowledgebaseEndpoints: Endpoint[] = [
	{ id: 'E1', method: 'POST', path: '/knowledges', status: 201, handle: create },
	{ id: 'E2', method: 'PUT', path: '/knowledges/:id', status: 200, handle: update },
	{ id: 'E17', method: 'DELETE', path: '/v1/kb/:id', status: 200, handle: remove },
	{ id: 'E1', method: 'POST', path: '/v1/kb', status: 201, handle: create },
	{ id: 'E2', method: 'PUT', path: '/v1/kb/:id', status: 200, handle: update },
	{ id: 'E17', method: 'DELETE', path: '/knowledges/:id', status: 200, handle: remove },
];
