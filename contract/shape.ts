import { compact, intersection, isPlainObject, union, uniq, without } from 'lodash';

/** A JSON Schema, or a schema of OpenAPI 3.0 or 3.1. */
export type Schema = Record<string, unknown>;

/** What a schema says of a value, as far as a request may come to differ by it. */
export interface Shape {
	/** The types of JSON it may have but for null; none where anything goes. */
	types: string[];
	/** The values it may have, where they are listed. */
	values?: string[];
	/** Of a text, e.g. `uuid`. */
	format?: string;
	/** Of an object; none where they are not described. */
	fields?: Record<string, Schema>;
	/** The fields that must be there. */
	required: string[];
	/** Of an array. */
	items?: Schema;
}

/**
 * Reads a schema one level deep, so that one that leads back to itself does no harm. What can be said in
 * several ways comes out the same: `nullable` and null among the types, `const` and `enum`, `allOf`, `oneOf`.
 */
export function shapeOf(schema: Schema = {}): Shape {
	const choices = [...schemas(schema.oneOf), ...schemas(schema.anyOf)].filter(isMoreThanNull);
	const parts = [ownShape(schema), ...schemas(schema.allOf).map(shapeOf)];
	if (choices.length > 0) parts.push(choices.map(shapeOf).reduce(either));
	return parts.reduce(both);
}

function ownShape({ type, enum: listed, const: only, format, properties, ...rest }: Schema): Shape {
	const values = without(only === undefined ? asList(listed) : [only], null);
	const types = type === undefined ? values.map((value) => typeof value) : asList(type);
	return {
		types: without(uniq(types.map(String)), 'null'),
		...(values.length > 0 && { values: values.map(String) }),
		...(typeof format === 'string' && { format }),
		...(isPlainObject(properties) && { fields: properties as Record<string, Schema> }),
		required: asList(rest.required).map(String),
		...(isPlainObject(rest.items) && { items: rest.items as Schema }),
	};
}

/** A value that both of them describe. */
function both(one: Shape, other: Shape): Shape {
	return {
		...one,
		...other,
		types: one.types.length > 0 ? one.types : other.types,
		...((one.fields ?? other.fields) && { fields: { ...one.fields, ...other.fields } }),
		required: union(one.required, other.required),
	};
}

/** A value that one of them describes. */
function either(one: Shape, other: Shape): Shape {
	const anything = one.types.length === 0 || other.types.length === 0;
	const names = Object.keys({ ...one.fields, ...other.fields });
	const fields = names.map((name) => {
		return [name, { anyOf: compact([one.fields?.[name], other.fields?.[name]]) }] as const;
	});
	return {
		types: anything ? [] : union(one.types, other.types),
		...(one.values && other.values && { values: union(one.values, other.values) }),
		...(one.format === other.format && one.format && { format: one.format }),
		...(names.length > 0 && { fields: Object.fromEntries(fields) }),
		required: intersection(one.required, other.required),
		...((one.items ?? other.items) && { items: one.items ?? other.items }),
	};
}

function isMoreThanNull({ type, enum: listed }: Schema): boolean {
	return type !== 'null' && uniq(asList(listed)).join() !== 'null';
}

function schemas(value: unknown): Schema[] {
	return asList(value).filter((one): one is Schema => isPlainObject(one));
}

function asList(value: unknown): unknown[] {
	if (value === undefined) return [];
	return Array.isArray(value) ? value : [value];
}
