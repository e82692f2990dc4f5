import { sortBy, startCase } from 'lodash';
import { z } from 'zod';
import type { FieldType, INodeProperties, ResourceMapperFields } from 'n8n-workflow';

import { document } from '../payloads/document';

/** Fields that the mapper shows at first. The user can add the other fields. */
const SHOWN_FIRST = ['name', 'storageFileId', 'fileUrl'];

/**
 * Returns the display name of a document field. For `processDuation`, a misspelling in the contract, the name contains
 * both spellings.
 */
export function documentFieldName(id: string): string {
	if (id === 'id') return 'ID (UUID)';
	if (id === 'processDuation') return 'Process Duration (processDuation)';
	return startCase(id)
		.replace(/\bId\b/g, 'ID')
		.replace(/\bUrl\b/g, 'URL');
}

/** Hints that are added to display names, because the mapper shows no descriptions. */
const FIELD_HINTS: Record<string, string> = {
	folder: ' (a path, such as Dept/Sales)',
	parserConfig: ' (JSON with chunkSize, chunkOverlap, delimiter)',
	filePath: " (on the server's own disk)",
};

/**
 * Returns the document fields for n8n's resource mapper. The field IDs are the contract's names, because n8n maps
 * columns with equal names automatically.
 */
export async function getDocumentFields(): Promise<ResourceMapperFields> {
	const fields = Object.entries(document.shape).map(([id, schema]) => ({
		id,
		displayName: `${documentFieldName(id)}${FIELD_HINTS[id] ?? ''}`,
		required: false,
		defaultMatch: false,
		display: true,
		removed: !SHOWN_FIRST.includes(id),
		type: documentFieldType(schema),
	}));
	return { fields: sortBy(fields, 'removed') };
}

/**
 * The resource mapper's type for each class of zod schema. Dates are strings, because the mapper would reformat them.
 */
const MAPPER_TYPES: Record<string, FieldType> = {
	ZodString: 'string',
	ZodNumber: 'number',
	ZodBoolean: 'boolean',
	ZodArray: 'array',
	ZodObject: 'object',
	ZodRecord: 'object',
};

/** The document fields as node parameters, for checking the values in the mapper. */
export const documentFields = Object.entries(document.shape).map(
	([name, schema]): INodeProperties => {
		const type = documentFieldType(schema);
		const isPlain = type === 'string' || type === 'number' || type === 'boolean';
		return {
			name,
			displayName: documentFieldName(name),
			type: isPlain ? type : 'json',
			default: '',
		};
	},
);

/** Returns the mapper's type for a schema; undefined for `parent`, which has no type in the contract. */
function documentFieldType(schema: z.ZodTypeAny): FieldType | undefined {
	return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
		? documentFieldType(schema.unwrap() as z.ZodTypeAny)
		: MAPPER_TYPES[schema.constructor.name];
}
