import { memoize, pick } from 'lodash';
import { z } from 'zod';

import { dateTime } from './dates';
import { uuid } from './ids';
import { parserConfig } from './knowledgebase';
import { eachOf, freeForm, nullishNumber, nullishText, openObject } from './zodHelpers';

/** Fields that Document, Page and Chunk share: ID, dates and users. */
const recordFields = {
	...eachOf(nullishText, 'id', 'createdById', 'updatedById'),
	...eachOf(dateTime.nullish(), 'createdAt', 'updatedAt'),
};

/** The Page schema of the API contract. */
export const documentPageSchema = openObject({
	...recordFields,
	...eachOf(nullishText, 'pageContent', 'status'),
	metadata: freeForm.nullish(),
});

/** The Chunk schema of the API contract. */
export const documentChunkSchema = documentPageSchema.extend({ parent: z.unknown() });

/**
 * A document in a bulk request. The resource mapper in the editor shows the fields in this order, after those in
 * `SHOWN_FIRST`.
 */
export const documentSchema = openObject({
	...recordFields,
	...eachOf(nullishText, 'name', 'type'),
	disabled: z.boolean().nullish(),
	storageFileId: uuid.nullish(),
	...eachOf(nullishText, 'filePath', 'fileUrl', 'folder', 'mimeType', 'thumbnail', 'parserId'),
	// `processDuation` is the spelling of the API contract.
	...eachOf(nullishNumber, 'size', 'tokenNum', 'chunkNum', 'progress', 'processDuation'),
	...eachOf(freeForm.nullish(), 'metadata', 'sourceConfig', 'options', 'draft'),
	parserConfig: parserConfig.nullish(),
	parent: z.unknown(),
	...eachOf(nullishText, 'processMsg', 'jobId'),
	processBeginAt: dateTime.nullish(),
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
