import { cloneDeep, isEmpty, keyBy } from 'lodash';

import recordedServer from './recorded.openapi.json';
import { nodeRoutes } from './nodeRoutes';
import type { NodeRoute } from './nodeRoutes';
import { keyOf } from './routes';
import type { Route } from './routes';
import { readServer } from './serverRoutes';
import type { OpenApi } from './serverRoutes';

/** What is known of a server: the requests of the node, and all routes that it may have without being new. */
export interface Known {
	used: NodeRoute[];
	all: Route[];
}

/**
 * The requests of the node as the server of the recordings describes them, whose records are not those that the node
 * sends of them: another server is held against that, so that only what has changed is a difference. What it does not describe is as the node has it.
 */
export async function knownRoutes(): Promise<Known> {
	const { routes } = await readServer(cloneDeep(recordedServer) as unknown as OpenApi);
	const recorded = keyBy(routes, keyOf);
	const used = nodeRoutes().map((route): NodeRoute => {
		const known = recorded[keyOf(route)];
		if (!known) return route;
		const { query, required, isDeprecated } = known;
		const bodies = isEmpty(known.bodies) ? route.bodies : known.bodies;
		return { ...route, bodies, query: [...query, ...required], isDeprecated };
	});
	return { used, all: routes };
}
