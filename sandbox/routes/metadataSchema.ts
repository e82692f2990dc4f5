import { countBy } from 'lodash';
import { badRequest } from '../errors';
import { isDatetime } from '../filters';
import { asObject, isObject, type Loose } from '../values';

const METADATA_KEY = /^[\w-]{1,128}$/;

const isText = (value: unknown): boolean => typeof value === 'string';

/** The types of fields, and what a document may have in one. */
const TYPES: Record<string, (value: unknown) => boolean> = {
	string: isText,
	number: (value) => typeof value === 'number',
	boolean: (value) => typeof value === 'boolean',
	datetime: isDatetime,
	'string[]': (value) => Array.isArray(value) && value.every(isText),
	'number[]': (value) => Array.isArray(value) && value.every((one) => typeof one === 'number'),
	object: isObject,
	enum: isText,
};

/** Metadata fields of a knowledgebase with their scope filled in (`E01` "metadataSchema ok"). */
export function metadataSchema({ metadataSchema: schema }: Loose): unknown {
	if (schema === undefined || schema === null) return schema;
	if (!Array.isArray(schema) || schema.length > 100) {
		throw badRequest('Metadata schema must contain at most 100 fields.');
	}
	const fields = schema.map(fieldOf);
	const [twice] = Object.entries(countBy(fields, 'key')).find(([, count]) => count > 1) ?? [];
	if (twice !== undefined) throw badRequest(`Duplicate metadata field key '${twice}'.`);
	return fields;
}

function fieldOf(field: unknown): Loose {
	const { key, ...rest } = asObject(field);
	if (typeof key !== 'string' || !METADATA_KEY.test(key)) {
		throw badRequest(
			`Metadata field key '${String(key)}' must be 1-128 letters, numbers, underscores or hyphens.`,
		);
	}
	if (!(String(rest.type) in TYPES)) {
		throw badRequest(`Unsupported metadata type '${String(rest.type)}' for '${key}'.`);
	}
	const { type, enumValues } = rest;
	if (type === 'enum' && !(Array.isArray(enumValues) && enumValues.length > 0)) {
		throw badRequest(`Enum metadata field '${key}' requires enumValues.`);
	}
	return { key, scope: 'document', ...rest };
}

/** Refuses metadata that is not as the schema says; fields outside it, and null, are taken (`knowledge` "null"). */
export function checkMetadata(schema: unknown, metadata: unknown): void {
	const values = asObject(metadata);
	for (const { key, type, enumValues } of (Array.isArray(schema) ? schema : []) as Loose[]) {
		const [name, value] = [String(key), values[String(key)]];
		if (value === undefined || value === null) continue;
		if (type === 'enum' && Array.isArray(enumValues) && !enumValues.includes(value)) {
			throw badRequest(`Metadata '${name}' must be one of: ${enumValues.join(', ')}.`);
		}
		if (!TYPES[String(type)]?.(value)) {
			throw badRequest(`Metadata '${name}' must be of type '${String(type)}'.`);
		}
	}
}
