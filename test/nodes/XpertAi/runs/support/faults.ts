import type { Failure } from '../../../../../nodes/XpertAi/transport/failure';

/** What goes wrong with one request. */
export interface Fault {
	/** What the node sees of it. */
	failure: Omit<Failure, 'method' | 'path'>;
	/** Whether the request reached the server all the same. */
	arrives: boolean;
	/** When it goes wrong, counted from the request; when the time limit is over without it. */
	afterMs?: number;
}

/** Faults of which the node can be certain that nothing arrived. */
export const refusedConnection: Fault = {
	failure: { kind: 'network', code: 'ECONNREFUSED' },
	arrives: false,
	afterMs: 0,
};
export const tooMany = (retryAfterMs?: number): Fault => ({
	failure: { kind: 'status', status: 429, reason: 'slow down', retryAfterMs },
	arrives: false,
	afterMs: 0,
});
export const notNow = (retryAfterMs: number): Fault => ({
	failure: { kind: 'status', status: 503, reason: 'not now', retryAfterMs },
	arrives: false,
	afterMs: 0,
});

/** A connection that breaks; the node cannot know whether the request has arrived. */
export const drop = (arrives: boolean, afterMs = 0): Fault => ({
	failure: { kind: 'network', code: 'ECONNRESET' },
	arrives,
	afterMs,
});

/** An answer of a gateway or proxy on the way. */
export const gateway = (status: number, arrives = true, afterMs = 60_000): Fault => ({
	failure: { kind: 'status', status, reason: 'gateway' },
	arrives,
	afterMs,
});

/** An answer of the server itself that refuses the request. */
export const refusal = (status: number): Fault => ({
	failure: { kind: 'status', status, reason: `reason ${status}` },
	arrives: false,
	afterMs: 0,
});

/** A success whose body was cut off on the way. */
export const cutOff: Fault = {
	failure: { kind: 'unreadable', status: 201, reason: 'it breaks off' },
	arrives: true,
	afterMs: 30_000,
};

/** No answer until the time limit of the request. */
export const hangs = (arrives: boolean): Fault => ({ failure: { kind: 'timeout' }, arrives });
