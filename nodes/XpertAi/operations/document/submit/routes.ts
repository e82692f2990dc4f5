import { buildPath } from '../../../transport/api';
import { systemClock } from '../../../transport/clock';
import type { Send } from '../../../transport/request';
import { repeatedSend } from '../../../transport/sendWithRetries';
import type { RetryLimits } from '../../../transport/sendWithRetries';
import { BULK_REQUEST } from '../bulkRequest';
import { getStatus, startProcessing } from '../processing';

/**
 * The routes of a knowledgebase: storing (E3), and processing and its statuses (of Xpert). Their requests can safely be repeated, and share
 * one outage budget.
 */
export function knowledgebaseRoutes(
	knowledgebaseId: string,
	send: Send,
	{ retryLimits: limits, timeoutMs }: { retryLimits: RetryLimits; timeoutMs: number },
	signal?: AbortSignal,
) {
	const clock = systemClock;
	return {
		storePath: buildPath(BULK_REQUEST.path, { knowledgebaseId }),
		startPath: buildPath(startProcessing.path, { knowledgebaseId }),
		statusPath: (ids: string[]) =>
			buildPath(getStatus.path, { knowledgebaseId, documentIds: ids.join(',') }),
		send: repeatedSend(send, { limits, timeoutMs, clock, signal }),
		clock,
		signal,
	};
}
