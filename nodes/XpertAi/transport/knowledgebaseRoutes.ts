import { buildPath } from './api';
import {
	type ApiClient,
	call,
	type CallResult,
	OutageBudget,
	type RetryableRequest,
	type RetryLimits,
} from './call';
import type { Clock } from './clock';

/** The path of the request that stores new documents and changes existing ones. */
export const STORE_PATH = '/knowledges/{knowledgebaseId}/bulk';

/** The path of the request that starts the processing of documents. */
export const PROCESS_PATH = '/knowledges/{knowledgebaseId}/process';

/** The path of the request that reads the processing statuses of documents. */
export const STATUS_PATH = '/knowledges/{knowledgebaseId}/status?ids={documentIds*}';

/** The routes to store documents, to start their processing, and to read their statuses. */
export interface KnowledgebaseRoutes {
	/** Sends a request with the retry policy. All requests to these routes are safe to repeat. */
	send: <Answer>(
		request: Omit<RetryableRequest<Answer>, 'repeatable'>,
	) => Promise<CallResult<Answer>>;
	storePath: string;
	processPath: string;
	statusPathOf: (ids: string[]) => string;
	clock: Clock;
	signal?: AbortSignal;
}

/**
 * Returns the paths for storing and processing the documents of a knowledgebase, and `send` for their requests. All
 * requests share one outage budget. Each request is safe to repeat after a lost answer.
 */
export function knowledgebaseRoutes(
	knowledgebaseId: string,
	{ send, clock, signal }: Pick<ApiClient, 'send' | 'clock' | 'signal'>,
	{ retryLimits, timeoutMs }: { retryLimits: RetryLimits; timeoutMs: number },
) {
	const client = { send, clock, signal, outageBudget: new OutageBudget(retryLimits) };
	return {
		client,
		storePath: buildPath(STORE_PATH, { knowledgebaseId }),
		processPath: buildPath(PROCESS_PATH, { knowledgebaseId }),
		statusPathOf: (ids: string[]) =>
			buildPath(STATUS_PATH, { knowledgebaseId, documentIds: ids.join(',') }),
		send: async <Answer>(request: Omit<RetryableRequest<Answer>, 'repeatable'>) =>
			await call(client, { timeoutMs, repeatable: true, ...request }),
		clock,
		signal,
	};
}
