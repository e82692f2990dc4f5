import { memoize, pick } from 'lodash';
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

/** The Page schema of the API contract. */
export const page = openObject({
	...recordFields,
	...eachOf(nullableText, 'pageContent', 'status'),
	metadata: freeForm.nullish(),
});

/** The Chunk schema of the API contract. */
export const chunk = page.extend({ parent: z.unknown() });

/**
 * A document in a bulk request (E3). The resource mapper in the editor shows the fields in this order, after those in
 * `SHOWN_FIRST`.
 */
export const document = openObject({
	...recordFields,
	...eachOf(nullableText, 'name', 'type'),
	disabled: z.boolean().nullish(),
	storageFileId: uuid.nullish(),
	...eachOf(nullableText, 'filePath', 'fileUrl', 'folder', 'mimeType', 'thumbnail', 'parserId'),
	// `processDuation` is the spelling of the API contract.
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
 * Returns a document schema with only the named fields. A small schema checks thousands of documents faster.
 *
 * @param names field names, separated by spaces
 */
const documentWithFields = memoize((names: string) =>
	openObject(pick(document.shape, names.split(' '))),
);

/** Returns a document schema with only the fields that `value` has. */
export function documentWith(value: unknown): typeof document {
	const names = Object.keys(Object(value)).filter((name) => Object.hasOwn(document.shape, name));
	// Sorted, because each order of the fields would otherwise have a schema of its own.
	return documentWithFields(names.sort().join(' ')) as unknown as typeof document;
}

export type DocumentRecord = z.infer<typeof document>;

const AZURE = /^(s[eiprstv]|sig|spr|sip|srt|sdd|ses|sk[estv]|skoid|sktid|s[au]oid|scid)$/;

/**
 * Known schemes of signed URLs.
 *
 * - `needed`: the query parameters that identify the scheme
 * - `added`: matches the name of each query parameter that the scheme adds
 */
const SIGNATURES: Array<{ needed: string[]; added: RegExp }> = [
	{ needed: ['x-amz-signature', 'x-amz-date'], added: /^x-amz-/ },
	{ needed: ['x-goog-signature', 'x-goog-date'], added: /^x-goog-/ },
	{ needed: ['sv', 'sig'], added: AZURE },
	{ needed: ['policy', 'signature', 'key-pair-id'], added: /^(policy|signature|key-pair-id)$/ },
	...['key-pair-id', 'awsaccesskeyid', 'googleaccessid', 'ossaccesskeyid'].map((keyId) => ({
		needed: ['signature', 'expires', keyId],
		added: new RegExp(`^(signature|expires|x-amz-security-token|${keyId})$`),
	})),
];

/**
 * Removes a signature of a known scheme from a URL, because the signature changes over time. Returns any other URL
 * unchanged.
 */
export function unsignedAddress(address: string): string {
	const [, path = '', query = '', fragment = ''] = /^([^?#]*)\?([^#]*)(.*)$/s.exec(address) ?? [];
	const nameOf = (parameter: string) => parameter.replace(/=.*/s, '').toLowerCase();
	const parameters = query.split('&');
	const names = parameters.map(nameOf);
	const scheme = SIGNATURES.find(({ needed }) => needed.every((name) => names.includes(name)));
	if (!scheme) return address;
	const kept = parameters.filter((parameter) => !scheme.added.test(nameOf(parameter))).join('&');
	return `${path}${kept && `?${kept}`}${fragment}`;
}
