import { z } from 'zod';

import { finite, uuid } from './common';

/** Who may see a knowledgebase (contract, Knowledgebase). */
export const PERMISSIONS = ['private', 'organization', 'public'] as const;

/** Where the content of a knowledgebase is stored (contract, Knowledgebase). */
export const KNOWLEDGEBASE_TYPES = ['standard', 'external'] as const;

/** How many chunks a search returns, and their minimum score (contract, recall). */
export const recallSettings = z
	.object({
		topK: z.number().int().nullish(),
		score: finite.nullish(),
	})
	.passthrough();

/** How documents are cut into chunks (contract, parserConfig). */
export const parserConfig = z
	.object({
		chunkSize: z.number().int().nullish(),
		chunkOverlap: z.number().int().nullish(),
		delimiter: z.string().nullish(),
	})
	.passthrough();

/** The embedding model of a knowledgebase (contract, copilotModel). */
export const copilotModel = z
	.object({
		copilotId: z.string().nullish(),
		modelType: z.string().nullish(),
		model: z.string().nullish(),
	})
	.passthrough();

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

const MOST_METADATA_FIELDS = 100;

/** A field of the metadata schema, with the server's own checks (recorded, `knowledge-filter-4`). */
const metadataField = z
	.object({
		key: z.string().refine((key) => /^[\w-]{1,128}$/.test(key), {
			message: 'must be 1 to 128 letters, digits, underscores or hyphens',
		}),
		type: z.enum(METADATA_TYPES),
		enumValues: z.array(z.unknown()).nullish(),
	})
	.passthrough()
	.superRefine(({ type, enumValues }, { addIssue }) => {
		if (type !== 'enum' || enumValues?.length) return;
		addIssue({ code: 'custom', path: ['enumValues'], message: 'must name at least one value' });
	});

/** The metadata fields of documents; keys are unique. */
export const metadataSchema = z
	.array(metadataField)
	.max(MOST_METADATA_FIELDS)
	.superRefine((fields, { addIssue }) => {
		const keys = fields.map(({ key }) => key);
		const duplicate = keys.findIndex((key, place) => keys.indexOf(key) !== place);
		if (duplicate < 0) return;
		addIssue({ code: 'custom', path: [duplicate, 'key'], message: 'must be there only once' });
	});

/**
 * The body of E2: the server keeps fields that are left out; `null` clears a field. Fields that the contract does not
 * have pass through, so that newer servers can be used.
 */
export const knowledgebaseChanges = z
	.object({
		workspaceId: uuid.nullish(),
		name: z.string().min(1).optional(),
		description: z.string().nullish(),
		permission: z.enum(PERMISSIONS).nullish(),
		type: z.enum(KNOWLEDGEBASE_TYPES).nullish(),
		recall: recallSettings.nullish(),
		parserConfig: parserConfig.nullish(),
		integrationId: uuid.nullish(),
		extKnowledgebaseId: z.string().nullish(),
		copilotModel: copilotModel.nullish(),
		metadataSchema: metadataSchema.nullish(),
	})
	.passthrough();

/** The body of E1. Servers answer a missing name with "Name Exist", so the name is required here. */
export const knowledgebase = knowledgebaseChanges.extend({ name: z.string().min(1) });
