import { z } from 'zod';
import type { ZodTypeAny } from 'zod';

import { isCoded } from '../nodes/XpertAi/execution/operation';
import type { Operation } from '../nodes/XpertAi/execution/operation';
import { STORE_PATH } from '../nodes/XpertAi/operations/document/submit/knowledgebase';
import { document } from '../nodes/XpertAi/payloads/document';
import { runBodies } from '../nodes/XpertAi/payloads/run';
import { CANCEL_PATH, ONE_RUN_PATH, RUNS_PATH, WAIT_PATH } from '../nodes/XpertAi/threads/runsApi';

/** A request of an operation with its own code. */
interface OperationRequest {
	method: string;
	path: string;
	/** The schema of its body. */
	body?: ZodTypeAny;
}

const runBody = z.union([runBodies.message, runBodies.decision, runBodies.retry]);

const STORE: OperationRequest = { method: 'POST', path: STORE_PATH, body: z.array(document) };
const WAIT: OperationRequest = { method: 'POST', path: WAIT_PATH, body: runBody };
const ONE_RUN: OperationRequest = { method: 'GET', path: ONE_RUN_PATH };

/** The main request of each operation with its own code, by its value. */
const CODED: Record<string, OperationRequest> = {
	submit: STORE,
	disable: STORE,
	enable: STORE,
	run: WAIT,
	decide: WAIT,
	retry: WAIT,
	start: { ...WAIT, path: RUNS_PATH },
	getRun: ONE_RUN,
	waitForRun: ONE_RUN,
	cancelRun: { method: 'POST', path: CANCEL_PATH },
};

/** The main request of an operation. */
export const requestOf = (
	operation: Operation,
): { method: string; path: string; body?: unknown } =>
	isCoded(operation) ? codedRequest(operation) : operation;

/** @throws Error if an operation with its own code has no request here */
export function codedRequest({ value }: Operation): OperationRequest {
	const request = CODED[value];
	if (!request) throw new Error(`contract/requests.ts has no request of ${value}`);
	return request;
}
