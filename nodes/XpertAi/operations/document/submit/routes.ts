import type { ProcessingRoutes } from '../../../ingest/processing';
import type { Clock } from '../../../transport/clock';
import { buildPath } from '../../../transport/request';
import { sendWithRetries } from '../../../transport/sendWithRetries';
import type { Execution } from '../../../execution/operation';
import type { SubmitSettings } from './settings';

/** Xpert's two routes to process the documents of a knowledgebase; starting twice and asking twice does no harm. */
export function processingRoutes(
	{ context, send }: Execution,
	{ retryLimits: limits, timeoutMs }: SubmitSettings,
	knowledgebaseId: string,
	clock: Clock,
): ProcessingRoutes {
	const signal = context.getExecutionCancelSignal();
	return {
		startPath: buildPath('/knowledges/{knowledgebaseId}/process', { knowledgebaseId }),
		statusPath: (ids) =>
			buildPath('/knowledges/{knowledgebaseId}/status?ids={ids}', {
				knowledgebaseId,
				ids: ids.join(','),
			}),
		send: async (request) => {
			const retried = {
				request: { ...request, timeoutMs },
				limits,
				repeatable: true,
				clock,
				signal,
			};
			return (await sendWithRetries(send, retried)).outcome;
		},
		clock,
		signal,
	};
}
