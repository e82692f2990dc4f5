import { type Operation, isCoded } from '../../../nodes/XpertAi/execution/operation';
import { STORE_PATH } from '../../../nodes/XpertAi/transport/knowledgebaseRoutes';

/** Method and path of a request, as a declared operation has them. */
interface OperationRequest {
	method: string;
	path: string;
}

const STORE: OperationRequest = { method: 'POST', path: STORE_PATH };
const START: OperationRequest = { method: 'POST', path: '/threads/{threadId}/runs' };
const ONE_RUN: OperationRequest = { method: 'GET', path: '/threads/{threadId}/runs/{runId}' };

/** The main request of each operation with its own code, by its value. */
const CODED: Record<string, OperationRequest> = {
	findChanges: { method: 'GET', path: '/knowledges/{knowledgebaseId}/status' },
	submit: STORE,
	disable: STORE,
	enable: STORE,
	run: START,
	decide: START,
	retry: START,
	start: START,
	getRun: ONE_RUN,
	waitForRun: ONE_RUN,
	cancelRun: { method: 'POST', path: `${ONE_RUN.path}/cancel` },
};

/**
 * The main request of an operation.
 *
 * @throws Error if an operation with its own code has no request here
 */
export function requestOf(operation: Operation): OperationRequest {
	if (!isCoded(operation)) return operation;
	const request = CODED[operation.value];
	if (!request) throw new Error(`${__filename} has no request of ${operation.value}`);
	return request;
}
