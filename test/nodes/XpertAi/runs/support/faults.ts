import type { Failure } from '../../../../../nodes/XpertAi/transport/failure';
import type { ApiRequest, Outcome } from '../../../../../nodes/XpertAi/transport/request';
import { PROPERTY_RUNS } from '../../../../support/propertyRuns';

/** What goes wrong with one request. */
export interface Fault {
	/** What the node sees of it. */
	failure: Omit<Failure, 'method' | 'path'>;
	/** A body that comes as a success in place of the server's, judged as the transport does; none is `undefined`. */
	body?: { answer: unknown };
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
	failure: {
		kind: 'status',
		status,
		reason: `reason ${status}`,
		...(status === 404 ? { missing: 'record' } : {}),
	},
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

/** A success with a body that is not the server's. */
export const wrongBody = (answer: unknown, arrives: boolean): Fault => ({
	failure: { kind: 'unreadable', status: 200, reason: 'it is something else' },
	body: { answer },
	arrives,
	afterMs: 0,
});

/** Bodies of a success that this API does not send: none, an empty list, JSON and text of somebody else. */
export const WRONG_BODIES: unknown[] = [
	undefined,
	[],
	{},
	{ statusCode: 500, message: 'Internal server error' },
	{ success: false },
	{ id: 'of another record' },
	'OK',
];

/** A 404 of somebody else, as a proxy gives while a container restarts. */
export const stray404 = (arrives = false): Fault => ({
	failure: { kind: 'status', status: 404, reason: 'page not found' },
	arrives,
	afterMs: 0,
});

/** The word of a server that has just started that it does not have the route. */
export const noRoute: Fault = {
	failure: { kind: 'status', status: 404, missing: 'route', reason: 'Cannot POST /api/ai' },
	arrives: false,
	afterMs: 0,
};

type Request = Pick<ApiRequest, 'method' | 'path' | 'checkAnswer'>;

/** The outcome of a request that failed. */
export function fail(
	{ method, path }: Request,
	facts: Omit<Failure, 'method' | 'path'>,
): Extract<Outcome, { ok: false }> {
	return { ok: false, failure: { ...facts, method, path: `/api/ai${path}` } };
}

/** An outcome after the check that the transport makes of every success. */
export function checked(request: Request, outcome: Outcome): Outcome {
	const flaw = outcome.ok ? request.checkAnswer?.(outcome.answer) : undefined;
	return flaw === undefined
		? outcome
		: fail(request, { kind: 'unreadable', status: 200, reason: flaw });
}

/** What comes of a request that something befalls. */
export function faulty(request: Request, { failure, body }: Fault): Outcome {
	if (!body) return fail(request, failure);
	return checked(request, { ok: true, status: 200, answer: body.answer });
}

/** The statuses that proxies and gateways answer with. */
const PROXY_STATUSES = [
	...[400, 401, 402, 403, 405, 406, 407, 408, 409, 410, 411, 412, 413, 414, 415, 416, 417, 421],
	...[422, 425, 429, 431, 451, 500, 501, 502, 503, 504, 505, 507, 508, 510, 511],
	...[520, 521, 522, 523, 524, 525, 526, 527, 529, 530, 598, 599],
];

/** One of how many faults is tried at each request: the proofs try all, the unit tests a few. */
const SHARE = PROPERTY_RUNS >= 250 ? 1 : 24;

/** Of everything that may befall a request, what is tried at the request of this place. */
export function faultsAt(place: number): Fault[] {
	return eachFault().filter((_, index) => (index + place) % SHARE === 0);
}

/** Everything that may befall one request, arrived or not. */
function eachFault(): Fault[] {
	const anyway = [true, false].flatMap((arrives) => [
		...PROXY_STATUSES.filter((status) => !(arrives && status === 429)).map((status) =>
			gateway(status, arrives, 0),
		),
		...WRONG_BODIES.map((answer) => wrongBody(answer, arrives)),
		stray404(arrives),
		drop(arrives),
		gateway(504, arrives),
		{ ...cutOff, arrives },
		// A page of a proxy, as the transport judges it.
		{ ...wrongBody('', arrives), body: undefined },
		hangs(arrives),
	]);
	return [...anyway, refusal(404), noRoute, refusedConnection, tooMany(1000), notNow(1000)];
}
