import { memoize, pick } from 'lodash';
import { z } from 'zod';

import { dateTimeSchema } from './dates';
import { uuidSchema } from './ids';
import { parserConfigSchema } from './knowledgebase';
import { freeForm, nullishNumber, nullishText, openObject, sameSchemaForKeys } from './zodHelpers';

/** Fields that Document, Page and Chunk share: ID, dates and users. */
const commonFieldsShape = {
	...sameSchemaForKeys(nullishText, 'id', 'createdById', 'updatedById'),
	...sameSchemaForKeys(dateTimeSchema.nullish(), 'createdAt', 'updatedAt'),
};

/** The Page schema of the API contract. */
export const documentPageSchema = openObject({
	...commonFieldsShape,
	...sameSchemaForKeys(nullishText, 'pageContent', 'status'),
	metadata: freeForm.nullish(),
});

/** The Chunk schema of the API contract. */
export const documentChunkSchema = documentPageSchema.extend({ parent: z.unknown() });

/**
 * A document in a bulk request. The resource mapper in the editor shows the fields in this order, after those in
 * `FIELDS_SHOWN_BY_DEFAULT`.
 */
export const documentSchema = openObject({
	...commonFieldsShape,
	...sameSchemaForKeys(nullishText, 'name', 'type'),
	disabled: z.boolean().nullish(),
	storageFileId: uuidSchema.nullish(),
	...sameSchemaForKeys(
		nullishText,
		'filePath',
		'fileUrl',
		'folder',
		'mimeType',
		'thumbnail',
		'parserId',
	),
	// `processDuation` is the spelling of the API contract.
	...sameSchemaForKeys(nullishNumber, 'size', 'tokenNum', 'chunkNum', 'progress', 'processDuation'),
	...sameSchemaForKeys(freeForm.nullish(), 'metadata', 'sourceConfig', 'options', 'draft'),
	parserConfig: parserConfigSchema.nullish(),
	parent: z.unknown(),
	...sameSchemaForKeys(nullishText, 'processMsg', 'jobId'),
	processBeginAt: dateTimeSchema.nullish(),
	pages: z.array(documentPageSchema).nullish(),
	chunks: z.array(documentChunkSchema).nullish(),
});

/**
 * Returns a document schema with only the named fields. A small schema checks thousands of documents faster.
 *
 * @param names field names, separated by spaces
 */
const schemaWithFields = memoize((names: string) =>
	openObject(pick(documentSchema.shape, names.split(' '))),
);

/** Returns a document schema with only the fields that `value` has. */
export function documentSchemaFor(value: unknown): typeof documentSchema {
	const names = Object.keys(Object(value)).filter((name) =>
		Object.hasOwn(documentSchema.shape, name),
	);
	// Sorted, because each order of the fields would otherwise have a schema of its own.
	return schemaWithFields(names.sort().join(' ')) as unknown as typeof documentSchema;
}

export type DocumentRecord = z.infer<typeof documentSchema>;
