import { z } from 'zod';

import { eachOf, finite, nullableText, openObject, uuid } from './common';

/** Who may see a knowledgebase (contract, Knowledgebase). */
export const PERMISSIONS = ['private', 'organization', 'public'] as const;

/** Where the content of a knowledgebase is stored (contract, Knowledgebase). */
export const KNOWLEDGEBASE_TYPES = ['standard', 'external'] as const;

/** How many chunks a search returns, and their minimum score (contract, recall). */
export const recallSettings = openObject({
	topK: z.number().int().nullish(),
	score: finite.nullish(),
});

/** How documents are cut into chunks (contract, parserConfig). */
export const parserConfig = openObject({
	chunkSize: z.number().int().nullish(),
	chunkOverlap: z.number().int().nullish(),
	delimiter: z.string().nullish(),
});

/** The embedding model of a knowledgebase (contract, copilotModel). */
export const copilotModel = openObject({
	...eachOf(nullableText, 'copilotId', 'modelType', 'model'),
});

/** The types of metadata fields (recorded, `knowledge-filter-4`). */
export const METADATA_TYPES = [
	'string',
	'number',
	'boolean',
	'datetime',
	'enum',
	'string[]',
	'number[]',
	'object',
] as const;

/** A field of the metadata schema. Servers say themselves what else is wrong with one (recorded, `knowledge-filter-4`). */
const metadataField = openObject({
	key: z.string(),
	type: z.enum(METADATA_TYPES),
	enumValues: z.array(z.unknown()).nullish(),
});

/**
 * The body of an update: the server keeps fields that are left out; `null` clears a field. Fields that the contract does not
 * have pass through, so that newer servers can be used.
 */
export const knowledgebaseChanges = openObject({
	...eachOf(uuid.nullish(), 'workspaceId', 'integrationId'),
	...eachOf(nullableText, 'description', 'extKnowledgebaseId'),
	name: z.string().min(1).optional(),
	permission: z.enum(PERMISSIONS).nullish(),
	type: z.enum(KNOWLEDGEBASE_TYPES).nullish(),
	recall: recallSettings.nullish(),
	parserConfig: parserConfig.nullish(),
	copilotModel: copilotModel.nullish(),
	metadataSchema: z.array(metadataField).nullish(),
});

/** The body of a new knowledgebase. Servers answer a missing name with "Name Exist", so the name is required here. */
export const knowledgebase = knowledgebaseChanges.extend({ name: z.string().min(1) });
