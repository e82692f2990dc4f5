import { createHash, randomBytes } from 'node:crypto';
import { timestamp } from './clock';
import type { Context } from './context';
import type { Knowledgebase } from './entities';
import { ApiError, badRequest } from './errors';
import type { Store } from './store';
import { asObject, type Loose } from './values';

const DIMENSIONS = 256;

const hash = (...parts: unknown[]): string =>
	createHash('sha256').update(JSON.stringify(parts)).digest('hex');

const fingerprint = ({ copilotId, model }: Loose): string => hash(copilotId, model);

/** The first document of a knowledgebase is embedded: from now on it has vectors of its model. */
export function firstEmbedded(store: Store, owner: Knowledgebase): void {
	const model = store.copilotModels.get(String(owner.copilotModelId));
	if (owner.embeddingCollectionName !== null || model === undefined) return;
	Object.assign(owner, {
		embeddingCollectionName: owner.id,
		embeddingModelFingerprint: fingerprint(model),
		embeddingDimensions: DIMENSIONS,
		embeddingRevision: 1,
	});
}

/** Whether another model means that all documents have to be embedded anew. */
export function needsRebuild(store: Store, owner: Knowledgebase, sent: unknown): boolean {
	const { copilotId, model } = store.copilotModels.get(String(owner.copilotModelId)) ?? {};
	const wanted = asObject(sent);
	const isSame = copilotId === wanted.copilotId && model === wanted.model;
	return owner.embeddingCollectionName !== null && !isSame;
}

/** Another model is asked for one vector first: one that fails changes nothing. */
export function tryModel(store: Store, owner: Knowledgebase, sent: unknown): void {
	const { embeddingError: message } = store;
	if (message === null || !needsRebuild(store, owner, sent)) return;
	throw new ApiError(400, { statusCode: 400, message });
}

/** Meanwhile nothing is stored, processed or given yet another model (`knowledge` "submit while it is rebuilt"). */
export function refuseWhileRebuilt({ status }: Knowledgebase): void {
	if (status === 'rebuilding') throw badRequest('Embedding rebuild is running');
}

/** All documents are embedded anew with a model; until that is done they are found as they were. */
export function beginRebuild(context: Context, owner: Knowledgebase, model: Loose): void {
	const task = randomBytes(5).toString('hex');
	const embeddedBy = fingerprint(model);
	Object.assign(owner, {
		status: 'rebuilding',
		embeddingRebuildError: null,
		rebuildTaskId: task,
		pendingCopilotModelId: model.id,
		pendingEmbeddingCollectionName: `Kb_${hash(owner.id).slice(0, 32)}_${embeddedBy.slice(0, 12)}`,
		pendingEmbeddingModelFingerprint: embeddedBy,
		pendingEmbeddingDimensions: DIMENSIONS,
		pendingEmbeddingRevision: Number(owner.embeddingRevision) + 2,
	});
	void context.clock.sleep(context.rebuildMs).then(() => {
		if (owner.rebuildTaskId === task) endRebuild(context, owner);
	});
}

/** After a failure the old model goes on finding, and nothing else is refused. */
function endRebuild({ clock, store }: Context, owner: Knowledgebase): void {
	const { embeddingError } = store;
	if (embeddingError !== null) {
		Object.assign(owner, { status: 'rebuild_failed', embeddingRebuildError: embeddingError });
		return;
	}
	Object.assign(owner, {
		status: 'ready',
		rebuildTaskId: null,
		copilotModelId: owner.pendingCopilotModelId,
		embeddingCollectionName: owner.pendingEmbeddingCollectionName,
		embeddingModelFingerprint: owner.pendingEmbeddingModelFingerprint,
		embeddingRevision: owner.pendingEmbeddingRevision,
		pendingCopilotModelId: null,
		pendingEmbeddingCollectionName: null,
		pendingEmbeddingModelFingerprint: null,
		pendingEmbeddingDimensions: null,
		pendingEmbeddingRevision: null,
		updatedAt: timestamp(clock),
	});
}
