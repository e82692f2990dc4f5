import { z } from 'zod';

import {
	dateTime,
	eachOf,
	freeForm,
	nullableNumber,
	nullableText,
	openObject,
	recordFields,
	uuid,
} from './common';
import { parserConfig } from './knowledgebase';

/** A page of a document (contract, Page). */
export const page = openObject({
	...recordFields,
	...eachOf(nullableText, 'pageContent', 'status'),
	metadata: freeForm.nullish(),
});

/** A chunk of a document: a page that may have a parent (contract, Chunk). */
export const chunk = page.extend({ parent: z.unknown() });

/**
 * One element of the array that E3 takes (contract, Document record). No field is required. `processDuation` is the
 * contract's spelling. The mapper of the editor lists the fields in this order.
 */
export const document = openObject({
	...recordFields,
	...eachOf(nullableText, 'name', 'type'),
	disabled: z.boolean().nullish(),
	storageFileId: uuid.nullish(),
	...eachOf(nullableText, 'filePath', 'fileUrl', 'folder', 'mimeType', 'thumbnail', 'parserId'),
	...eachOf(nullableNumber, 'size', 'tokenNum', 'chunkNum', 'progress', 'processDuation'),
	...eachOf(freeForm.nullish(), 'metadata', 'sourceConfig', 'options', 'draft'),
	parserConfig: parserConfig.nullish(),
	parent: z.unknown(),
	...eachOf(nullableText, 'processMsg', 'jobId'),
	processBeginAt: dateTime.nullish(),
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
export const isDocumentField = (name: string): name is DocumentField =>
	Object.hasOwn(document.shape, name);
