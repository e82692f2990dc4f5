import SwaggerParser from '@apidevtools/swagger-parser';
import { mapValues, pickBy, uniqBy } from 'lodash';
import type { OpenAPIV3, OpenAPIV3_1 } from 'openapi-types';

import { API_ROOT } from '../nodes/XpertAi/transport/api';
import type { Route } from './routes';
import type { Schema } from './shape';

/** An OpenAPI document of version 3. */
export type OpenApi = OpenAPIV3.Document | OpenAPIV3_1.Document;
type PathItem = OpenAPIV3.PathItemObject;
type Operation = OpenAPIV3.OperationObject;
type Parameter = OpenAPIV3.ParameterObject;

/** A request that a server takes, as its OpenAPI document describes it. */
export interface ServerRoute extends Route {
	/** The names in its query, and of headers, that must be there. */
	required: string[];
	isDeprecated: boolean;
	/** Whether the body must be there. */
	needsBody: boolean;
}

/** What a server says of itself. */
export interface ServerDescription {
	title: string;
	/** What lies below the root of the API; a server may have more. */
	routes: ServerRoute[];
}

const METHODS = ['get', 'put', 'post', 'delete', 'patch'] as const;

/** The header every request has. */
const AUTHORIZATION = 'authorization';

/**
 * Reads an OpenAPI document, version 3, as JSON or YAML, in one file or in several.
 *
 * @param source a file, or the document itself
 * @throws Error when it is none
 */
export async function readServer(source: string | OpenApi): Promise<ServerDescription> {
	const options = { resolve: { http: false as const } };
	const document = (await SwaggerParser.dereference(source as string, options)) as OpenApi;
	if (!('openapi' in document) || !document.openapi.startsWith('3.'))
		throw new Error('it is no OpenAPI document of version 3');
	const routes = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
		routesOf(fullPath(document, path), item as PathItem),
	);
	return {
		title: `${document.info.title} ${document.info.version}`,
		routes: routes.filter(({ path }) => path.startsWith(`${API_ROOT}/`)),
	};
}

/** The path from the root of the server: it may stand in the document's own address in part. */
function fullPath({ servers = [] }: OpenApi, path: string): string {
	const [first] = servers;
	if (!first || path.startsWith(`${API_ROOT}/`)) return path;
	return new URL(first.url, 'http://any').pathname.replace(/\/$/, '') + path;
}

function routesOf(path: string, item: PathItem): ServerRoute[] {
	return METHODS.flatMap((method) => {
		const operation = item[method];
		return operation ? [routeOf(method, path, operation, item)] : [];
	});
}

function routeOf(method: string, path: string, operation: Operation, item: PathItem): ServerRoute {
	const own = [...(operation.parameters ?? []), ...(item.parameters ?? [])] as Parameter[];
	const parameters = uniqBy(own, ({ in: place, name }) => `${place} ${name}`);
	const query = parameters.filter((one) => one.in === 'query');
	const headers = parameters.filter(
		({ in: place, name }) => place === 'header' && name.toLowerCase() !== AUTHORIZATION,
	);
	const body = operation.requestBody as OpenAPIV3.RequestBodyObject | undefined;
	const described = pickBy(body?.content, ({ schema }) => schema !== undefined);
	return {
		method: method.toUpperCase(),
		path,
		bodies: mapValues(described, ({ schema }) => schema as Schema),
		query: query.map(({ name }) => name),
		required: [...query, ...headers].filter(({ required }) => required).map(({ name }) => name),
		isDeprecated: operation.deprecated === true,
		needsBody: body?.required === true,
	};
}
