import isEmpty from 'lodash/isEmpty';
import type { z } from 'zod';

import { document } from './document';
import type { DocumentRecord } from './document';
import { isPlain } from './plainly';

/** The name of a field that the contract gives a document. */
export type DocumentField = keyof typeof document.shape;

type Check = (value: unknown) => boolean;

const isText: Check = (value) => typeof value === 'string';
const isListOfParts: Check = (value) => Array.isArray(value) && value.every(isPart);

/** The fields that most documents are made of, and what the schema certainly takes for each. */
const PLAIN: Partial<Record<DocumentField, Check>> = {
	id: isText,
	name: isText,
	type: isText,
	filePath: isText,
	fileUrl: isText,
	folder: isText,
	mimeType: isText,
	size: (value) => Number.isFinite(value),
	disabled: (value) => typeof value === 'boolean',
	metadata: isPlain,
	pages: isListOfParts,
	chunks: isListOfParts,
};

/** Whether a page or chunk has nothing but a text and what is known of it. */
function isPart(part: unknown): boolean {
	if (!isPlain(part)) return false;
	const { pageContent, metadata, ...rest } = part;
	return isText(pageContent) && (metadata === undefined || isPlain(metadata)) && isEmpty(rest);
}

const FIELDS = new Map(Object.entries<z.ZodTypeAny>(document.shape));

/** Whether the contract gives a document a field of this name. */
export function isDocumentField(name: string): name is DocumentField {
	return FIELDS.has(name);
}

/**
 * Whether a value is a document, told by the fields it has and without copying it. Says the same as
 * the schema, since no field is required, but fast enough for hundreds of thousands of documents: the schema of a
 * field is asked only about what is not plainly right.
 */
export function isDocument(value: unknown): value is DocumentRecord {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
	return Object.entries(value).every(
		([name, inside]) =>
			!isDocumentField(name) ||
			PLAIN[name]?.(inside) ||
			FIELDS.get(name)?.safeParse(inside).success,
	);
}
