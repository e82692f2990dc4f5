import { inRange } from 'lodash';

import { isTlsErrorCode, UNCONNECTED_REASONS } from './networkCodes';

/** The kinds of failures. */
export type FailureKind =
	/** The credential is invalid or does not allow the host, so the node sent no request. */
	| 'invalidCredential'
	/** n8n's SSRF protection blocked the address. */
	| 'blocked'
	/** The execution was stopped. */
	| 'cancelled'
	/** The answer did not arrive in time. */
	| 'timeout'
	/** The connection failed or broke. */
	| 'network'
	/** The server answered with a redirect (3xx), which the node does not follow. */
	| 'redirect'
	/** The server answered, but the operation failed. Example: a run of the assistant ended with an error. */
	| 'unsuccessful'
	/** A 2xx answer does not contain the expected data. Example: an HTML page or incomplete JSON. */
	| 'unreadable'
	/** The server or a proxy sent an error status, such as 404 or 502, or reported a failure under a 2xx status. */
	| 'status';

/** Why a request failed. Functions return failures instead of throwing them. */
export interface Failure {
	kind: FailureKind;
	/** HTTP status, if the server or a proxy answered. */
	status?: number;
	/** The error code of Node.js or axios, such as `ECONNREFUSED`. */
	code?: string;
	/** The PostgreSQL error code in an error response, such as `23505`. */
	databaseCode?: string;
	/** The reason from the server or the node, in one line. */
	reason?: string;
	/**
	 * What does not exist: the record or the route. Set only for a 404 of the Xpert AI server. `call` removes `route`
	 * if only one answer reported a missing route.
	 */
	missing?: 'record' | 'route';
	/**
	 * Whether the server has not answered any request yet. A 404 of a proxy or an unrelated server is no answer. Set only
	 * for documents, and only in executions that a user started in the editor.
	 */
	hasServerNeverAnswered?: boolean;
	/** The header `x-request-id` of the answer. It identifies the request in the server's log. */
	requestId?: string;
	/** The wait time that the server asks for (`Retry-After`), in milliseconds. */
	retryAfterMs?: number;
	/** How often the request was sent, if known. */
	attempts?: number;
	/** The path of the request, without the origin. Empty if the failure does not come from a request. */
	path: string;
	method: string;
}

/** HTTP statuses of temporary failures. Not 500, which Xpert AI servers send for invalid requests. */
const TRANSIENT_STATUSES = [408, 425, 429, 502, 503, 504, 520, 521, 522, 523, 524, 529, 530];

/** Whether the failure is temporary, so a retry can succeed. */
export function isTransient(failure: Failure): boolean {
	const { kind, status = 0, code = '' } = failure;
	// A retry cannot fix a rejected certificate or a wrong protocol.
	if (isTlsErrorCode(code)) return false;
	// The connection can be better next time.
	if (kind === 'network' || kind === 'timeout') return true;
	// A proxy can answer with a page while its server is down.
	if (kind === 'unreadable' || isNotFoundFromOtherServer(failure)) return true;
	// The server is rebuilding the index of the knowledgebase. This ends after some time.
	if (isRebuildingIndex(failure)) return true;
	return kind === 'status' && TRANSIENT_STATUSES.includes(status);
}

/** Whether the server is out of order: the failure is temporary, or has any status from 500. */
export const isOutage = (failure: Failure) =>
	isTransient(failure) || (failure.kind === 'status' && (failure.status ?? 0) >= 500);

/** Whether a proxy or an unrelated server sent a 404. */
export const isNotFoundFromOtherServer = (failure: Failure) =>
	failure.kind === 'status' && failure.status === 404 && failure.missing === undefined;

/** Whether the failure suggests that there is no Xpert AI server at the Base URL. */
export const suggestsWrongServer = ({ kind, hasServerNeverAnswered }: Failure) =>
	kind === 'unreadable' || hasServerNeverAnswered === true;

/** `call` stops retrying after this many consecutive failures that suggest a wrong server (see `suggestsWrongServer`). */
export const MAX_WRONG_SERVER_SIGNS = 3;

/**
 * Whether the server certainly did not process the request. False for a 503 without a `Retry-After` header, because a
 * proxy can send such a 503 while the server processes the request.
 */
export function certainlyNotDone(failure: Failure): boolean {
	const { status, retryAfterMs, missing } = failure;
	if (isNeverSent(failure) || missing === 'route') return true;
	return (
		status === 429 || (status === 503 && retryAfterMs !== undefined) || isRebuildingIndex(failure)
	);
}

/** Whether the request was never sent to the server. */
export const isNeverSent = ({ kind, code = '' }: Failure) =>
	kind === 'invalidCredential' ||
	kind === 'blocked' ||
	(kind === 'network' && (UNCONNECTED_REASONS.has(code) || isTlsErrorCode(code)));

/**
 * Matches the server's reason for rejecting requests during an index rebuild of a knowledgebase. The server processes
 * no part of these requests. Recorded in `test/recordings/knowledge.json`.
 */
const REBUILD_REASON_PATTERN = /^embedding rebuild is running/i;

/** Whether the server rejected the request because of an index rebuild (see `REBUILD_REASON_PATTERN`). */
export const isRebuildingIndex = ({ kind, status, reason = '' }: Failure) =>
	kind === 'status' && status === 400 && REBUILD_REASON_PATTERN.test(reason);

/**
 * Whether the server may have processed the request, or may still process it. Always false for the kind `cancelled`, so
 * callers must handle this kind separately. Also false for status 500, which `mayHaveStoppedPartway` covers.
 */
export function isOutcomeUnknown(failure: Failure): boolean {
	if (certainlyNotDone(failure)) return false;
	const { status = 0 } = failure;
	// A proxy sends most statuses above 501. The server may process the request all the same.
	return isTransient(failure) || hasSuccessStatus(failure) || status > 501;
}

/** Whether the server reported a failure under a 2xx status, with `success: false`. */
export const hasSuccessStatus = ({ kind, status = 0 }: Failure) =>
	kind === 'status' && inRange(status, 200, 300);

/** Whether the response suggests that the route does not exist. */
export function mayMeanNoRoute({ kind, status = 0, missing }: Failure): boolean {
	if (kind !== 'status') return false;
	return status === 405 || status === 501 || (status === 404 && missing !== 'record');
}

/** Whether the token lacks the permission for this request. */
export const isForbidden = ({ status }: Failure) => status === 403;

/** Whether the server rejects the token, in general (401) or for this request (403). */
export const isTokenRejected = (failure: Failure) => failure.status === 401 || isForbidden(failure);

/** Whether the record may be missing. Xpert AI servers report a missing record with 404 or 500. */
export const mayMeanNoRecord = ({ kind, status, missing }: Failure) =>
	kind === 'status' && (missing === 'record' || status === 500);

/** Whether the request was too large for the server or a proxy. No part of such a request is processed. */
export const isTooLarge = ({ kind, status }: Failure) => kind === 'status' && status === 413;

/** Whether no answer came in time, at the node or at a proxy. A smaller request may get an answer in time. */
export const isTimeout = ({ kind, status = 0 }: Failure) =>
	kind === 'timeout' || (kind === 'status' && [408, 504, 524].includes(status));

/** Whether the connection was closed. Some servers and proxies do this with a request that is too large. */
export const isConnectionClosed = ({ kind, code = '' }: Failure) =>
	kind === 'network' && ['ECONNRESET', 'EPIPE'].includes(code);

/** Whether a record with the same ID was created at the same moment. Recorded in `test/recordings/turn-lock.json`. */
export const isDuplicate = ({ status, databaseCode }: Failure) =>
	status === 400 && databaseCode === '23505';

/** Whether the server rejected the content of the request, or lacks a record that the request names. */
export const isInputRejected = (failure: Failure) =>
	(failure.status === 400 && !isRebuildingIndex(failure)) ||
	failure.status === 422 ||
	failure.missing === 'record';

/** Whether the server failed during the request (500). It may have stored the data before it failed. */
export const isInternalServerError = ({ status }: Failure) => status === 500;

/**
 * Whether the server itself reported that the request failed, and may have processed part of it. False if no answer came
 * (see `isOutcomeUnknown`).
 */
export const mayHaveStoppedPartway = (failure: Failure) =>
	isInputRejected(failure) || isInternalServerError(failure);
