import type { Failure } from '../../../../../nodes/XpertAi/transport/failure';
import type { RequestOutcome } from '../../../../../nodes/XpertAi/transport/request';

const WHERE = { method: 'POST', path: '/api/ai/knowledges/1/bulk' };

/** A failure of the bulk request. */
export function failure(facts: Omit<Failure, 'method' | 'path'>): Failure {
	return { ...facts, ...WHERE };
}

export function failed(facts: Omit<Failure, 'method' | 'path'>): RequestOutcome {
	return { ok: false, failure: failure(facts) };
}

/** An answer of the API with this status; its 404 misses a record. */
export function answered(status: number, retryAfterMs?: number): RequestOutcome {
	const missing = status === 404 ? ({ missing: 'record' } as const) : {};
	return failed({ kind: 'status', status, retryAfterMs, reason: `reason ${status}`, ...missing });
}

/** No answer, for this reason of the network. */
export function broken(code: string): RequestOutcome {
	return failed({ kind: 'network', code });
}

export function succeeded(answer: unknown = []): RequestOutcome {
	return { ok: true, status: 201, answer };
}
