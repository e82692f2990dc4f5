import { z } from 'zod';

import { uuid } from './ids';
import { eachOf, finite, keyIn, nullishText, openObject } from './zodHelpers';

/** Who may see a knowledgebase. */
export const PERMISSIONS = { private: 'Private', organization: 'Organization', public: 'Public' };

/** Where the content of a knowledgebase is stored. */
export const KNOWLEDGEBASE_TYPES = { standard: 'Standard', external: 'External' };

/** How many chunks a search returns at most, and their minimum score. */
export const recallSettings = openObject({
	topK: z.number().int().nullish(),
	score: finite.nullish(),
});

/**
 * The settings of the API contract for cutting documents into chunks. Xpert AI servers ignore these settings. For a
 * document, `withTextSplitter` adds the settings that the servers use.
 */
export const parserConfig = openObject({
	chunkSize: z.number().int().nullish(),
	chunkOverlap: z.number().int().nullish(),
	delimiter: z.string().nullish(),
});

/** The embedding model of a knowledgebase. */
export const copilotModel = openObject({
	...eachOf(nullishText, 'copilotId', 'modelType', 'model'),
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
const metadataField = openObject({
	key: z.string(),
	type: keyIn(METADATA_TYPES),
	enumValues: z.array(z.unknown()).nullish(),
});

/** The body of an update. The server clears a field that is `null`, and keeps a field that is absent. */
export const knowledgebaseChanges = openObject({
	...eachOf(uuid.nullish(), 'workspaceId', 'integrationId'),
	...eachOf(nullishText, 'description', 'extKnowledgebaseId'),
	name: z.string().min(1).optional(),
	permission: keyIn(PERMISSIONS).nullish(),
	type: keyIn(KNOWLEDGEBASE_TYPES).nullish(),
	recall: recallSettings.nullish(),
	parserConfig: parserConfig.nullish(),
	copilotModel: copilotModel.nullish(),
	metadataSchema: z.array(metadataField).nullish(),
});

/** The body of a new knowledgebase. If the name is missing, the server sends the misleading error "Name Exist". */
export const newKnowledgebase = knowledgebaseChanges.extend({ name: z.string().min(1) });
