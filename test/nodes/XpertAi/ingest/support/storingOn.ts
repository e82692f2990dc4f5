import { storeDocuments } from '../../../../../nodes/XpertAi/ingest/storing';
import type {
	DocumentOutcome,
	Storing,
	StoringCounts,
} from '../../../../../nodes/XpertAi/ingest/storing';
import type { ReadyDocument } from '../../../../../nodes/XpertAi/ingest/batches';
import { prepared } from '../../../support/documents';
import { parsing } from '../../../support/send';
import { virtualTime } from '../../../support/virtualTime';
import type { BulkServer, ModelDocument } from './bulkServer';

export interface Submitted {
	/** Each document told, with its place and its outcome, in the order they were told. */
	told: Array<DocumentOutcome<number>>;
	counts: StoringCounts;
	/** Places of the documents with an outcome, in order. */
	placesOf: (outcome: DocumentOutcome<number>['outcome']) => number[];
}

export function waiting(models: ModelDocument[]): Array<ReadyDocument<number>> {
	return models.map((model) => ({ ...prepared(model, model.key, model.id), isNew: model.isNew }));
}

export function withIds(count: number, bad: Record<number, number> = {}): ModelDocument[] {
	return Array.from({ length: count }, (_, key) => ({ key, id: `id-${key}`, ...badOf(bad[key]) }));
}

/** What is bad about a document; 404 is said to one whose uploaded file is missing. */
function badOf(status?: number): Pick<ModelDocument, 'bad' | 'storageFileId'> {
	if (status === undefined) return {};
	return status === 404 ? { bad: status, storageFileId: 'unknown' } : { bad: status };
}

/** Submits documents to a server, ten a batch, three tries each, unless the changes say otherwise; to the first that fails, if it stops. */
export async function submitTo(
	server: Pick<BulkServer, 'send'>,
	models: ModelDocument[],
	{ stops = false, ...changes }: Partial<Storing<number>> & { stops?: boolean } = {},
): Promise<Submitted> {
	const told: Submitted['told'] = [];
	const counts = await storeDocuments<number>({
		documents: waiting(models),
		batchLimits: { maxCount: 10, maxBytes: Infinity },
		retryLimits: { maxTries: 3, maxElapsedMs: Infinity },
		concurrency: 1,
		request: (body) => ({
			method: 'POST',
			repeatable: true,
			path: '/knowledges/1/bulk',
			body,
			timeoutMs: 1000,
		}),
		send: parsing(server.send),
		onOutcome: (result) => told.push(result),
		maySend: () => !stops || !told.some((result) => 'failure' in result),
		clock: virtualTime(),
		...changes,
	});
	const placesOf: Submitted['placesOf'] = (outcome) =>
		told
			.filter((result) => result.outcome === outcome)
			.map(({ document }) => document.origin)
			.sort((one, other) => one - other);
	return { told, counts, placesOf };
}
