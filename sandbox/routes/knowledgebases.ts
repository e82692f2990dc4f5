import { randomUUID } from 'node:crypto';
import { isEqual, mapValues, omit, pick } from 'lodash';
import { timestamp } from '../clock';
import type { Call, Endpoint } from '../context';
import { KNOWLEDGEBASE_DEFAULTS, OWNER, type Knowledgebase } from '../entities';
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
import { asObject, hasNul, isObject, isUuid, type Loose } from '../values';
import { beginRebuild, needsRebuild, refuseWhileRebuilt, tryModel } from './embedding';
import { metadataSchema } from './metadataSchema';

const TYPE_LENGTH = 20;
const NEEDS_MODEL = 'copilotModel is required when changing embedding model';

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

/** Names are unique; a missing name meets the first knowledgebase there is (`E01` "empty object"). */
function checkName({ context }: Call, name: unknown, ownId?: string): void {
	for (const row of context.store.knowledgebases.values()) {
		if (row.id === ownId) continue;
		if (name === undefined || name === null || isEqual(row.name, name))
			throw badRequest('Name Exist');
	}
}

function checkTexts(body: Loose): void {
	if (hasNul(body)) throw nulInText();
	if (typeof body.type === 'string' && body.type.length > TYPE_LENGTH) throw tooLong();
}

function create(call: Call): Loose {
	const { store, clock } = call.context;
	const body = bodyOf(call);
	checkName(call, body.name);
	if (body.name === undefined || body.name === null) throw notNull('knowledgebase', 'name');
	checkWorkspace(call, body);
	const schema = metadataSchema(body);
	if (hasNul(body)) throw nulInText();
	if (body.id !== undefined && !isUuid(body.id)) throw unreadable();
	checkTexts(body);
	if (typeof body.copilotModelId === 'string') {
		throw missingReference('copilotModelId', body.copilotModelId, 'copilot_model');
	}
	const { name } = body;
	const fields = { ...omit(body, 'documents', 'copilotModel'), metadataSchema: schema };
	const existing = isUuid(body.id) ? store.knowledgebases.get(body.id) : undefined;
	if (existing) {
		// What is left out becomes null (`E01` "client id existing").
		const nulls = mapValues(KNOWLEDGEBASE_DEFAULTS, () => null);
		const kept = pick(existing, 'id', 'createdAt', 'documentNum');
		const row = { ...nulls, ...kept, ...fields, name, updatedAt: timestamp(clock) };
		const put = store.putKnowledgebase({ ...row, metadataSchema: schema ?? null });
		return omit({ ...put, documentNum: null }, 'createdAt', 'metadataSchema');
	}
	const model = isObject(body.copilotModel) ? copilotModel(call, body.copilotModel) : undefined;
	const row = store.putKnowledgebase({
		...fields,
		...(model && { copilotModelId: model.id }),
		name,
		organizationId: call.caller.kind === 'user' ? null : OWNER.organizationId,
	});
	const children = Array.isArray(body.documents) ? body.documents : [];
	children.forEach((child) =>
		store.putDocument({ ...omit(asObject(child), 'id'), knowledgebaseId: row.id }),
	);
	return { ...row, ...(model && { copilotModel: model }) };
}

/** The embedding model the server creates beside a knowledgebase (`E01` "copilotModel object"). */
function copilotModel({ context }: Call, sent: Loose): Loose {
	const model = { ...sent, id: randomUUID() };
	context.store.copilotModels.set(model.id, model);
	return model;
}

function checkCopilot({ context }: Call, row: Knowledgebase, body: Loose): void {
	if (body.copilotModelId !== undefined && body.copilotModel === undefined) {
		throw badRequest(NEEDS_MODEL);
	}
	if (body.copilotModel === undefined) return;
	if (body.copilotModel === null) {
		const isEmbedded = row.embeddingCollectionName !== null;
		throw badRequest(isEmbedded ? 'Embedding model is required' : NEEDS_MODEL);
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
	if (hasNul(body)) throw nulInText();
	if (body.name !== undefined && body.name !== null) checkName(call, body.name, row.id);
	if (body.name === null) throw notNull('knowledgebase', 'name');
	if (body.id !== undefined && body.id !== row.id) {
		const value = [OWNER.tenantId, OWNER.organizationId, row.name].join(', ');
		throw duplicate('"tenantId", "organizationId", name', value);
	}
	checkTexts(body);
	Object.assign(row, omit(body, 'copilotModel'), { updatedAt: timestamp(clock) });
	if (schema !== undefined) row.metadataSchema = schema ?? [];
	if (isObject(body.copilotModel)) giveModel(call, row, body.copilotModel);
	const modelOf = (id: unknown) => store.copilotModels.get(String(id)) ?? null;
	return {
		...row,
		copilotModel: modelOf(row.copilotModelId),
		pendingCopilotModel: modelOf(row.pendingCopilotModelId),
	};
}

/** What was embedded with another model is embedded anew. */
function giveModel(call: Call, row: Knowledgebase, sent: Loose): void {
	const isRebuilt = needsRebuild(call.context.store, row, sent);
	const model = copilotModel(call, sent);
	if (isRebuilt) beginRebuild(call.context, row, model);
	else row.copilotModelId = model.id;
}

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

export const knowledgebaseEndpoints: Endpoint[] = [
	{ id: 'E1', method: 'POST', path: '/knowledges', status: 201, handle: create },
	{ id: 'E2', method: 'PUT', path: '/knowledges/:id', status: 200, handle: update },
	{ id: 'E17', method: 'DELETE', path: '/v1/kb/:id', status: 200, handle: remove },
];
