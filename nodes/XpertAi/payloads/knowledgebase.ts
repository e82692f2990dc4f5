import { z } from 'zod';

import { uuidSchema } from './ids';
import { enumOfKeys, finiteNumber, nullishText, openObject, sameSchemaForKeys } from './zodHelpers';

/** Who may see a knowledgebase. */
export const PERMISSIONS = { private: 'Private', organization: 'Organization', public: 'Public' };

/** Where the content of a knowledgebase is stored. */
export const KNOWLEDGEBASE_TYPES = { standard: 'Standard', external: 'External' };

/** How many chunks a search returns at most, and their minimum score. */
export const recallSettingsSchema = openObject({
	topK: z.number().int().nullish(),
	score: finiteNumber.nullish(),
});

/**
 * The settings of the API contract for cutting documents into chunks. Xpert AI servers ignore these settings. For a
 * document, `withTextSplitter` adds the settings that the servers use.
 */
export const parserConfigSchema = openObject({
	chunkSize: z.number().int().nullish(),
	chunkOverlap: z.number().int().nullish(),
	delimiter: z.string().nullish(),
});

/** The embedding model of a knowledgebase. */
export const copilotModelSchema = openObject({
	...sameSchemaForKeys(nullishText, 'copilotId', 'modelType', 'model'),
});

/** The types of metadata fields, with their display names. */
export const METADATA_TYPES = {
	string: 'Text',
	number: 'Number',
	boolean: 'Yes or No',
	datetime: 'Date and Time',
	enum: 'One of a Few Texts',
	'string[]': 'List of Texts',
	'number[]': 'List of Numbers',
	object: 'Object',
};

/** A field of the metadata schema. The node checks these properties. The server checks the rest. */
const metadataFieldSchema = openObject({
	key: z.string(),
	type: enumOfKeys(METADATA_TYPES),
	enumValues: z.array(z.unknown()).nullish(),
});

/** The body of an update. The server clears a field that is `null`, and keeps a field that is absent. */
export const knowledgebaseChangesSchema = openObject({
	...sameSchemaForKeys(uuidSchema.nullish(), 'workspaceId', 'integrationId'),
	...sameSchemaForKeys(nullishText, 'description', 'extKnowledgebaseId'),
	name: z.string().min(1).optional(),
	permission: enumOfKeys(PERMISSIONS).nullish(),
	type: enumOfKeys(KNOWLEDGEBASE_TYPES).nullish(),
	recall: recallSettingsSchema.nullish(),
	parserConfig: parserConfigSchema.nullish(),
	copilotModel: copilotModelSchema.nullish(),
	metadataSchema: z.array(metadataFieldSchema).nullish(),
});

/** The body of a new knowledgebase. If the name is missing, the server sends the misleading error "Name Exist". */
export const newKnowledgebaseSchema = knowledgebaseChangesSchema.extend({
	name: z.string().min(1),
});
