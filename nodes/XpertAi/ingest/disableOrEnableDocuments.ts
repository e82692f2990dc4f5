import { chunk } from 'lodash';

import type { Failure } from '../transport/failure';
import { documentListSchema } from './documentList';
import type { KnowledgebaseRoutes } from '../transport/knowledgebaseRoutes';

/** Maximum number of documents to disable or enable in one request. */
const IDS_PER_REQUEST = 100;

interface DisableOrEnableOptions {
	disabled: boolean;
	/** Called before each batch. Returns a failure if the batch must not be changed. */
	beforeChange?: (ids: string[]) => Promise<Failure | undefined>;
	routes: Pick<KnowledgebaseRoutes, 'send' | 'storePath' | 'signal'>;
	/** Returns the fields to send with an ID, e.g. the name of the document. The server clears omitted fields. */
	fieldsOf: (id: string) => object;
	/** Called for each document that was disabled or enabled. */
	onChanged: (id: string) => void;
}

/**
 * Disables or enables documents. Assistants do not find disabled documents.
 *
 * @param ids IDs of documents on the server. For an unknown ID, the server would create an empty document.
 * @returns the failure that ended the work early, if any; `undefined` if the execution was stopped
 */
export async function disableOrEnableDocuments(
	ids: string[],
	{ disabled, beforeChange, routes, fieldsOf, onChanged }: DisableOrEnableOptions,
): Promise<Failure | undefined> {
	for (const batch of chunk(ids, IDS_PER_REQUEST)) {
		if (routes.signal?.aborted) return undefined;
		const failure = await beforeChange?.(batch);
		if (failure) return failure;
		const body = JSON.stringify(batch.map((id) => ({ ...fieldsOf(id), id, disabled })));
		const schema = documentListSchema(batch);
		const outcome = await routes.send({ method: 'POST', path: routes.storePath, body, schema });
		if (!outcome.ok) return outcome.failure;
		for (const id of batch) onChanged(id);
	}
	return undefined;
}
