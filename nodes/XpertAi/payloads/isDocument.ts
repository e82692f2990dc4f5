import type { z } from 'zod';

import { document } from './document';
import type { DocumentRecord } from './document';
import { plainCheck } from './plainly';

/** How each field of a document is checked. */
const FIELDS = new Map(
	Object.entries<z.ZodTypeAny>(document.shape).map(([name, schema]) => [
		name,
		{ schema, isPlain: plainCheck(schema) },
	]),
);

/** The name of a field that the contract gives a document. */
export type DocumentField = keyof typeof document.shape;

export function isDocumentField(name: string): name is DocumentField {
	return FIELDS.has(name);
}

/**
 * Whether a value is a document, told by the fields it has and without copying it. Says the same as
 * the schema, since no field is required, but fast enough for hundreds of thousands of documents.
 */
export function isDocument(value: unknown): value is DocumentRecord {
	if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
	for (const [name, inside] of Object.entries(value)) {
		const field = FIELDS.get(name);
		if (field && !field.isPlain(inside) && !field.schema.safeParse(inside).success) return false;
	}
	return true;
}
