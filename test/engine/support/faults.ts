import type { FaultRule } from '../../../sandbox';

/** A server, or a proxy before it, that answers something else. */
export const answering = (endpoint: string, status: number, more = {}): FaultRule => ({
	endpoint,
	do: 'status',
	status,
	body: 'no',
	...more,
});

/** A server that says in its own words that it does not have the route. */
export const withoutRoute = (endpoint: string, more = {}): FaultRule =>
	answering(endpoint, 404, { body: { statusCode: 404, message: 'Cannot GET /api/ai/x' }, ...more });

/** A request that is lost, by itself or with its answer. */
export const losing = (endpoint: string, when: 'before' | 'after', more = {}): FaultRule => ({
	endpoint,
	do: 'drop',
	when,
	...more,
});

export const delaying = (endpoint: string, ms: number, more = {}): FaultRule => ({
	endpoint,
	do: 'delay',
	ms,
	...more,
});

export const lasting = (ms: number, more = {}): FaultRule => ({
	endpoint: 'runs',
	do: 'run',
	ms,
	...more,
});
