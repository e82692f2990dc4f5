import { map, uniq } from 'lodash';
import { type INode, NodeApiError, NodeOperationError } from 'n8n-workflow';

import type { Answered } from '../transport/answer';
import { call, type RetryableRequest } from '../transport/call';
import { systemClock } from '../transport/clock';
import type { RequestContext } from '../transport/credential';
import { type Failure, isRebuildingIndex } from '../transport/failure';
import { failureDescription, failureMessage } from '../transport/failureText';
import { executionCancelSignal, type Send } from '../transport/request';

export type ItemError = NodeApiError | NodeOperationError;

/** An ID in a request. `label` is the quoted display name of the parameter, e.g. `"Thread"`. */
export interface NamedId {
	label: string;
	id: string;
}

/** Advice about failed requests of an operation, by HTTP status. A function may return undefined: no special advice. */
export type StatusAdvice = Partial<
	Record<number, string | ((failure: Failure) => string | undefined)>
>;

/** What the message and the advice of an error depend on, in addition to the failure. */
export interface AdviceContext {
	statusAdvice?: StatusAdvice;
	/** The record IDs in the path and body of the request. */
	ids?: NamedId[];
	/** The record that a 404 answer is about. If set, the error names only this record, not `ids`. */
	missingRecord?: NamedId;
	/** The name of the option that limits the time of a request, e.g. `"Timeout (Seconds)" under Options`. */
	timeLimitOption?: string;
}

/** Returns the n8n error for a failed request. The error contains no token and no request headers. */
export function apiError(
	failure: Failure,
	{ node, itemIndex, ...context }: AdviceContext & { node: INode; itemIndex?: number },
): NodeApiError {
	const ids = context.missingRecord ? [context.missingRecord] : (context.ids ?? []);
	const message = isMissingOneOf(ids, failure) ? notFoundMessage(ids) : failureMessage(failure);
	const description = failureDescription(failure, adviceFor(failure, { ...context, ids }));
	const httpCode = failure.status?.toString() ?? failure.code;
	const shown = { message, description, httpCode, itemIndex };
	const error = new NodeApiError(node, { message }, shown);
	// Restores the message, because n8n's constructor replaces a message that contains a network error code.
	error.message = message;
	error.context.data = { ...failure };
	return error;
}

/** Whether the server reports a missing record without naming it. The error then names `ids`. */
const isMissingOneOf = (ids: NamedId[], failure: Failure): boolean =>
	ids.length > 0 &&
	failure.missing === 'record' &&
	UNNAMED_RECORD_PATTERN.test(failure.reason ?? '');

/** Matches a 404 reason that does not name the missing record. */
const UNNAMED_RECORD_PATTERN = /^the requested record was not found$/i;

function notFoundMessage(ids: NamedId[]): string {
	const names = ids.map(({ label, id }) => `${label.replaceAll('"', '')} ${id}`);
	return `${names.join(' or ')} was not found`;
}

/**
 * Returns specific advice about a failure, or undefined. `failureDescription` replaces undefined with general advice.
 */
function adviceFor(
	failure: Failure,
	{ statusAdvice, ids, timeLimitOption }: AdviceContext & { ids: NamedId[] },
): string | undefined {
	const { kind, status = 0 } = failure;
	if (kind === 'timeout' && timeLimitOption !== undefined)
		return `Raise ${timeLimitOption}, or check how busy the server is. It may still have done the work.`;
	if (kind !== 'status') return undefined;
	if (isRebuildingIndex(failure)) return REBUILDING_ADVICE;
	const declared = statusAdvice?.[status];
	const operationAdvice = typeof declared === 'function' ? declared(failure) : declared;
	if (operationAdvice !== undefined) return operationAdvice;
	const fields = uniq(map(ids, 'label')).join(' and ');
	if (isMissingOneOf(ids, failure)) return notFoundAdvice(fields);
	// A wrong ID can be the reason for status 403.
	if (status === 403) return `${FORBIDDEN_ADVICE}${fields && ` Also check ${fields}.`}`;
	return undefined;
}

function notFoundAdvice(fields: string): string {
	const cause = fields.includes('"Assistant"') ? ', it was never published' : '';
	return `The server has no record with this ID${cause}, or the key may not see it. Check ${fields}.`;
}

const REBUILDING_ADVICE =
	'The server makes all documents of this knowledgebase searchable anew, as its embedding model was changed. Until then it stores and processes nothing; Knowledgebase: Get tells its status. Run it again then.';

const FORBIDDEN_ADVICE =
	"The server knows this key. A user's key runs no threads in private workspaces, an assistant's key only those of its assistant; a workspace's key creates and updates no knowledgebases, and stores no first document of one.";

/**
 * Sends one request, with retries.
 *
 * @param toError creates the error to throw
 * @returns the parsed answer, with its HTTP status
 * @throws NodeApiError if the request still fails after the retries
 */
export async function callOrThrow<Answer>(
	context: RequestContext,
	send: Send,
	request: RetryableRequest<Answer>,
	toError = (failure: Failure) => apiError(failure, { node: context.getNode() }),
): Promise<Answered<Answer>> {
	const signal = executionCancelSignal(context);
	const result = await call({ send, clock: systemClock, signal }, request);
	if (result.ok) return result;
	throw toError(result.failure);
}

/** Returns an error with exactly this message. */
export function operationError(
	node: INode,
	message: string,
	options: { description?: string; itemIndex?: number } = {},
): NodeOperationError {
	const error = new NodeOperationError(node, message, options);
	// Restores the message, because n8n's constructor replaces a message that contains a network error code.
	error.message = message;
	return error;
}
