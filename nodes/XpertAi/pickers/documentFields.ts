import { sortBy, startCase } from 'lodash';
import { z } from 'zod';
import type { FieldType, INodeProperties, ResourceMapperFields } from 'n8n-workflow';

import { documentSchema } from '../payloads/document';

/** Fields that the resource mapper shows by default. The user can add the others. */
const FIELDS_SHOWN_BY_DEFAULT = ['name', 'storageFileId', 'fileUrl'];

/** Returns the display name of a document field. */
export function documentFieldLabel(id: string): string {
	if (id === 'id') return 'ID (UUID)';
	if (id === 'processDuation') return 'Process Duration (processDuation)';
	return startCase(id)
		.replace(/\bId\b/g, 'ID')
		.replace(/\bUrl\b/g, 'URL');
}

/** Hints to append to display names, because the resource mapper shows no descriptions. */
const FIELD_HINTS: Record<string, string> = {
	folder: ' (a path, such as Dept/Sales)',
	parserConfig: ' (JSON with chunkSize, chunkOverlap, delimiter)',
	filePath: " (on the server's own disk)",
};

/**
 * Returns the document fields for n8n's resource mapper. The ID of a field is its name in the API contract. With "Map
 * Automatically", n8n maps a column to the field whose ID is the name of the column.
 */
export async function getDocumentFields(): Promise<ResourceMapperFields> {
	const fields = Object.entries(documentSchema.shape).map(([id, schema]) => ({
		id,
		displayName: `${documentFieldLabel(id)}${FIELD_HINTS[id] ?? ''}`,
		required: false,
		defaultMatch: false,
		display: true,
		removed: !FIELDS_SHOWN_BY_DEFAULT.includes(id),
		type: documentFieldType(schema),
	}));
	return { fields: sortBy(fields, 'removed') };
}

/**
 * The resource mapper's type for each class of zod schema. Dates are strings, because n8n reformats values of the type
 * `dateTime`.
 */
const MAPPER_TYPES: Record<string, FieldType> = {
	ZodString: 'string',
	ZodNumber: 'number',
	ZodBoolean: 'boolean',
	ZodArray: 'array',
	ZodObject: 'object',
};

/** The document fields as node parameters. The operation Document: Submit uses them to check the mapped values. */
export const documentParameters = Object.entries(documentSchema.shape).map(
	([name, schema]): INodeProperties => {
		const type = documentFieldType(schema);
		const isPlain = type === 'string' || type === 'number' || type === 'boolean';
		return {
			name,
			displayName: documentFieldLabel(name),
			type: isPlain ? type : 'json',
			default: '',
		};
	},
);

/** Returns the resource mapper's type for a schema; undefined for `parent`, which can have any type. */
function documentFieldType(schema: z.ZodTypeAny): FieldType | undefined {
	return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
		? documentFieldType(schema.unwrap() as z.ZodTypeAny)
		: MAPPER_TYPES[schema.constructor.name];
}
