import isEqual from 'lodash/isEqual';
import omit from 'lodash/omit';
import uniqWith from 'lodash/uniqWith';
import type { ZodTypeAny } from 'zod';
import { zodToJsonSchema } from 'zod-to-json-schema';

import { catalogue } from '../nodes/XpertAi/catalogue';
import { isCoded, isFileBody } from '../nodes/XpertAi/execution/operation';
import type { DeclaredOperation, Operation } from '../nodes/XpertAi/execution/operation';
import { API_ROOT } from '../nodes/XpertAi/transport/api';
import { routeName } from '../sandbox/routes';
import { codedRequest, requestOf } from './requests';
import { FORM_CONTENT, JSON_CONTENT } from './routes';
import type { Bodies, Route } from './routes';
import { shapeOf } from './shape';
import type { Schema } from './shape';

/** A request of the node, and which of its operations sends it. */
export interface NodeRoute extends Route {
	/** As its users know it, e.g. `Document: Submit`. */
	operation: string;
	/** Whether it is beyond the contract, so that a server's description need not have it. */
	isExtension: boolean;
	/** Whether it is known that it is to be given up. */
	isDeprecated?: boolean;
}

/** Every request of the node, with the bodies it knows, as the catalogue has them; what several send alike, once. */
export function nodeRoutes(): NodeRoute[] {
	return uniqWith(allRoutes(), (one, other) =>
		isEqual(omit(one, 'operation'), omit(other, 'operation')),
	);
}

function allRoutes(): NodeRoute[] {
	return catalogue.flatMap(({ name, operations }) =>
		operations.filter(saysSomething).map((operation) => {
			const { method, path } = requestOf(operation);
			return {
				method,
				...placeOf(path),
				bodies: isCoded(operation)
					? codedBodies(codedRequest(operation).body)
					: bodiesOf(operation),
				operation: `${name}: ${operation.name}`,
				isExtension: !/^E\d+$/.test(routeName(method, path) ?? ''),
			};
		}),
	);
}

/** What reads through a route for changes sends nothing that could be compared. */
function saysSomething(operation: Operation): boolean {
	return isCoded(operation) || operation.fixedBody === undefined;
}

const codedBodies = (body?: ZodTypeAny): Bodies => (body ? { [JSON_CONTENT]: schemaOf(body) } : {});

function placeOf(template: string): Pick<Route, 'path' | 'query'> {
	const [path = '', query = ''] = template.split('?');
	return { path: API_ROOT + path, query: [...new URLSearchParams(query).keys()] };
}

function bodiesOf({ body, paging }: DeclaredOperation): Bodies {
	if (!body) return {};
	const own = schemaOf(body.schema);
	if (isFileBody(body)) return { [FORM_CONTENT]: withFields(own, FILE) };
	return { [JSON_CONTENT]: paging ? withFields(own, PAGE) : own };
}

const FILE = { file: { type: 'string', format: 'binary' } };
const PAGE = { limit: { type: 'integer' }, offset: { type: 'integer' } };

function withFields(schema: Schema, more: Record<string, Schema>): Schema {
	return { ...schema, properties: { ...shapeOf(schema).fields, ...more } };
}

function schemaOf(schema: ZodTypeAny): Schema {
	return { ...zodToJsonSchema(schema, { $refStrategy: 'none' }) };
}
