import type { Schema } from './shape';

/** A body as one kind of content, e.g. `application/json`. */
export type Bodies = Record<string, Schema>;

/** A request that a server takes, or that the node sends. */
export interface Route {
	method: string;
	/** From the root of the server, e.g. `/api/ai/knowledges/{id}`. */
	path: string;
	/** The schemas of its body by the kind of content; none where it has none, or it is not described. */
	bodies: Bodies;
	/** The names in its query. */
	query: string[];
}

export const JSON_CONTENT = 'application/json';
export const FORM_CONTENT = 'multipart/form-data';

/** What tells routes apart: an id in the path is one whatever it is called, and a query makes no other route. */
export function keyOf({ method, path }: Route): string {
	return `${method} ${path.replaceAll(/\{[^}]*\}/g, '{}').replace(/\/$/, '')}`;
}
