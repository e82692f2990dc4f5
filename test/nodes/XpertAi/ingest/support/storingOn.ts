import { mergeWith, add } from 'lodash';

import { storeDocuments, type Storing } from '../../../../../nodes/XpertAi/ingest/storing';
import type {
	DocumentFact,
	ReadyDocument,
} from '../../../../../nodes/XpertAi/ingest/readyDocument';
import type { Clock } from '../../../../../nodes/XpertAi/transport/clock';
import { prepared } from '../../../support/documents';
import { parsing } from '../../../support/send';
import { virtualTime } from '../../../support/virtualTime';
import type { BulkServer, ModelDocument } from './bulkServer';

export interface Submitted {
	/** Each document told, with its place and its outcome, in the order they were told. */
	told: Told[];
	counts: Record<'attempts' | 'batches' | 'retries', number>;
	/** Places of the documents with an outcome, in order. */
	placesOf: (outcome: Told['outcome']) => number[];
}

export type Told = DocumentFact<number>;

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

/** What a test asks for: a stop, and where it hears at once what is told. */
interface Asked extends Partial<Storing<number>> {
	signal?: AbortSignal;
	clock?: Clock;
	told?: Told[];
	onTold?: (told: Told[]) => void;
}

/** Submits documents to a server, ten a batch, three tries each, unless the changes say otherwise. */
export async function submitTo(
	server: Pick<BulkServer, 'send'>,
	models: ModelDocument[],
	{ signal, clock = virtualTime(), told = [], onTold, ...changes }: Asked = {},
): Promise<Submitted> {
	const counts = { attempts: 0, batches: 0, retries: 0 };
	const facts = storeDocuments<number>({
		documents: waiting(models),
		batchLimits: { maxCount: 10, maxBytes: Infinity },
		retryLimits: { maxTries: 3, maxElapsedMs: Infinity },
		concurrency: 1,
		client: { send: parsing(server.send), clock, signal },
		path: '/knowledges/1/bulk',
		timeoutMs: 1000,
		...changes,
	});
	for await (const fact of facts) {
		for (const one of fact)
			if ('document' in one) told.push(one);
			else if (one.outcome === 'sent') mergeWith(counts, one.counts, add);
		onTold?.(told);
	}
	const placesOf: Submitted['placesOf'] = (outcome) =>
		told
			.filter((result) => result.outcome === outcome)
			.map(({ document }) => document.origin)
			.sort((one, other) => one - other);
	return { told, counts, placesOf };
}
