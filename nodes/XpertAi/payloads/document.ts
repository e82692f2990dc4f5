import { z } from 'zod';

import { dateTime, freeForm, openObject, recordFields, uuid } from './common';
import { parserConfig } from './knowledgebase';

/** A page of a document (contract, Page). */
export const page = openObject({
	...recordFields,
	pageContent: z.string().nullish(),
	metadata: freeForm.nullish(),
	status: z.string().nullish(),
});

/** A chunk of a document: a page that may have a parent (contract, Chunk). */
export const chunk = page.extend({ parent: z.unknown() });

/**
 * One element of the array that E3 takes (contract, Document record). No field is required. `processDuation` is the
 * contract's spelling.
 */
export const document = openObject({
	...recordFields,
	name: z.string().nullish(),
	type: z.string().nullish(),
	disabled: z.boolean().nullish(),
	storageFileId: uuid.nullish(),
	filePath: z.string().nullish(),
	fileUrl: z.string().nullish(),
	folder: z.string().nullish(),
	mimeType: z.string().nullish(),
	size: z.number().nullish(),
	thumbnail: z.string().nullish(),
	metadata: freeForm.nullish(),
	parserId: z.string().nullish(),
	parserConfig: parserConfig.nullish(),
	sourceConfig: freeForm.nullish(),
	options: freeForm.nullish(),
	draft: freeForm.nullish(),
	parent: z.unknown(),
	tokenNum: z.number().nullish(),
	chunkNum: z.number().nullish(),
	progress: z.number().nullish(),
	processMsg: z.string().nullish(),
	processBeginAt: dateTime.nullish(),
	processDuation: z.number().nullish(),
	jobId: z.string().nullish(),
	pages: z.array(page).nullish(),
	chunks: z.array(chunk).nullish(),
});

/**
 * The JSON body of E3: an array, or a single document.
 *
 * @param prepare applied to each document before it is checked
 */
export function documentList(prepare: (document: unknown) => unknown = (one) => one) {
	return z.preprocess((value) => {
		if (Array.isArray(value)) return value.map(prepare);
		return typeof value === 'object' && value !== null ? [prepare(value)] : value;
	}, z.array(document));
}

export type DocumentRecord = z.infer<typeof document>;

/** The name of a document field in the contract. */
export type DocumentField = keyof typeof document.shape;

/** Whether the contract has a document field of this name. */
export function isDocumentField(name: string): name is DocumentField {
	return Object.hasOwn(document.shape, name);
}
