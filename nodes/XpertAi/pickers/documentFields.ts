import sortBy from 'lodash/sortBy';
import startCase from 'lodash/startCase';
import { z } from 'zod';
import type { FieldType, ResourceMapperField, ResourceMapperFields } from 'n8n-workflow';

import { document } from '../payloads/document';

/** Fields shown at first; the user can add the others. */
const SHOWN_FIRST = ['name', 'storageFileId', 'fileUrl'];

/** The display name of a document field: its words, with the contract's spelling where that differs. */
export function documentFieldName(id: string): string {
	if (id === 'id') return 'ID (UUID)';
	if (id === 'processDuation') return 'Process Duration (processDuation)';
	return startCase(id)
		.replace(/\bId\b/g, 'ID')
		.replace(/\bUrl\b/g, 'URL');
}

/** Hints for fields; the mapper shows nothing but their names. */
const FIELD_HINTS: Record<string, string> = {
	folder: 'a path, such as Dept/Sales',
	parserConfig: 'JSON with chunkSize, chunkOverlap, delimiter',
	filePath: "on the server's own disk",
};

/**
 * The fields of a document for the resource mapper, from the schema of the contract, so that columns with the same
 * names are mapped automatically.
 */
export async function getDocumentFields(): Promise<ResourceMapperFields> {
	const fields = Object.entries(document.shape).map(([id, schema]) => documentField(id, schema));
	return { fields: sortBy(fields, ({ removed }) => removed) };
}

function documentField(id: string, schema: z.ZodTypeAny): ResourceMapperField {
	const hint = FIELD_HINTS[id];
	return {
		id,
		displayName: `${documentFieldName(id)}${hint ? ` (${hint})` : ''}`,
		required: false,
		defaultMatch: false,
		display: true,
		removed: !SHOWN_FIRST.includes(id),
		type: documentFieldType(schema),
	};
}

/** The mapper's types. Its date type would reformat the text of the contract. */
const MAPPER_TYPES: Record<string, FieldType> = {
	ZodString: 'string',
	ZodNumber: 'number',
	ZodBoolean: 'boolean',
	ZodArray: 'array',
	ZodObject: 'object',
	ZodRecord: 'object',
};

/** The mapper's type for a schema; `undefined` where the contract leaves the type open (`parent`). */
export function documentFieldType(schema: z.ZodTypeAny): FieldType | undefined {
	return schema instanceof z.ZodOptional || schema instanceof z.ZodNullable
		? documentFieldType(schema.unwrap() as z.ZodTypeAny)
		: MAPPER_TYPES[schema.constructor.name];
}
