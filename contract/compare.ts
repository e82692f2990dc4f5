import { difference, differenceBy, intersection, isEmpty, keyBy } from 'lodash';

import { FORM_CONTENT, JSON_CONTENT, keyOf } from './routes';
import type { Route } from './routes';
import type { NodeRoute } from './nodeRoutes';
import type { ServerRoute } from './serverRoutes';
import { shapeOf } from './shape';
import type { Schema, Shape } from './shape';

/** Something in which a server is no longer what the node takes it for. */
export interface Difference {
	/** Missing: the node counts on it. Changed: both have it. New: the node does not know it. */
	kind: 'missing' | 'changed' | 'new';
	/** Method and path. */
	route: string;
	/** The operation of the node, where it has one. */
	operation?: string;
	/** What it is, in words; none where it is the route itself. */
	what?: string;
}

/** What a comparison came to. */
export interface Comparison {
	differences: Difference[];
	/** What both have and the server does not describe. */
	notDescribed: Array<Pick<Difference, 'route' | 'operation'>>;
}

/**
 * Holds what a server takes against what is known of the requests of the node.
 *
 * @param known routes that are not new, though the node does not use them
 */
export function compare(node: NodeRoute[], server: ServerRoute[], known: Route[] = []): Comparison {
	const served = keyBy(server, keyOf);
	const asked = node.map((route) => ({ route, found: served[keyOf(route)] }));
	const missing = asked.filter(({ route, found }) => !found && !route.isExtension);
	const shared = asked.flatMap(({ route, found }) => (found ? [{ route, found }] : []));
	return {
		differences: [
			...missing.map(({ route }) => ({ kind: 'missing' as const, ...nameOf(route) })),
			...shared.flatMap(({ route, found }) =>
				routeDifferences(route, found).map((one) => ({ ...one, ...nameOf(route) })),
			),
			...differenceBy(server as Route[], [...node, ...known], keyOf).map(({ method, path }) => ({
				kind: 'new' as const,
				route: `${method} ${path}`,
			})),
		],
		notDescribed: shared
			.filter(({ route, found }) => !isEmpty(route.bodies) && isEmpty(found.bodies))
			.map(({ route }) => nameOf(route)),
	};
}

function nameOf({ method, path, operation }: NodeRoute) {
	return { route: `${method} ${path}`, operation };
}

type Found = Pick<Difference, 'kind' | 'what'>;

function routeDifferences(node: NodeRoute, server: ServerRoute): Found[] {
	const found = difference(server.required, node.query).map((name) =>
		changed(`must come with ${quoted(name)} in its query or headers, which the node does not send`),
	);
	if (server.isDeprecated && !node.isDeprecated)
		found.push(changed('is to be given up: it is marked as deprecated'));
	if (!isEmpty(server.bodies)) found.push(...bodyDifferences(node, server));
	return found;
}

/** A body is held against the one of the same kind, files first. */
function bodyDifferences(node: NodeRoute, server: ServerRoute): Found[] {
	const kinds = Object.keys(server.bodies);
	if (isEmpty(node.bodies))
		return server.needsBody ? [changed('must come with a body, which the node does not send')] : [];
	const preferred = FORM_CONTENT in node.bodies ? FORM_CONTENT : JSON_CONTENT;
	if (!kinds.includes(preferred))
		return [changed(`takes its body as ${kinds.join(' or ')}, the node sends ${preferred}`)];
	return differencesAt('', node.bodies[preferred], server.bodies[preferred]);
}

/** So many names deep is looked: records of a server lead back to themselves. */
const DEEPEST = 4;

/** Holds two schemas against each other, place by place. */
function differencesAt(place: string, node?: Schema, server?: Schema): Found[] {
	if (place.split('.').length > DEEPEST) return [];
	const known = shapeOf(node);
	const taken = shapeOf(server);
	const here = valueDifferences(known, taken).map((what) => changed(`${nameAt(place)} ${what}`));
	const inItems =
		known.items && taken.items ? differencesAt(`${place}[]`, known.items, taken.items) : [];
	return [...here, ...inItems, ...fieldDifferences(place, known, taken)];
}

/** Fields of Xpert AI servers that the contract does not have, so that a server need not take them. */
const BEYOND_CONTRACT = ['metadataSchema'];

function fieldDifferences(place: string, known: Shape, taken: Shape): Found[] {
	const at = (name: string) => (place ? `${place}.${name}` : name);
	// What the node leaves open is the user's own, but for a body that the contract does not show.
	const isOpen = !known.fields && (place !== '' || known.types.length > 0);
	if (!taken.fields || isOpen) return [];
	const fields = { node: known.fields ?? {}, server: taken.fields };
	const names = { node: Object.keys(fields.node), server: Object.keys(fields.server) };
	const required = difference(taken.required, known.required);
	return [
		...difference(names.node, names.server, BEYOND_CONTRACT).map((name): Found => {
			return { kind: 'missing', what: `${quoted(at(name))} is no field any more` };
		}),
		...intersection(names.node, names.server).flatMap((name) => [
			...(required.includes(name) ? [changed(`${quoted(at(name))} must be there now`)] : []),
			...differencesAt(at(name), fields.node[name], fields.server[name]),
		]),
		...difference(names.server, names.node).map((name): Found => {
			const type = typeOf(shapeOf(fields.server[name]));
			return required.includes(name)
				? changed(`${quoted(at(name))} must be there, a new field (${type})`)
				: { kind: 'new', what: `${quoted(at(name))} is a new field (${type})` };
		}),
	];
}

/** What is told of a value in a word or two on each side. What one of them does not say is no difference. */
function valueDifferences(known: Shape, taken: Shape): string[] {
	if (isEmpty(known.types) || isEmpty(taken.types)) return [];
	if (
		!isEmpty(difference(known.types, taken.types)) ||
		!isEmpty(difference(taken.types, known.types))
	)
		return [`is now ${typeOf(taken)}, it was ${typeOf(known)}`];
	if (known.values ?? taken.values) return listDifferences(known.values, taken.values);
	if (known.format === taken.format) return [];
	return [`is now ${typeOf(taken)}, it was ${typeOf(known)}`];
}

function listDifferences(known?: string[], taken?: string[]): string[] {
	if (!taken) return ['is no longer one of listed values'];
	if (!known) return [`may only be ${inList(taken)} now`];
	const more = difference(taken, known);
	const gone = difference(known, taken);
	return [
		...(isEmpty(more) ? [] : [`may also be ${inList(more)} now`]),
		...(isEmpty(gone) ? [] : [`may not be ${inList(gone)} any more`]),
	];
}

function typeOf({ types, format }: Shape): string {
	const type = types.join(' or ') || 'of any type';
	return format ? `${type}, ${format}` : type;
}

const changed = (what: string): Found => ({ kind: 'changed', what });
const quoted = (name: string) => `"${name}"`;
const inList = (values: string[]) => values.map(quoted).join(', ');
const nameAt = (place: string) => (place ? quoted(place) : 'the body');
