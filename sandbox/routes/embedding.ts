import { randomBytes } from 'node:crypto';
import { timestamp } from '../clock';
import type { Context } from '../context';
import type { Knowledgebase } from '../entities';
import { ApiError, badRequest } from '../errors';
import type { Store } from '../store';
import { asObject, type Loose } from '../values';

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
export function beginRebuild(context: Context, owner: Knowledgebase, { id }: Loose): void {
	const task = randomBytes(5).toString('hex');
	const begun = { status: 'rebuilding', embeddingRebuildError: null, pendingCopilotModelId: id };
	Object.assign(owner, begun, { rebuildTaskId: task });
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
	const { pendingCopilotModelId: copilotModelId } = owner;
	const ended = { status: 'ready', rebuildTaskId: null, pendingCopilotModelId: null };
	Object.assign(owner, ended, { copilotModelId, updatedAt: timestamp(clock) });
}
