import { get, isArray, isPlainObject, mapValues, memoize } from 'lodash';
import { DateTime } from 'luxon';
import { type INode, isExpression, type NodeParameterValueType } from 'n8n-workflow';

import type { IdentityOptions } from '../payloads/identity';
import { type ExpressionScope, expressionValue, expressionValueByParts } from './expressions';
import { isLocator } from './givenValues';
import { findPath } from './jsonParts';

/** Fields that are left out of a collection that contains an expression. They are read on their own. */
const FIELDS_READ_ALONE = ['documentSettings.documentVersion', 'options.shard'];

/**
 * Identity fields that are read with their collection. If a part of the expression is missing, the value is a
 * `MissingPart`.
 */
const COLLECTION_IDENTITY_FIELDS: Record<string, IdentityOptions> = {
	'documentFields.value.fileUrl': {},
	'documentFields.value.folder': {},
	'documentFields.value.id': {},
	'documentSettings.folder': {},
	'documentSettings.metadataRows.values.content': { takesObjects: true },
	'options.filterValues.values.content': { takesObjects: true },
};

/** Whether a parameter of a node has no expression. */
const constantCheckOf = memoize<(node: INode) => (name: string) => boolean>(({ parameters }) =>
	memoize((name: string) => !findPath(get(parameters, name), isExpression)),
);
constantCheckOf.cache = new WeakMap();

/**
 * Reads a parameter, without the slow validation of n8n. Evaluates each expression once, however often the parameter is
 * read. In a collection, evaluates each identity field part by part.
 *
 * @param initial the value if the parameter is not set. It may hold expressions.
 * @returns the value. A field of `COLLECTION_IDENTITY_FIELDS` is a `MissingPart` if a part of its expression is missing.
 * Fields of `FIELDS_READ_ALONE` are left out of a collection that contains an expression.
 */
export function resolveParameter(
	place: ExpressionScope,
	name: string,
	initial: NodeParameterValueType,
): unknown {
	const { context, index, node } = place;
	if (constantCheckOf(node)(name) && !findPath(initial, isExpression))
		return context.getNodeParameter(name, index, initial, { skipValidation: true });
	const given: unknown = get(node.parameters, name, initial);
	return resolveValue({ place, parameterName: name }, given, name, name);
}

/** A read of a parameter. */
interface ParameterRead {
	place: ExpressionScope;
	/** The name of the parameter. */
	parameterName: string;
}

/**
 * Resolves all expressions inside a value. Leaves out fields of `FIELDS_READ_ALONE`, unless the field is itself the
 * parameter that is read.
 *
 * @param path the path to the value, for n8n
 * @param field the same path without the indexes of rows and the keys of a resource locator
 */
function resolveValue(read: ParameterRead, given: unknown, path: string, field: string): unknown {
	const isInside = field !== read.parameterName;
	if (isInside && FIELDS_READ_ALONE.includes(field)) return undefined;
	if (isArray(given))
		return given.map((one, at) => resolveValue(read, one, `${path}[${at}]`, field));
	if (isPlainObject(given)) {
		const isOneField = isLocator(given);
		return mapValues(given as object, (one: unknown, key) => {
			const inner = /^\w+$/.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
			const value = resolveValue(read, one, inner, isOneField ? field : `${field}.${key}`);
			// n8n also converts dates inside collections to text.
			return DateTime.isDateTime(value) ? value.toString() : value;
		});
	}
	if (!isExpression(given)) return given;
	const { place } = read;
	const identityOptions = isInside ? COLLECTION_IDENTITY_FIELDS[field] : undefined;
	return identityOptions
		? expressionValueByParts(place, given, path, field, identityOptions)
		: expressionValue(place, given, path, field);
}
