import { z } from 'zod';

import { finite, uuid } from './common';

/** Who may see a knowledgebase (contract, Knowledgebase). */
export const PERMISSIONS = ['private', 'organization', 'public'] as const;

/** Where the content of a knowledgebase lives (contract, Knowledgebase). */
export const KNOWLEDGEBASE_TYPES = ['standard', 'external'] as const;

/** How many chunks a search returns, and from which score on (contract, recall). */
export const recall = z
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

/**
 * The body of E2: what is left out is kept by the server, `null` clears a field.
 * Fields the contract does not know pass through, so that newer servers can be used.
 */
export const knowledgebaseChanges = z
	.object({
		workspaceId: uuid.nullish(),
		name: z.string().min(1).optional(),
		description: z.string().nullish(),
		permission: z.enum(PERMISSIONS).nullish(),
		type: z.enum(KNOWLEDGEBASE_TYPES).nullish(),
		recall: recall.nullish(),
		parserConfig: parserConfig.nullish(),
		integrationId: uuid.nullish(),
		extKnowledgebaseId: z.string().nullish(),
		copilotModel: copilotModel.nullish(),
	})
	.passthrough();

/** The body of E1. Real servers answer a missing name with "Name Exist", so it is asked for here. */
export const knowledgebase = knowledgebaseChanges.extend({ name: z.string().min(1) });
