import { buildPath } from '../../transport/api';
import { type Call, call, OutageBudget, type RetryLimits } from '../../transport/call';
import { systemClock } from '../../transport/clock';
import type { Send } from '../../transport/request';
import { getStatus, startProcessing } from './processingOperations';

/** The path of the request that stores new documents and changes existing ones. */
export const STORE_PATH = '/knowledges/{knowledgebaseId}/bulk';

/**
 * Returns the paths for storing and processing the documents of a knowledgebase, and `send` for their requests. All
 * requests share one outage budget. Each request is safe to repeat after a lost answer.
 */
export function knowledgebaseRoutes(
	knowledgebaseId: string,
	send: Send,
	{ retryLimits, timeoutMs }: { retryLimits: RetryLimits; timeoutMs: number },
	signal?: AbortSignal,
) {
	const clock = systemClock;
	const client = { send, clock, signal, outageBudget: new OutageBudget(retryLimits) };
	return {
		client,
		storePath: buildPath(STORE_PATH, { knowledgebaseId }),
		startPath: buildPath(startProcessing.path, { knowledgebaseId }),
		statusPath: (ids: string[]) =>
			buildPath(getStatus.path, { knowledgebaseId, documentIds: ids.join(',') }),
		send: async <Answer>(request: Omit<Call<Answer>, 'repeatable'>) =>
			await call(client, { timeoutMs, repeatable: true, ...request }),
		clock,
		signal,
	};
}
